// SPDX-License-Identifier: Apache-2.0
// Calls on several servers that accept connections, but do not reply, as after SIGSTOP.
#include "node_fixture.hpp"
#include "support/redis_server.hpp"

#include <holdfast/client.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/quorum_mutex.hpp>
#include <holdfast/redis/options.hpp>

#include <deque>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::said;

/// Three servers whose connections never become ready. The time is simulated.
class SilentServers : public on_fake_server {
protected:
    SilentServers() {
        for (int i = 0; i < 3; ++i) {
            servers_.emplace_back(io_).says.erase("ROLE"); // the last request of the set-up
            redis::options where;
            where.unix_socket = servers_.back().path();
            options how;
            how.store = redis::make_store(where);
            how.close_timeout = 1h;
            clients_.emplace_back(io_.get_executor(), clock_, std::move(how));
        }
    }
    ~SilentServers() override {
        close_clients();
        for (fake_server& each : servers_)
            each.stop();
    }

    /// Closes all clients. Returns whether all have closed at once.
    bool close_clients() {
        std::deque<said<>> closed(clients_.size());
        for (std::size_t i = 0; i < clients_.size(); ++i)
            clients_[i].async_close(closed[i].handler());
        settle();
        return std::all_of(closed.begin(), closed.end(),
                           [](const said<>& each) { return each.done(); });
    }

    /// Expects that a call with a timeout of 3 s ends then with `unreachable`, and leaves no
    /// request behind for which close() waits. The attempt to connect fails after 2 s, and the next
    /// one lasts longer than the call.
    void expect_end_in_time(basic_mutex& lock) {
        said<std::optional<lease>> tried;
        lock.async_try_lock_for(3s, tried.handler());
        pass(2'999ms);
        EXPECT_FALSE(tried.done());
        pass(1ms);
        EXPECT_TRUE(tried.failed(errc::unreachable)) << tried.code().message();
        EXPECT_TRUE(close_clients());
    }

    std::deque<fake_server> servers_;
    std::deque<client> clients_;
};

TEST_F(SilentServers, TimedCallOfAQuorumEndsAtItsDeadline) {
    quorum_mutex stock{{clients_[0], clients_[1], clients_[2]}, "stock"};
    expect_end_in_time(stock);
}

TEST_F(SilentServers, TimedCallForLocksOfOneServerEndsAtItsDeadline) {
    mutex a{clients_[0], "a"}, b{clients_[0], "b"};
    multi_mutex both{a, b};
    expect_end_in_time(both);
}

TEST_F(SilentServers, TimedCallForLocksOfSeveralServersEndsAtItsDeadline) {
    mutex a{clients_[0], "a"}, b{clients_[1], "b"};
    multi_mutex both{a, b};
    expect_end_in_time(both);
}

TEST_F(SilentServers, TimedCallForOneLockEndsAtItsDeadline) {
    mutex a{clients_[0], "a"};
    expect_end_in_time(a);
}

TEST(StoppedNode, QuestionsToAQuorumEndWithoutItsReply) {
    std::deque<support::redis_server> servers(3);
    std::deque<client> clients;
    for (support::redis_server& each : servers)
        clients.emplace_back(options{
            .url = each.url() + "?connect_timeout=1h&command_timeout=1h&close_timeout=0ms"});
    quorum_mutex stock{{clients[0], clients[1], clients[2]},
                       "stock",
                       {.node_timeout = 5s, .nodes_remember = true}};
    EXPECT_FALSE(stock.is_locked());
    servers[1].pause();
    EXPECT_FALSE(stock.is_locked());
    ASSERT_TRUE(stock.try_lock_for(1min));
    EXPECT_TRUE(stock.is_locked());
    EXPECT_TRUE(stock.force_unlock());
    EXPECT_FALSE(stock.is_locked());
    servers[1].resume();
}

} // namespace
} // namespace holdfast
