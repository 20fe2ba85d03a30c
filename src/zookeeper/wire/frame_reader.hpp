// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

/// Cuts what arrives into frames: each begins with its length. One that claims to be longer than is
/// allowed throws `net::failure` (protocol), before there is any memory for it.
class frame_reader {
public:
    explicit frame_reader(std::size_t frame_bytes_max)
        : bytes_max_{frame_bytes_max} {}

    void feed(std::string_view bytes);

    /// The next whole frame, without its length. Valid until something is fed.
    std::optional<std::string_view> next();

private:
    const std::size_t bytes_max_;
    std::string buffer_;
    std::size_t taken_ = 0; // of buffer_
};

/// The same for what is sent: begin_frame(), whatever it contains, end_frame() with what the first
/// one returned.
std::size_t begin_frame(std::string& out);
void end_frame(std::string& out, std::size_t begun_at);

} // namespace holdfast::zookeeper
