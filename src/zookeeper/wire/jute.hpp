// SPDX-License-Identifier: Apache-2.0
// Jute, in which ZooKeeper writes: big-endian numbers, and texts and lists that begin with how long
// they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Appends to a text.
class jute_writer {
public:
    explicit jute_writer(std::string& out)
        : out_{out} {}

    jute_writer& number(std::int32_t);
    jute_writer& long_number(std::int64_t);
    jute_writer& text(std::string_view); ///< and whatever else is bytes
    jute_writer& flag(bool);

private:
    std::string& out_;
};

/// Never reads beyond the end of what it was given, nor reserves memory for what is not there: then
/// it throws `net::failure` (protocol).
class jute_reader {
public:
    explicit jute_reader(std::string_view bytes)
        : rest_{bytes} {}

    std::int32_t number();
    std::int64_t long_number();
    bool flag();
    std::string_view text(); ///< of the bytes it was given; what is null is empty
    std::vector<std::string> texts();

    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

private:
    std::string_view take(std::size_t bytes);
    std::size_t length(std::size_t least_bytes_each);

    std::string_view rest_;
};

} // namespace holdfast::zookeeper
