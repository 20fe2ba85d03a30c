// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "support/driven_loop.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>

#include <gmock/gmock.h>

namespace holdfast {

inline constexpr redis::script echo{"echo", "098e0f0d1448c0a81dafe820f66d460eb09263da",
                                    "return ARGV[1]"};

/// A node with a real clock, run on the test's own thread.
class driven_node : protected support::driven_loop {
protected:
    void forget_node() {
        if (node_)
            node_->close();
        node_.reset();
    }

    redis::node& node() {
        if (!node_)
            node_ = redis::make_node(how_, context());
        return *node_;
    }

    struct outcome {
        redis::reply answer;
        error_code code;
        std::string text;
    };
    outcome call(const redis::script& what, std::vector<std::string_view> keys,
                 std::vector<redis::argument> arguments, const redis::call_options& options = {}) {
        redis::reply answer;
        auto run = [&]() -> asio::awaitable<void> {
            answer = co_await node().call(what, keys, arguments, options);
        };
        bool done = false;
        support::thrown why;
        asio::co_spawn(io_, run(), [&](const std::exception_ptr& failed) {
            done = true;
            why = support::thrown_of(failed);
        });
        EXPECT_TRUE(run_until([&] { return done; }));
        return {std::move(answer), why.code, why.text};
    }

    redis::options how_;
    std::unique_ptr<redis::node> node_;
};

/// On a real server.
class node_on_server : public support::on_each_server, protected driven_node {
protected:
    using driven_node::how_; // and not how the server is started

    explicit node_on_server(support::redis_server::options how = {})
        : on_each_server{std::move(how)} {}

    void SetUp() override {
        on_each_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        how_.unix_socket = server().socket_path();
        how_.backoff_max = duration{200};
    }
    void TearDown() override {
        forget_node();
        run_to_the_end();
    }

    outcome call_echo() { return call(echo, {}, {std::string_view{"x"}}); }
    bool answers() { return call_echo().answer.text == "x"; }

    std::string clients() { return server().command({"CLIENT", "LIST"}).text; }
};

} // namespace holdfast
