// SPDX-License-Identifier: Apache-2.0
// Processes that die or are stopped without notice. A waiter gets the lock when the lease of the
// dead holder has ended, and not earlier.
#include "process/with_server.hpp"

#include <boost/asio/use_future.hpp>

#include <iostream>
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
        server().step_clock(options{}.lease_time - 15s);
        EXPECT_FALSE(stock.try_lock());
        server().step_clock(16s);
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
    const duration usual_timeout = 30s; // of a waiter, with a client that has its defaults
    server().step_clock(usual_timeout + 1s);
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

// Processes that end or stand still without a word, and what they have of what is counted: their
// permits come back when their leases are over, once; what they drew counts for its time.

/// So many of the seats; says so, and when it loses one.
const named_story holds_seats{
    "holds seats", [](const auto& arguments) {
        client home{of_story({arguments.at(0), arguments.at(1)})};
        leased_semaphore seats{home, "seats"};
        const int wanted = std::stoi(arguments.at(2));
        lease mine = seats.acquire(static_cast<std::uint32_t>(wanted));
        const std::stop_callback on_loss{mine.lost(), [] { say("lost"); }};
        say("held");
        std::string line;
        std::getline(std::cin, line);
        error_code ignored;
        mine.unlock(ignored);
        return 0;
    }};

const named_story draws_and_waits{"draws and waits", [](const auto& arguments) {
                                      client home{of_story(arguments)};
                                      rate_limiter mails{home, "mails"};
                                      mails.acquire(2);
                                      say("drawn");
                                      mails.acquire(2);
                                      return 0;
                                  }};

class KilledCounting : public with_server {
protected:
    void SetUp() override {
        with_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(quick(url()));
        seats_.emplace(*home_, "seats");
    }

    child take_seats(int permits, duration lease = options{}.lease_time) {
        return child{
            "holds seats",
            {.arguments = {url(), std::to_string(lease.count()), std::to_string(permits)}}};
    }
    bool somebody_waits() {
        return eventually([&] {
            return server()
                       .command({"PUBSUB", "NUMSUB", "redisson_sc:{seats}"})
                       .items.at(1)
                       .integer > 0;
        });
    }

    std::optional<client> home_;
    std::optional<leased_semaphore> seats_;
};

TEST_F(KilledCounting, AHoldersPermitsAreFreeOnceWhenItsLeaseIsOver) {
    seats_->set_permits(3);
    child holder = take_seats(2);
    ASSERT_EQ(holder.next_line(), "held");
    kill(holder);
    EXPECT_EQ(seats_->available_permits(), 1);
    EXPECT_FALSE(seats_->try_acquire(2));
    server().step_clock(options{}.lease_time - 15s);
    EXPECT_FALSE(seats_->try_acquire(2));
    server().step_clock(16s);
    const std::optional<lease> all = seats_->try_acquire(3);
    EXPECT_TRUE(all);
    EXPECT_EQ(seats_->available_permits(), 0) << "none came back twice";
    EXPECT_EQ(seats_->acquired_permits(), 3);
}

TEST_F(KilledCounting, AHoldersPermitsGoToAWaiterInAnotherProcess) {
    seats_->set_permits(2);
    child holder = take_seats(2);
    ASSERT_EQ(holder.next_line(), "held");
    child waiter = take_seats(1);
    ASSERT_TRUE(somebody_waits());
    kill(holder);
    EXPECT_FALSE(waiter.has_said());
    outlive_leases();
    EXPECT_EQ(waiter.next_line(), "held");
    EXPECT_EQ(seats_->available_permits(), 1);
    end(waiter);
    EXPECT_EQ(seats_->available_permits(), 2);
}

TEST_F(KilledCounting, OneOfTwoHoldersLeavesTheOthersPermitsAlone) {
    seats_->set_permits(3);
    child victim = take_seats(1, 600ms), other = take_seats(2);
    ASSERT_EQ(victim.next_line(), "held");
    ASSERT_EQ(other.next_line(), "held");
    kill(victim);
    EXPECT_TRUE(eventually([&] { return seats_->available_permits() == 1; }));
    EXPECT_EQ(seats_->acquired_permits(), 2) << "another's";
    EXPECT_FALSE(other.has_said());
    end(other);
    EXPECT_EQ(seats_->available_permits(), 3);
}

TEST_F(KilledCounting, WhoWaitsForPermitsIsNotWaitedFor) {
    seats_->set_permits(2);
    lease both = seats_->acquire(2);
    child waiter = take_seats(2);
    ASSERT_TRUE(somebody_waits());
    kill(waiter);
    both.unlock();
    EXPECT_TRUE(seats_->try_acquire(2));
}

TEST_F(KilledCounting, OrStoppedAHolderOfPermitsThatGoesOnKnowsThatItLost) {
    seats_->set_permits(2);
    child holder = take_seats(2, 600ms);
    ASSERT_EQ(holder.next_line(), "held");
    holder.signal(SIGSTOP);
    const std::optional<lease> mine = seats_->try_acquire_for(support::far_too_long, 2);
    ASSERT_TRUE(mine);
    holder.signal(SIGCONT);
    EXPECT_EQ(holder.next_line(), "lost");
    end(holder);
    EXPECT_EQ(seats_->acquired_permits(), 2) << "it released what is another's";
}

TEST_F(KilledCounting, WhoWaitsForARateDrawsNothingMore) {
    rate_limiter mails{*home_, "mails"};
    mails.set_rate({.permits = 3, .per = 1min});
    child waiter{"draws and waits", {.arguments = {url()}}};
    ASSERT_EQ(waiter.next_line(), "drawn");
    const std::int64_t before = scripts_asked();
    ASSERT_TRUE(eventually([&] { return scripts_asked() > before + 1; })) << "it looks again";
    kill(waiter);
    EXPECT_EQ(mails.available_permits(), 1) << "what it drew counts";
    server().step_clock(61s);
    EXPECT_TRUE(mails.try_acquire(3)) << "and no longer than that";
}

} // namespace
} // namespace holdfast::process
