// SPDX-License-Identifier: Apache-2.0
// Processes that end or stand still without a word. Whoever waits gets the lock when the lease of
// the dead is over, and not before.
#include "process/with_server.hpp"

#include <boost/asio/use_future.hpp>

#include <mutex>
#include <stop_token>

namespace holdfast::process {
namespace {

/// Says so when it loses it.
const named_story holds{"holds", [](const auto& arguments) {
                            client home{of_story(arguments)};
                            mutex stock{home, "stock"};
                            const lease held = soon(stock.async_lock(asio::use_future));
                            const std::stop_callback on_loss{held.lost(), [] { say("lost"); }};
                            say("held");
                            std::string line;
                            std::getline(std::cin, line);
                            return 0;
                        }};

const named_story holds_in_a_thread{"holds in a thread", [](const auto& arguments) {
                                        client home{of_story(arguments)};
                                        mutex stock{home, "stock"};
                                        stock.lock();
                                        say("held");
                                        std::string line;
                                        std::getline(std::cin, line);
                                        stock.unlock();
                                        return 0;
                                    }};

template <typename Lock>
int wait_for_stock(const std::vector<std::string>& arguments) {
    client home{of_story(arguments)};
    Lock stock{home, "stock"};
    stock.lock();
    say("got it");
    std::string line;
    std::getline(std::cin, line);
    stock.unlock();
    return 0;
}

const named_story waits{"waits", wait_for_stock<mutex>};
const named_story waits_in_line{"waits in line", wait_for_stock<fair_mutex>};

const named_story locks_over_and_over{"locks over and over", [](const auto& arguments) {
                                          client home{of_story(arguments)};
                                          mutex stock{home, "stock"};
                                          for (bool first = true;; first = false) {
                                              const std::scoped_lock held{stock};
                                              if (first)
                                                  say("going");
                                          }
                                          return 0;
                                      }};

class Killed : public with_server {
protected:
    child start(const char* story, duration lease = options{}.lease_time) {
        return child{story, {.arguments = {url(), std::to_string(lease.count())}}};
    }
    /// One that comes late is sent again, by each connection once (remote::attempts::lates_max).
    static constexpr std::int64_t scripts_of_a_look = 3;

    std::int64_t in_line() {
        return server().command({"LLEN", "redisson_lock_queue:{stock}"}).integer;
    }
    bool is_waited_for_soon() {
        return eventually([&] { return is_waited_for("stock"); });
    }
};

TEST_F(Killed, AHoldersLockIsFreeWhenItsLeaseIsOver) {
    for (const char* const story : {"holds", "holds in a thread"}) {
        child holder = start(story);
        ASSERT_EQ(holder.next_line(), "held");
        kill(holder);
        client home{quick(url())};
        mutex stock{home, "stock"};
        EXPECT_FALSE(stock.try_lock());
        server().step_clock(options{}.lease_time - 5s);
        EXPECT_FALSE(stock.try_lock());
        server().step_clock(6s);
        EXPECT_TRUE(stock.try_lock());
        stock.unlock();
    }
}

TEST_F(Killed, AHoldersLockGoesToAWaiterInAnotherProcess) {
    child holder = start("holds");
    ASSERT_EQ(holder.next_line(), "held");
    child waiter = start("waits");
    ASSERT_TRUE(is_waited_for_soon());
    kill(holder);
    outlive_leases();
    EXPECT_EQ(waiter.next_line(), "got it");
    end(waiter);
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(Killed, AHoldersLockGoesToOneWaiterAfterTheOther) {
    child holder = start("holds");
    ASSERT_EQ(holder.next_line(), "held");
    child first = start("waits"), second = start("waits");
    ASSERT_TRUE(is_waited_for_soon());
    kill(holder);
    outlive_leases();
    EXPECT_TRUE(eventually([&] { return first.has_said() || second.has_said(); }));
    child& winner = first.has_said() ? first : second;
    child& other = first.has_said() ? second : first;
    EXPECT_FALSE(other.has_said());
    // A server whose clock is stepped twice while one question is answered is an error.
    EXPECT_TRUE(eventually(
        [&, before = scripts_asked()] { return scripts_asked() > before + scripts_of_a_look; }));
    kill(winner);
    outlive_leases();
    EXPECT_EQ(other.next_line(), "got it");
    end(other);
}

TEST_F(Killed, AWaiterIsNotWaitedFor) {
    client home{quick(url())};
    mutex stock{home, "stock"};
    stock.lock();
    child waiter = start("waits");
    ASSERT_TRUE(is_waited_for_soon());
    kill(waiter);
    EXPECT_TRUE(eventually([&] { return !is_waited_for("stock") && connections().size() == 1; }));
    stock.unlock();
    EXPECT_TRUE(stock.try_lock());
    stock.unlock();
}

TEST_F(Killed, AWaiterInLineIsWaitedForUntilItsPlaceIsOver) {
    client home{quick(url())};
    fair_mutex stock{home, "stock"};
    stock.lock(lease_time{1h});
    child first = start("waits in line");
    ASSERT_TRUE(eventually([&] { return in_line() == 1; }));
    child second = start("waits in line");
    ASSERT_TRUE(eventually([&] { return in_line() == 2; }));
    kill(first);
    stock.unlock();
    EXPECT_FALSE(stock.try_lock()) << "it is the dead one's turn";
    EXPECT_FALSE(second.has_said());
    const duration usual_patience = 30s; // of a waiter, with a client that has its defaults
    server().step_clock(usual_patience + 1s);
    EXPECT_EQ(second.next_line(), "got it");
    end(second);
    EXPECT_TRUE(stock.try_lock());
    stock.unlock();
    EXPECT_EQ(in_line(), 0);
}

TEST_F(Killed, AnywhereItLeavesNothingThatOutlivesItsLease) {
    client home{quick(url())};
    mutex stock{home, "stock"};
    for (int i = 0; i < 15; ++i) {
        const std::set<std::string> others = connections();
        child busy = start("locks over and over");
        ASSERT_EQ(busy.next_line(), "going");
        kill(busy);
        // What it had sent is carried out by then: no clock is stepped in the middle of a script.
        ASSERT_TRUE(eventually([&] { return connections() == others; }));
        outlive_leases();
        EXPECT_TRUE(stock.try_lock()) << "round " << i;
        stock.unlock();
    }
}

TEST_F(Killed, OrStoppedAHolderThatGoesOnKnowsThatItLost) {
    child holder = start("holds", 600ms);
    ASSERT_EQ(holder.next_line(), "held");
    holder.signal(SIGSTOP);
    client home{quick(url())};
    mutex stock{home, "stock"};
    ASSERT_TRUE(stock.try_lock_for(support::far_too_long));
    holder.signal(SIGCONT);
    EXPECT_EQ(holder.next_line(), "lost");
    end(holder);
    EXPECT_TRUE(stock.is_locked()) << "it released what is another's";
    stock.unlock();
}

} // namespace
} // namespace holdfast::process
