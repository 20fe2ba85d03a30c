// SPDX-License-Identifier: Apache-2.0
// Leased permits on a bad way to the server: each is taken once and comes back once, whatever
// becomes of the answers, of the server and of the lease.
#include "chaos/on_proxy.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_future.hpp>

#include <cstdint>
#include <future>
#include <string>

namespace holdfast::chaos {
namespace {

class ChaosOfPermits : public on_proxy {
protected:
    using on_proxy::on_proxy;

    void SetUp() override {
        on_proxy::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(through_proxy());
        seats_.emplace(*home_, "L");
    }

    /// So many, none of which is held.
    void begin_with(int number) {
        error_code ignored;
        if (mine_.owns_lock())
            mine_.unlock(ignored);
        server().command({"DEL", held_key, "L"});
        server().command({"SET", "L", std::to_string(number)});
    }
    std::int64_t free() { return std::stoll(server().command({"GET", "L"}).text); }
    std::int64_t held() { return server().command({"ZCARD", held_key}).integer; }
    bool come_back(std::int64_t all) {
        return eventually([this, all] { return free() == all && held() == 0; });
    }

    static constexpr const char* held_key = "{L}:timeout";
    static constexpr const char* channel = "redisson_sc:{L}"; ///< in all requests but renewals
    std::optional<client> home_;
    std::optional<leased_semaphore> seats_;
    lease mine_;
};
HOLDFAST_ON_EACH_SERVER(ChaosOfPermits);

TEST_P(ChaosOfPermits, TheyAreGrantedAtEachByteAndTakenOnce) {
    cut_at_every_byte(
        way::answers, [this] { begin_with(9); }, [this] { mine_ = seats_->acquire(3); },
        [this] {
            EXPECT_EQ(free(), 6);
            EXPECT_EQ(held(), 3);
            EXPECT_TRUE(mine_.owns_lock());
        });
}

TEST_P(ChaosOfPermits, TheirReturnIsAnsweredAtEachByteAndDoneOnce) {
    error_code failed;
    cut_at_every_byte(
        way::answers,
        [this] {
            begin_with(9);
            mine_ = seats_->acquire(3);
        },
        [this, &failed] { mine_.unlock(failed); },
        [this, &failed] {
            EXPECT_FALSE(failed) << failed.message();
            EXPECT_EQ(free(), 9);
            EXPECT_EQ(held(), 0);
        });
}

TEST_P(ChaosOfPermits, OneIsGivenBackByItsIdAtEachByteOnce) {
    client other{directly()};
    leased_semaphore theirs{other, "L"};
    std::string id;
    bool was_held = false;
    cut_at_every_byte(
        way::answers,
        [&] {
            begin_with(9);
            mine_ = theirs.acquire();
            id = mine_.permit_ids().front();
        },
        [&] { was_held = seats_->release(id); },
        [&] {
            EXPECT_TRUE(was_held);
            EXPECT_EQ(free(), 9);
            EXPECT_EQ(held(), 0);
        });
}

TEST_P(ChaosOfPermits, AReleaseWhoseAnswerIsLostGivesBackOnce) {
    begin_with(5);
    mine_ = seats_->acquire(2);
    lease others = leased_semaphore{*home_, "L"}.acquire();
    proxy().lose_answer_to(channel);
    error_code failed;
    mine_.unlock(failed);
    EXPECT_FALSE(failed) << failed.message();
    EXPECT_EQ(free(), 4);
    EXPECT_EQ(held(), 1);
    proxy().lose_answer_to("give_back");
    EXPECT_TRUE(seats_->release(others.permit_ids().front()));
    EXPECT_EQ(free(), 5);
}

TEST_P(ChaosOfPermits, AGrantWhoseAnswerIsLostIsTakenOnce) {
    begin_with(5);
    proxy().lose_answer_to(channel);
    mine_ = seats_->acquire(2);
    EXPECT_EQ(free(), 3);
    EXPECT_EQ(held(), 2);
}

TEST_P(ChaosOfPermits, WhatACancelledCallerMayHaveTakenComesBack) {
    begin_with(5);
    seats_->acquire().unlock(); // the scripts are there then
    const std::int64_t before = calls_of("evalsha");
    asio::cancellation_signal stop;
    proxy().hold_back();
    std::future<lease> waits =
        seats_->async_acquire(2, asio::bind_cancellation_slot(stop.slot(), asio::use_future));
    ASSERT_TRUE(eventually([&] { return proxy().bytes_held() > 0; }));
    stop.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(thrown_by([&] { (void)soon(std::move(waits)); }).code,
              asio::error::operation_aborted);
    proxy().let_go();
    ASSERT_TRUE(eventually([&] { return calls_of("evalsha") >= before + 2; }))
        << "a take, and a release";
    EXPECT_TRUE(come_back(5));
}

// [N4]
TEST_P(ChaosOfPermits, ATakeThatIsHeldUpAndGivenUpTakesNothingAfterwards) {
    options how = through_proxy();
    how.unavailable_patience = 1ms;
    how.close_patience = 0ms;
    client hasty{how};
    leased_semaphore seats{hasty, "L"};
    begin_with(5);
    mine_ = seats.acquire();
    mine_.unlock();
    proxy().hold_back();
    EXPECT_EQ(thrown_by([&] { (void)seats.acquire(2); }).code, errc::outcome_unknown);
    hasty.close();
    EXPECT_GT(proxy().bytes_held(), 0U);
    server().command({"CONFIG", "RESETSTAT"});
    proxy().let_go();
    ASSERT_TRUE(eventually([&] { return calls_of("evalsha") > 0; })) << "nothing has arrived";
    EXPECT_TRUE(come_back(5));
}

class ChaosOfPermitsInOutages : public ChaosOfPermits {
protected:
    ChaosOfPermitsInOutages()
        : ChaosOfPermits{{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}}} {}

