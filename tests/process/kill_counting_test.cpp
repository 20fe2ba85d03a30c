// SPDX-License-Identifier: Apache-2.0
// Processes that end or stand still without a word, and what they have of what is counted: their
// permits come back when their leases are over, once; what they drew counts for its time.
#include "process/with_server.hpp"

#include <iostream>
#include <stop_token>

namespace holdfast::process {
namespace {

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
    server().step_clock(options{}.lease_time - 5s);
    EXPECT_FALSE(seats_->try_acquire(2));
    server().step_clock(6s);
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
