// SPDX-License-Identifier: Apache-2.0
// Counters over a network with faults: each change that the server executed counts once, and
// waiting callers get their permits when the server is reachable again.
#include "chaos/on_proxy.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_future.hpp>

#include <cstdint>
#include <future>
#include <string>

namespace holdfast::chaos {
namespace {

class Counting : public on_proxy {
protected:
    using on_proxy::on_proxy;

    void SetUp() override {
        on_proxy::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(through_proxy());
        seats_.emplace(*home_, "L");
    }

    std::int64_t count() { return std::stoll(server().command({"GET", "L"}).text); }
    void set(int number) { server().command({"SET", "L", std::to_string(number)}); }

    /// Each time, the number is what `once` makes of 100.
    template <typename Once>
    void counts_once_cut_at_each_byte(way where, std::int64_t made, Once once) {
        cut_at_every_byte(
            where, [this] { set(100); }, once, [this, made] { EXPECT_EQ(count(), made); });
    }

    std::optional<client> home_;
    std::optional<counting_semaphore> seats_;
};
HOLDFAST_ON_EACH_SERVER(Counting);

TEST_P(Counting, AReleaseThatIsAskedForAtEachByteCountsOnce) {
    counts_once_cut_at_each_byte(way::requests, 103, [&] { seats_->release(3); });
}

TEST_P(Counting, AReleaseThatIsAnsweredAtEachByteCountsOnce) {
    counts_once_cut_at_each_byte(way::answers, 103, [&] { seats_->release(3); });
}

TEST_P(Counting, AnAcquisitionThatIsAskedForAtEachByteTakesOnce) {
    counts_once_cut_at_each_byte(way::requests, 97, [&] { seats_->acquire(3); });
}

TEST_P(Counting, AnAcquisitionThatIsAnsweredAtEachByteTakesOnce) {
    counts_once_cut_at_each_byte(way::answers, 97, [&] { seats_->acquire(3); });
}

TEST_P(Counting, DownThatIsAnsweredAtEachByteCountsOnce) {
    latch gate{*home_, "L"};
    counts_once_cut_at_each_byte(way::answers, 98, [&] { gate.count_down(2); });
}

TEST_P(Counting, AReleaseWhoseAnswerIsLostCountsOnce) {
    set(1);
    proxy().lose_answer_to("add");
    seats_->release();
    EXPECT_EQ(count(), 2);
}

// [N4]
TEST_P(Counting, AReleaseThatIsHeldUpAndGivenUpDoesNothingAfterwards) {
    client home{hasty(proxy().socket_path())};
    counting_semaphore seats{home, "L"};
    set(1);
    seats.release();
    proxy().hold_back();
    const error_code failed = thrown_by([&] { seats.release(); }).code;
    EXPECT_EQ(failed, errc::outcome_unknown);
    home.close();
    EXPECT_GT(proxy().bytes_held(), 0U);
    server().command({"CONFIG", "RESETSTAT"});
    proxy().let_go();
    ASSERT_TRUE(eventually([&] { return calls_of("evalsha") > 0; })) << "nothing has arrived";
    EXPECT_EQ(count(), 2);
}

class CountingOutage : public Counting {
protected:
    CountingOutage()
        : Counting{{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}}} {}

