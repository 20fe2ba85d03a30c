// SPDX-License-Identifier: Apache-2.0
// Jute, the encoding of ZooKeeper: big-endian numbers, and texts and lists with their length in
// front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

/// Writer that appends to a string.
class jute_writer {
public:
    explicit jute_writer(std::string& out)
        : out_{out} {}

    jute_writer& number(std::int32_t);
    jute_writer& long_number(std::int64_t);
    jute_writer& text(std::string_view); ///< also for bytes that are not text
    jute_writer& flag(bool);

private:
    std::string& out_;
};

/// Reader of encoded bytes. It never reads beyond the end, and it never reserves memory for more
/// elements than the bytes can contain. In both cases it throws `net::failure` (protocol) instead.
class jute_reader {
public:
    explicit jute_reader(std::string_view bytes)
        : rest_{bytes} {}

    std::int32_t number();
    std::int64_t long_number();
    bool flag();
    std::string_view text(); ///< view of the bytes given to the constructor; empty for null
    std::vector<std::string> texts();

    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

private:
    std::string_view take(std::size_t bytes);
    std::size_t length(std::size_t least_bytes_each);

    std::string_view rest_;
};

} // namespace holdfast::zookeeper
