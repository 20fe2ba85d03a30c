// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/byte_stream.hpp"
#include "zookeeper/wire/frame_reader.hpp"

#include <holdfast/store.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

/// One connection, whose bytes it cuts into frames.
class connection final : public net::byte_stream {
public:
    connection(const store_context&, const options&);

    /// What receive() took.
    std::optional<std::string_view> next();

    /// The next frame, however long it takes: for the talk before there is a session.
    asio::awaitable<std::string> frame();

    /// All that comes until the server hangs up, which has no frames: for a talk of one word.
    asio::awaitable<std::string> words();

private:
    void take(std::string_view received) override;
    std::string end_in_words(error_code) const override;

    frame_reader reader_;
    std::optional<std::string> words_; // are read, and no frames
};

} // namespace holdfast::zookeeper