    void await_listener(const std::string& channel) {
        ASSERT_TRUE(eventually([&] {
            return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
        }));
    }
    void restart() {
        server().stop();
        ASSERT_TRUE(eventually([&] { return told_->count(event_kind::disconnected) > 0; }));
        server().start();
    }
};
HOLDFAST_ON_EACH_SERVER(CountingOutage);

TEST_P(CountingOutage, WhoWaitsForAPermitIsServedAfterIt) {
    client other{directly()};
    counting_semaphore theirs{other, "L"};
    set(0);
    std::future<void> waits = seats_->async_acquire(2, asio::use_future);
    await_listener("redisson_sc:{L}");
    restart();
    EXPECT_FALSE(support::is_ready(waits));
    theirs.release(3);
    soon(std::move(waits));
    EXPECT_EQ(count(), 1);
}

TEST_P(CountingOutage, WhoWaitsForALatchGoesOnAfterIt) {
    client other{directly()};
    latch mine{*home_, "gate"}, theirs{other, "gate"};
    ASSERT_TRUE(theirs.try_set_count(1));
    std::future<void> waits = mine.async_wait(asio::use_future);
    await_listener("redisson_countdownlatch__channel__{gate}");
    restart();
    EXPECT_FALSE(support::is_ready(waits));
    theirs.count_down();
    soon(std::move(waits));
}

// Leased permits on a bad way to the server: each is taken once and comes back once, whatever
// becomes of the answers, of the server and of the lease.

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
    client home{hasty(proxy().socket_path())};
    leased_semaphore seats{home, "L"};
    begin_with(5);
    mine_ = seats.acquire();
    mine_.unlock();
    proxy().hold_back();
    EXPECT_EQ(thrown_by([&] { (void)seats.acquire(2); }).code, errc::outcome_unknown);
    home.close();
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
        how.lease_time = 15s;
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

    std::optional<client> short_;             ///< with leases that are renewed every five seconds
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
    // The lost token compares the validity with the clock. The observer is notified a moment later.
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::lost) > 0; }));
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::term_ended);
    server().resume();
    const lease next = seats_->acquire(2);
    EXPECT_EQ(free(), 0);
    EXPECT_EQ(held(), 2);
}

// A rate limiter on a bad way to the server: a draw counts once, and one that nobody has does not
// count.

class ChaosOfRates : public on_proxy {
protected:
    using on_proxy::on_proxy;

    void SetUp() override {
        on_proxy::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        home_.emplace(through_proxy());
        mails_.emplace(*home_, "L");
        begin();
    }

    /// Nothing is drawn of nine in an hour.
    void begin() {
        server().command({"DEL", "L", "{L}:value", "{L}:permits"});
        server().command(
            {"HSET", "L", "rate", "9", "interval", "3600000", "type", "0", "keepAliveTime", "0"});
    }
    std::int64_t draws() { return server().command({"ZCARD", "{L}:permits"}).integer; }
    std::int64_t left() {
        const std::string number = server().command({"GET", "{L}:value"}).text;
        return number.empty() ? 9 : std::stoll(number);
    }

    std::int64_t scripts_run() { return calls_of("eval") + calls_of("evalsha"); }

    std::optional<client> home_;
    std::optional<rate_limiter> mails_;
};
HOLDFAST_ON_EACH_SERVER(ChaosOfRates);

TEST_P(ChaosOfRates, ADrawThatIsAnsweredAtEachByteCountsOnce) {
    cut_at_every_byte(
        way::answers, [this] { begin(); }, [this] { mails_->acquire(3); },
        [this] {
            EXPECT_EQ(left(), 6);
            EXPECT_EQ(draws(), 1);
        });
}

TEST_P(ChaosOfRates, WhatIsReleasedAndAnsweredAtEachByteIsReleasedOnce) {
    cut_at_every_byte(
        way::answers,
        [this] {
            begin();
            mails_->acquire(5);
        },
        [this] { mails_->release(2); }, [this] { EXPECT_EQ(left(), 6); });
}

TEST_P(ChaosOfRates, ARateThatIsSetAtEachByteForgetsWhatWasDrawnOnce) {
    cut_at_every_byte(
        way::answers, [this] { begin(); },
        [this] {
            mails_->set_rate({.permits = 4, .per = 1h});
            mails_->acquire();
        },
        [this] {
            EXPECT_EQ(left(), 3);
            EXPECT_EQ(draws(), 1);
        });
}

TEST_P(ChaosOfRates, ADrawWhoseAnswerIsLostCountsOnce) {
    proxy().lose_answer_to("{L}:permits");
    mails_->acquire(4);
    EXPECT_EQ(left(), 5);
    EXPECT_EQ(draws(), 1);
    proxy().lose_answer_to("{L}:permits");
    EXPECT_TRUE(mails_->try_acquire_for(10s, 5));
    EXPECT_EQ(left(), 0);
    EXPECT_FALSE(mails_->try_acquire());
}

