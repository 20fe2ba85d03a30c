// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node_fake_server.hpp"
#include "redis/make_node.hpp"
#include "support/recorder.hpp"
#include "support/sim_clock.hpp"
#include "support/thrown.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {

inline constexpr redis::script script{"any", "0123456789012345678901234567890123456789",
                                      "return 1"};

/// A node on a server that says what the test says, in simulated time: what is on its way arrives
/// at once, and the clock stands still until the test lets it go on.
class on_fake_server : public ::testing::Test {
protected:
    /// One call of a script, and what came of it.
    struct asking {
        std::string key;
        redis::call_options options{};
        bool done = false;
        redis::reply answer{};
        error_code code{};
        std::string text{};
        asio::cancellation_signal cancel{};
    };
    using asked = std::shared_ptr<asking>;

    on_fake_server() {
        how_.unix_socket = server_.path();
        server_.says["EVALSHA"] = ":1\r\n";
    }

    ~on_fake_server() override {
        close();
        server_.stop();
        settle();
        EXPECT_EQ(clock_.sleepers(), 0u) << "somebody sleeps on";
        EXPECT_TRUE(io_.stopped()) << "something is still to be done";
    }

    redis::node& node() {
        if (!node_)
            node_ = redis::make_node(how_, context());
        return *node_;
    }

    void close() {
        if (node_)
            node_->close();
        node_.reset();
    }

    asked begin(std::string key = "k", redis::call_options options = {}) {
        return begin_on(io_.get_executor(), std::move(key), options);
    }
    asked begin_on(const asio::any_io_executor& where, std::string key,
                   redis::call_options options) {
        const auto made = std::make_shared<asking>();
        made->key = std::move(key);
        made->options = options;
        auto ended = [made](const std::exception_ptr& failed) { end(*made, failed); };
        asio::co_spawn(where, run(node(), made),
                       asio::bind_cancellation_slot(made->cancel.slot(), ended));
        return made;
    }

    /// The same, as far as it gets without time going on.
    asked ask(std::string key = "k", redis::call_options options = {}) {
        asked made = begin(std::move(key), options);
        settle();
        return made;
    }

    virtual void settle() { clock_.run_until(clock_.now()); }
    virtual void pass(duration length) { clock_.run_for(length); }

    store_context context() {
        auto tell = [this](const event& what) { told_.notify(what); };
        store_context made{
            io_.get_executor(), clock_, [this] { return random_(); }, {}, "test", poll_bound_, tell,
            lease_time_};
        made.revalidate = [this](const std::function<bool(const lock_name&)>& which, bool urgent) {
            EXPECT_EQ(!which, !how_.cluster) << "of all holds, unless they are at several servers";
            doubts_.push_back(urgent);
            doubted_.push_back(which);
        };
        made.holds_any = [this] { return holds_; };
        return made;
    }

    asio::io_context io_;
    sim::sim_clock clock_{io_};
    fake_server server_{io_};
    redis::options how_;
    duration lease_time_ = std::chrono::seconds{30};
    duration poll_bound_{};
    bool holds_ = false;       ///< the client, anything
    std::vector<bool> doubts_; ///< cast on holds: each with whether it was urgent
    std::vector<std::function<bool(const lock_name&)>> doubted_; ///< on which
    support::recorder told_;
    std::unique_ptr<redis::node> node_;
    std::mt19937_64 random_{1};

private:
    static asio::awaitable<void> run(redis::node& on, asked mine) {
        const std::string_view keys[] = {mine->key};
        mine->answer = co_await on.call(script, keys, {}, mine->options);
    }

    static void end(asking& mine, const std::exception_ptr& failed) {
        mine.done = true;
        const support::thrown why = support::thrown_of(failed);
        mine.code = why.code;
        mine.text = why.text;
    }
};

} // namespace holdfast
