// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node_fixture.hpp"
#include "redis/client/blocking_connections.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::redis {

/// A blocking connection whose server is the other end of a socket pair.
class on_lane : public on_fake_server {
protected:
    on_lane() {
        entrance_.welcome(1);
        open(std::chrono::seconds{10});
    }
    ~on_lane() override { close(); }

    void open(duration command_timeout) {
        close();
        how_.command_timeout = command_timeout;
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        server_end_ = ends[1];
        known_ = std::make_shared<node_context>(how_, context());
        line_.emplace(*known_, connection::parts{{ends[0], nullptr, known_->where}, server_clock_},
                      wait_);
    }
    void close() {
        if (line_)
            ::close(server_end_);
        line_.reset();
    }

    void say(std::string_view text) {
        EXPECT_EQ(::send(server_end_, text.data(), text.size(), 0), text.size());
    }
    std::string heard() {
        char bytes[4096];
        const ssize_t size = ::recv(server_end_, bytes, sizeof bytes, 0);
        return {bytes, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
    }
    reply ask() {
        const std::string_view keys[] = {"k"};
        runtime::inline_call here{entrance_};
        request one{holdfast::script, keys, {}};
        return line_->ask(here, one);
    }

    /// Answers what is asked with this, once that has come.
    std::thread answering(std::string request, std::string answer) {
        return std::thread{[this, request = std::move(request), answer = std::move(answer)] {
            pollfd one{.fd = server_end_, .events = POLLIN, .revents = 0};
            std::string all;
            while (all.find(request) == std::string::npos && ::poll(&one, 1, 10'000) > 0)
                all += heard();
            say(answer);
        }};
    }

    /// A request that was sent, and whose answer nobody has read yet.
    struct owed {
        explicit owed(on_lane& by) {
            request::waiter{[this] { resumed = true; }}.swap(asked.resume);
            runtime::inline_call here{by.entrance_};
            by.line_->send_off(here, asked);
        }
        const std::string_view keys[1] = {"k"};
        request asked{holdfast::script, keys, {}};
        bool resumed = false;
    };

    error_code failure_of_asking() {
        try {
            (void)ask();
        } catch (const boost::system::system_error& why) {
            return why.code();
        }
        return {};
    }

    std::string words_of_failure(time_point answer_by) {
        const std::string_view keys[] = {"k"};
        runtime::inline_call here{entrance_};
        request one{holdfast::script, keys, {}, {.answer_by = answer_by}};
        try {
            (void)line_->ask(here, one);
        } catch (const boost::system::system_error& why) {
            return why.what();
        }
        return "none";
    }

    runtime::monitor entrance_{io_};
    runtime::answer_wait wait_{std::chrono::microseconds{0}};
    std::shared_ptr<node_context> known_;
    std::optional<blocking_connection> line_;
    const std::shared_ptr<runtime::remote_clock> server_clock_ =
        std::make_shared<runtime::remote_clock>();
    int server_end_ = -1;
};

} // namespace holdfast::redis