TEST_P(ChaosOfRates, WhatACancelledCallerMayHaveDrawnIsGivenBack) {
    mails_->acquire(); // the script is there then
    const std::int64_t before = scripts_run();
    asio::cancellation_signal stop;
    proxy().hold_back();
    std::future<void> waits =
        mails_->async_acquire(4, asio::bind_cancellation_slot(stop.slot(), asio::use_future));
    ASSERT_TRUE(eventually([&] { return proxy().bytes_held() > 0; }));
    stop.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(thrown_by([&] { soon(std::move(waits)); }).code, asio::error::operation_aborted);
    proxy().let_go();
    ASSERT_TRUE(eventually([&] { return scripts_run() >= before + 2; }))
        << "a draw, and what gives it back";
    EXPECT_TRUE(eventually([&] { return left() == 8 && draws() == 1; }));
}

// [N4]
TEST_P(ChaosOfRates, ADrawThatIsHeldUpAndGivenUpDoesNotCountAfterwards) {
    client home{hasty(proxy().socket_path())};
    rate_limiter mails{home, "L"};
    mails.acquire();
    proxy().hold_back();
    EXPECT_EQ(thrown_by([&] { mails.acquire(4); }).code, errc::outcome_unknown);
    home.close();
    EXPECT_GT(proxy().bytes_held(), 0U);
    const std::int64_t before = calls_of("evalsha");
    proxy().let_go();
    ASSERT_TRUE(eventually([&] { return calls_of("evalsha") > before; })) << "nothing has arrived";
    EXPECT_TRUE(eventually([&] { return left() == 8 && draws() == 1; }));
}

class ChaosOfRatesInOutages : public ChaosOfRates {
protected:
    ChaosOfRatesInOutages()
        : ChaosOfRates{{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}}} {}

    void SetUp() override {
        ChaosOfRates::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        options how = through_proxy();
        how.poll_bound = 50ms; // nobody is told when there is more
        frequent_.emplace(how);
        asked_.emplace(*frequent_, "L");
    }
    /// Nothing is left, and somebody has been told so.
    std::future<support::thrown> wait_for_one() {
        asked_->acquire(9);
        const std::int64_t before = scripts_run();
        std::future<support::thrown> waits = std::async(
            std::launch::async, [this] { return thrown_by([this] { asked_->acquire(); }); });
        EXPECT_TRUE(eventually([&] { return scripts_run() > before; }));
        return waits;
    }
    void stop() {
        server().stop();
        ASSERT_TRUE(eventually([&] { return told_->count(event_kind::disconnected) > 0; }));
    }

    std::optional<client> frequent_;
    std::optional<rate_limiter> asked_;
};
HOLDFAST_ON_EACH_SERVER(ChaosOfRatesInOutages);

TEST_P(ChaosOfRatesInOutages, WhatWasDrawnCountsAfterThemAndWhoWaitsIsServed) {
    client other{directly()};
    rate_limiter theirs{other, "L"};
    std::future<support::thrown> waits = wait_for_one();
    stop();
    server().start();
    EXPECT_EQ(theirs.available_permits(), 0);
    EXPECT_FALSE(support::is_ready(waits));
    theirs.release(2);
    EXPECT_EQ(soon(std::move(waits)).code, error_code{});
    EXPECT_EQ(left(), 1);
}

TEST_P(ChaosOfRatesInOutages, WhoWaitsIsToldWhereTheServerForgotTheRate) {
    std::future<support::thrown> waits = wait_for_one();
    stop();
    server().restart_empty({});
    const support::thrown why = soon(std::move(waits));
    EXPECT_EQ(why.code, errc::refused);
    EXPECT_THAT(why.text, testing::HasSubstr("the rate limiter is not set"));
}

} // namespace
} // namespace holdfast::chaos
