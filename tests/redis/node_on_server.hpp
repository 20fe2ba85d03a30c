// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/make_node.hpp"
#include "runtime/real_clock.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/thrown.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <gmock/gmock.h>

namespace holdfast {

inline constexpr redis::script echo{"echo", "098e0f0d1448c0a81dafe820f66d460eb09263da",
                                    "return ARGV[1]"};

/// A node with a real clock, run on the test's own thread.
class driven_node {
protected:
    void forget_node() {
        if (node_)
            node_->close();
        node_.reset();
    }
    void run_to_the_end() {
        io_.restart();
        io_.run_for(support::far_too_long);
        EXPECT_TRUE(io_.stopped()) << "something is still to be done";
    }

    redis::node& node() {
        if (!node_)
            node_ = redis::make_node(how_, {io_.get_executor(),
                                            clock_,
                                            [this] { return ++random_; },
                                            {},
                                            "a label",
                                            duration{5'000},
                                            [this](const event& what) { told_.notify(what); }});
        return *node_;
    }

    struct outcome {
        redis::reply answer;
        error_code code;
        std::string text;
    };
    outcome call(const redis::script& what, std::vector<std::string_view> keys,
                 std::vector<redis::argument> arguments, const redis::call_wishes& wishes = {}) {
        redis::reply answer;
        auto run = [&]() -> asio::awaitable<void> {
            answer = co_await node().call(what, keys, arguments, wishes);
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

    /// Runs what there is until `holds`.
    template <typename Predicate>
    bool run_until(Predicate holds) {
        const auto end = std::chrono::steady_clock::now() + support::far_too_long;
        while (!holds() && std::chrono::steady_clock::now() < end) {
            io_.restart();
            io_.run_one_for(std::chrono::milliseconds{50});
        }
        return holds();
    }

    asio::io_context io_;
    runtime::real_clock clock_{io_.get_executor()};
    redis::options how_;
    support::recorder told_;
    std::unique_ptr<redis::node> node_;
    std::uint64_t random_ = 0;
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