    void SetUp() override {
        ChaosOfPermits::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        options how = through_proxy();
        how.lease_time = 3s;
        short_.emplace(how);
        renewed_.emplace(*short_, "L");
        begin_with(2);
    }
    void await_waiter() {
        ASSERT_TRUE(eventually([&] {
            return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
        }));
    }
    void restart(bool empty) {
        const std::size_t before = told_->count(event_kind::disconnected);
        server().stop();
        ASSERT_TRUE(eventually([&] { return told_->count(event_kind::disconnected) > before; }));
        if (empty)
            server().restart_empty({});
        else
            server().start();
    }

    std::optional<client> short_;             ///< with leases that are renewed once a second
    std::optional<leased_semaphore> renewed_; ///< of that one
};
HOLDFAST_ON_EACH_SERVER(ChaosOfPermitsInOutages);

TEST_P(ChaosOfPermitsInOutages, TheyAreKeptWhereTheServerKeepsItsData) {
    const lease held_on = renewed_->acquire(2);
    restart(false);
    EXPECT_TRUE(is_renewed(held_on));
    EXPECT_FALSE(held_on.lost().stop_requested());
    EXPECT_EQ(free(), 0);
    EXPECT_EQ(held(), 2);
}

TEST_P(ChaosOfPermitsInOutages, TheyAreLostWhereItComesBackEmpty) {
    const lease gone = renewed_->acquire(2);
    restart(true);
    EXPECT_TRUE(eventually([&] { return gone.lost().stop_requested(); }));
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::refused);
    EXPECT_EQ(server().command({"DBSIZE"}).integer, 0) << "nothing is made anew for them";
}

TEST_P(ChaosOfPermitsInOutages, WhoWaitsIsServedAfterIt) {
    client other{directly()};
    leased_semaphore theirs{other, "L"};
    lease all = theirs.acquire(2);
    std::future<lease> waits = seats_->async_acquire(2, asio::use_future);
    await_waiter();
    restart(false);
    EXPECT_FALSE(support::is_ready(waits));
    error_code failed;
    all.unlock(failed);
    EXPECT_FALSE(failed) << failed.message();
    EXPECT_TRUE(soon(std::move(waits)).owns_lock());
}

// [S3]
TEST_P(ChaosOfPermitsInOutages, TheyComeBackWhenAServerPausesForLongerThanTheirLease) {
    const lease over = renewed_->acquire(2);
    server().pause();
    ASSERT_TRUE(eventually([&] { return over.lost().stop_requested(); }));
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::term_ended);
    server().resume();
    const lease next = seats_->acquire(2);
    EXPECT_EQ(free(), 0);
    EXPECT_EQ(held(), 2);
}

} // namespace
} // namespace holdfast::chaos
