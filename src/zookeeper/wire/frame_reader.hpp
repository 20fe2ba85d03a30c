// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

/// Splitter of received bytes into frames. Each frame begins with its length. If a frame is too
/// long, it throws `net::failure` (protocol) before it reserves memory for the frame.
class frame_reader {
public:
    explicit frame_reader(std::size_t frame_bytes_max)
        : bytes_max_{frame_bytes_max} {}

    void feed(std::string_view bytes);

    /// Returns the next complete frame, without its length. The frame is valid until the next
    /// feed().
    std::optional<std::string_view> next();

private:
    const std::size_t bytes_max_;
    std::string buffer_;
    std::size_t taken_ = 0; // number of bytes of buffer_ that were already returned
};

/// Write a frame. Call begin_frame(), append the content, then call end_frame() with the result of
/// begin_frame().
std::size_t begin_frame(std::string& out);
void end_frame(std::string& out, std::size_t begun_at);

} // namespace holdfast::zookeeper
