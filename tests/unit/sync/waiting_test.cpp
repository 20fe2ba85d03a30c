// SPDX-License-Identifier: Apache-2.0
// How an acquisition waits for a lock that another client holds, and how the wait ends.
#include "sync/retry_policy.hpp"
#include "unit/sync/stage.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/spin_mutex.hpp>
#include <holdfast/token_mutex.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

class Waiting : public on_stage {
protected:
    actor& alice = enter({.poll_bound = 5s});
    mutex stock{alice, "stock"};
    said<lease> held;
    said<std::optional<lease>> tried;

    bool refused_in_time() const { return tried.well() && !tried.value(); }
};

TEST_F(Waiting, AFreeLockCostsOneRequest) {
    stock.async_lock(held.handler());
    settle();
    EXPECT_TRUE(held.well());
    EXPECT_EQ(alice.log.size(), 1u);
    EXPECT_EQ(alice.count(verb::look), 1u);
}

TEST_F(Waiting, WithoutTimeoutABusyLockIsAskedForOnceAndNothingIsListenedTo) {
    server.occupy("stock", 1h);
    stock.async_try_lock(tried.handler());
    settle();
    EXPECT_TRUE(refused_in_time());
    EXPECT_EQ(alice.count(verb::look), 1u);
    EXPECT_EQ(alice.log.size(), 1u);
    EXPECT_EQ(listener_count(server), 0u);
}

TEST_F(Waiting, ANegativeTimeoutIsOneAttempt) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(-1h, tried.handler());
    settle();
    EXPECT_TRUE(refused_in_time());
    EXPECT_EQ(alice.count(verb::look), 1u);
}

TEST_F(Waiting, ANegativeTimeoutTakesAFreeLock) {
    stock.async_try_lock_for(duration::min(), tried.handler());
    settle();
    ASSERT_TRUE(tried.well());
    EXPECT_TRUE(tried.value());
}

TEST_F(Waiting, ItEndsExactlyWhenItsTimeoutDoes) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(499ms);
    EXPECT_FALSE(tried.done());
    EXPECT_EQ(listener_count(server), 1u);
    run_for(1ms);
    EXPECT_TRUE(refused_in_time());
    EXPECT_EQ(listener_count(server), 0u);
    EXPECT_TRUE(is_idle(alice));
}

// Otherwise the next release could grant the lock to the call that has ended, and the lock would be
// busy for everybody although nobody holds it.
TEST_F(Waiting, ATimedCallLeavesTheQueueOfTheStoreBeforeItEnds) {
    alice.meddling.keeps_queues = true;
    alice.meddling.objects = [&](verb what) {
        EXPECT_FALSE(what == verb::release && tried.done());
        return error_code{};
    };
    server.occupy("stock", 1h);
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(500ms);
    EXPECT_TRUE(refused_in_time());
    EXPECT_EQ(alice.meddling.places_left, 1);
    run_for(1s);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Waiting, ATimedCallDoesNotWaitLongForAStoreThatDoesNotLetItLeave) {
    alice.meddling.keeps_queues = true;
    server.occupy("stock", 1h);
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(499ms);
    alice.always.answer_delay = 10min;
    run_for(1ms + 100ms);
    EXPECT_TRUE(refused_in_time());
}

TEST_F(Waiting, ATimedCallEndsAlthoughItCannotLeaveTheQueueAndLeavesItLater) {
    alice.meddling.keeps_queues = true;
    bool objects = true;
    alice.meddling.objects = [&](verb what) {
        return what == verb::release && objects ? make_error_code(errc::unreachable) : error_code{};
    };
    server.occupy("stock", 1h);
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(500ms);
    EXPECT_TRUE(refused_in_time());
    EXPECT_EQ(alice.meddling.places_left, 0);
    objects = false;
    run_for(1s);
    EXPECT_EQ(alice.meddling.places_left, 1);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Waiting, ATimeoutIsRoundedUpToWholeMilliseconds) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(std::chrono::microseconds{1}, tried.handler());
    settle();
    EXPECT_FALSE(tried.done());
    run_for(1ms);
    EXPECT_TRUE(refused_in_time());
}

TEST_F(Waiting, ItListensAfterTheFirstRefusalAndAsksAgainBeforeItSleeps) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    settle();
    EXPECT_EQ(alice.count(verb::look), 2u);
    EXPECT_EQ(listener_count(server), 1u);
    server.vacate("stock");
    settle();
    EXPECT_TRUE(held.well());
}

TEST_F(Waiting, AReleaseWakesItAtOnce) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    run_for(1s);
    EXPECT_EQ(alice.count(verb::look), 2u) << "it asks while it should sleep";
    server.vacate("stock");
    settle();
    EXPECT_TRUE(held.well());
    EXPECT_EQ(alice.count(verb::look), 3u);
}

TEST_F(Waiting, AReleaseBetweenLookAndListeningIsNotMissed) {
    server.occupy("stock", 1h);
    alice.always.request_delay = 10ms;
    alice.always.answer_delay = 10ms;
    stock.async_lock(held.handler());
    run_for(15ms); // refused, and the answer is on its way
    server.vacate("stock");
    run_for(25ms);
    EXPECT_TRUE(held.well());
}

TEST_F(Waiting, ADeadHoldersLeaseEndsItWithoutAnyWakeUp) {
    server.occupy("stock", 2s);
    stock.async_lock(held.handler());
    run_for(2s - 1ms);
    EXPECT_FALSE(held.done());
    run_for(5ms);
    EXPECT_TRUE(held.well());
    EXPECT_LE(alice.count(verb::look), 4u);
}

TEST_F(Waiting, ALostWakeUpCostsAtMostThePollBound) {
    server.occupy("stock", 1h);
    alice.planned.emplace_back(verb::look, fate{.wake_up_lost = true});
    stock.async_lock(held.handler());
    run_for(1s);
    server.vacate("stock");
    run_for(5s - 1s - 1ms);
    EXPECT_FALSE(held.done());
    run_for(1ms);
    EXPECT_TRUE(held.well());
}

// A call with a timeout sends its last attempt shortly before the timeout. So it sees a release
// even if no notification arrives, whatever it waits for.

class LastLook : public on_stage {
protected:
    LastLook() { bob.always = {.request_delay = 3ms, .answer_delay = 3ms, .wake_up_lost = true}; }

    /// Waits with a timeout of 400 ms, and calls `free_it` 50 ms before its end.
    template <typename Result, typename Begin, typename Free>
    Result result_of(Begin begin, Free free_it) {
        said<Result> tried;
        begin(tried.handler());
        run_for(350ms);
        EXPECT_FALSE(tried.done());
        free_it();
        run_for(60ms);
        EXPECT_TRUE(tried.well());
        return tried.well() ? tried.take() : Result{};
    }

    actor &alice = enter(), &bob = enter({.poll_bound = 1min});
};

TEST_F(LastLook, OfAMutexSeesAReleaseWithoutANotification) {
    mutex hers{alice, "stock"}, his{bob, "stock"};
    lease held = taken(hers);
    EXPECT_TRUE(result_of<std::optional<lease>>(
        [&](auto handler) { his.async_try_lock_for(400ms, std::move(handler)); },
        [&] { held.async_unlock(said{}.handler()); }));
}

TEST_F(LastLook, OfATokenMutexSeesTheReleaseOfAnotherProgram) {
    server.occupy("stock", 1h, lock_kind::token);
    token_mutex his{bob, "stock"};
    EXPECT_TRUE(result_of<std::optional<lease>>(
        [&](auto handler) { his.async_try_lock_for(400ms, std::move(handler)); },
        [&] { server.vacate("stock"); }));
}

TEST_F(LastLook, OfASemaphoreSeesAReleaseWithoutANotification) {
    counting_semaphore hers{alice, "seats"}, his{bob, "seats"};
    EXPECT_TRUE(result_of<bool>(
        [&](auto handler) { his.async_try_acquire_for(400ms, 1, std::move(handler)); },
        [&] { hers.async_release(1, said{}.handler()); }));
}

TEST_F(LastLook, OfALeasedSemaphoreSeesAReleaseWithoutANotification) {
    leased_semaphore hers{alice, "seats"}, his{bob, "seats"};
    hers.async_set_permits(1, said<bool>{}.handler());
    settle();
    said<lease> got;
    hers.async_acquire(1, got.handler());
    settle();
    ASSERT_TRUE(got.well());
    lease held = got.take();
    EXPECT_TRUE(result_of<std::optional<lease>>(
        [&](auto handler) { his.async_try_acquire_for(400ms, 1, std::move(handler)); },
        [&] { held.async_unlock(said{}.handler()); }));
}

TEST_F(LastLook, OfALatchSeesItOpenWithoutANotification) {
    latch hers{alice, "gate"}, his{bob, "gate"};
    said<bool> set;
    hers.async_try_set_count(1, set.handler());
    settle();
    EXPECT_TRUE(
        result_of<bool>([&](auto handler) { his.async_wait_for(400ms, std::move(handler)); },
                        [&] { hers.async_count_down(1, said<bool>{}.handler()); }));
}

TEST_F(Waiting, PollsAreSpreadOverAFifthOfTheBound) {
    server.occupy("stock", 1h);
    alice.dice = 1'000; // of the 1001 milliseconds that may be taken off
    stock.async_lock(held.handler());
    run_for(20s);
    EXPECT_EQ(alice.count(verb::look), 2u + 20 / 4);
    server.vacate("stock");
}

TEST_F(Waiting, ALockThatComesFreeShortlyBeforeTheEndIsTaken) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(480ms); // the later, the less exactly the server's clock is known: by a hundredth
    server.vacate("stock");
    settle();
    ASSERT_TRUE(tried.well());
    EXPECT_TRUE(tried.value());
}

TEST_F(Waiting, NothingIsGrantedAfterGivingUp) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(450ms);
    alice.always.request_delay = 100ms; // executed at 550 ms
    server.vacate("stock");
    run_for(1h);
    ASSERT_TRUE(refused_in_time());
    EXPECT_FALSE(inspect(server, "stock"));
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Waiting, ForEverMeansForEver) {
    server.occupy("stock", 24h * 365);
    stock.async_try_lock_for(duration::max(), tried.handler());
    said<std::optional<lease>> by_deadline;
    stock.async_try_lock_until(std::chrono::system_clock::time_point::max(), by_deadline.handler());
    run_for(12h);
    EXPECT_FALSE(tried.done());
    EXPECT_FALSE(by_deadline.done());
    server.vacate("stock");
    settle();
    ASSERT_TRUE(tried.well());
    tried.take().reset();
    settle();
    EXPECT_TRUE(by_deadline.well());
}

TEST_F(Waiting, ADeadlineInThePastIsOneAttempt) {
    server.occupy("stock", 1h);
    stock.async_try_lock_until(std::chrono::steady_clock::now() - 1h, tried.handler());
    settle();
    EXPECT_TRUE(refused_in_time());
}

TEST_F(Waiting, MoreCallsThanAllowedFailAndSayWhichBoundItIs) {
    actor& bob = enter({.waiters_max = 2});
    mutex his{bob, "stock"};
    server.occupy("stock", 1h);
    said<lease> first, second, third, fourth;
    his.async_lock(first.handler());
    his.async_lock(second.handler());
    his.async_lock(third.handler());
    settle();
    EXPECT_TRUE(third.failed(errc::overloaded));
    const auto told = bob.ear->last(event_kind::waited);
    ASSERT_TRUE(told);
    EXPECT_THAT(told->text, testing::HasSubstr("waiters_max = 2"));

    server.vacate("stock");
    settle();
    ASSERT_TRUE(first.well());
    his.async_lock(fourth.handler()); // there is room again
    (void)first.take();
    settle();
    EXPECT_TRUE(second.well());
    (void)second.take();
    settle();
    EXPECT_TRUE(fourth.well());
}

TEST_F(Waiting, WhoOnlyWaitsToSeeItFreeIsOneOfThem) {
    actor& bob = enter({.waiters_max = 1});
    server.occupy("stock", 1h);
    said<bool> first, second, third;
    bob.program->async_wait_free("stock", 1min, first.handler());
    bob.program->async_wait_free("stock", 1min, second.handler());
    settle();
    EXPECT_TRUE(second.failed(errc::overloaded));
    run_for(1min);
    EXPECT_TRUE(first.well() && !first.value());
    bob.program->async_wait_free("stock", 1min, third.handler()); // there is room again
    server.vacate("stock");
    settle();
    EXPECT_TRUE(third.well() && third.value());
    EXPECT_FALSE(bob.ear->last(event_kind::waited)) << "it was no attempt to take it";
}

TEST_F(Waiting, TheHoldIsSeenByTheStoreUnderItsOwnersName) {
    const lease mine = taken(stock);
    const std::optional<holding> seen = inspect(server, "stock");
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->owners, std::vector{mine.owner()});
    EXPECT_EQ(mine.owner().substr(0, 36), alice.program->id());
    EXPECT_EQ(seen->remaining, 30s);
    EXPECT_EQ(mine.name(), "stock");
}

TEST_F(Waiting, NoTwoHoldsOfAClientHaveTheSameNumber) {
    mutex shelf{alice, "shelf"};
    std::vector<std::string> owners;
    for (int i = 0; i < 50; ++i) {
        lease one = taken(stock), other = taken(shelf);
        owners.push_back(one.owner());
        owners.push_back(other.owner());
        one.async_unlock(said{}.handler());
        other.async_unlock(said{}.handler());
        settle();
    }
    std::sort(owners.begin(), owners.end());
    EXPECT_EQ(std::unique(owners.begin(), owners.end()), owners.end());
}

// A waiter for a spin lock polls, and has no subscription.

class Spin : public on_stage {
protected:
    /// When `who` looked, in ms after `from`.
    static std::vector<std::int64_t> looks(const actor& who, time_point from) {
        std::vector<std::int64_t> moments;
        for (const sent& each : who.all(verb::look))
            moments.push_back((each.at - from).count());
        return moments;
    }
};

TEST_F(Spin, PausesDoubleUpToTheLongest) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {2ms, 20ms}}};
    const lease held = taken(hers);
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(75ms);
    EXPECT_EQ(looks(bob, start()), (std::vector<std::int64_t>{0, 2, 6, 14, 30, 50, 70}));
    EXPECT_EQ(listener_count(server), 0u);
}

TEST_F(Spin, PausesMayBeLongerThanThePollBound) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {20s, 1min}}};
    const lease held = taken(hers, lease_time{1h});
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(61s);
    EXPECT_EQ(looks(bob, start()), (std::vector<std::int64_t>{0, 20'000, 60'000}));
}

TEST_F(Spin, PausesAreJittered) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {100ms, 100ms}}};
    const lease held = taken(hers);
    bob.dice = 30; // of 0 to 50 ms
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(150ms);
    EXPECT_EQ(looks(bob, start()), (std::vector<std::int64_t>{0, 70, 140}));
}

TEST_F(Spin, AReleaseIsSeenByTheNextPoll) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {10ms, 10ms}}};
    lease held = taken(hers);
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(15ms);
    held.async_unlock(said{}.handler());
    run_for(4ms);
    EXPECT_FALSE(waiting.done()) << "nobody tells";
    run_for(1ms);
    EXPECT_TRUE(waiting.well());
}

TEST_F(Spin, TheEndOfALeaseIsNotSleptThrough) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {1min, 1min}}};
    const lease held = taken(hers, lease_time{2s});
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(2s + 1ms);
    EXPECT_TRUE(waiting.well());
}

TEST_F(Spin, NobodyPollsPastItsTimeout) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {40ms, 40ms}}};
    const lease held = taken(hers);
    said<std::optional<lease>> tried;
    his.async_try_lock_for(50ms, tried.handler());
    run_for(49ms);
    EXPECT_FALSE(tried.done());
    run_for(1ms);
    ASSERT_TRUE(tried.well());
    EXPECT_FALSE(tried.value());
    EXPECT_EQ(looks(bob, start()), (std::vector<std::int64_t>{0, 40, 45})) << "and a last look";
}

TEST_F(Spin, ReleaseShortlyBeforeTheEndOfTheTimeoutIsSeen) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {1min, 1min}}};
    lease held = taken(hers);
    bob.always = {.request_delay = 3ms, .answer_delay = 3ms};
    said<std::optional<lease>> tried;
    his.async_try_lock_for(400ms, tried.handler());
    run_for(350ms);
    held.async_unlock(said{}.handler());
    run_for(60ms);
    ASSERT_TRUE(tried.well());
    EXPECT_TRUE(tried.value());
}

TEST_F(Spin, WaitersOfOneClientQueueAndOneOfThemPolls) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {10ms, 10ms}}};
    lease held = taken(hers);
    said<lease> first, second;
    his.async_lock(first.handler());
    his.async_lock(second.handler());
    run_for(35ms);
    EXPECT_EQ(bob.count(verb::look), 4u);
    held.async_unlock(said{}.handler());
    run_for(5ms);
    ASSERT_TRUE(first.well());
    first.take().async_unlock(said{}.handler());
    settle();
    EXPECT_TRUE(second.well()) << "handed on";
}

TEST_F(Spin, WhoGaveUpPollsNoMore) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"};
    const lease held = taken(hers);
    {
        spin_mutex his{bob, "stock", {.polls = {10ms, 10ms}}};
        said<std::optional<lease>> tried;
        his.async_try_lock_for(5ms, tried.handler());
        run_for(5ms);
        EXPECT_TRUE(tried.done());
    }
    const std::size_t looks_so_far = bob.count(verb::look);
    run_for(1s);
    EXPECT_EQ(bob.count(verb::look), looks_so_far);
    EXPECT_TRUE(is_idle(bob));
}

TEST_F(Spin, ASpinLockExcludesAPlainOneOfItsName) {
    actor &alice = enter(), &bob = enter();
    spin_mutex spin{alice, "stock"};
    mutex plain{bob, "stock"};
    const lease held = taken(spin);
    said<std::optional<lease>> tried;
    plain.async_try_lock(tried.handler());
    settle();
    EXPECT_FALSE(tried.value());
}

TEST_F(Spin, PausesThatCannotBeAreRefused) {
    actor& alice = enter();
    const auto refusal = [&alice](backoff polls) -> std::string {
        try {
            const spin_mutex lock{alice, "stock", {.polls = polls}};
            return {};
        } catch (const boost::system::system_error& why) {
            EXPECT_EQ(why.code(), errc::invalid_argument);
            return why.what();
        }
    };
    EXPECT_THAT(refusal({0ms, 10ms}),
                testing::HasSubstr("polls.first is 0 ms; allowed are 1 ms to 10 ms"));
    EXPECT_THAT(refusal({20ms, 10ms}), testing::HasSubstr("polls.first is 20 ms"));
    EXPECT_THAT(refusal({1ms, 61s}), testing::HasSubstr("polls.longest is 61000 ms"));
    EXPECT_EQ(refusal({1min, 1min}), "");
}

// A pause of the process during a request is no outage of the server.

class PausedProcess : public on_stage {
protected:
    actor& alice = enter({}, 3s);
    mutex stock{alice, "stock"};
    counting_semaphore seats{alice, "seats"};
    said<lease> held;
    said<> released;

    void release_during_a_pause_of(duration length) {
        alice.planned.emplace_back(verb::change, fate{.answer_lost = true});
        seats.async_release(1, released.handler());
        settle();
        clock.stand_still(length);
        run_for(1s);
    }
};

TEST_F(PausedProcess, AcquisitionIsRepeatedAfterThePause) {
    alice.planned.emplace_back(verb::look, fate{.request_lost = true});
    stock.async_lock(held.handler());
    settle();
    clock.stand_still(1min);
    run_for(1s);
    EXPECT_TRUE(held.well()) << held.code().message();
}

TEST_F(PausedProcess, PauseBetweenTwoRequestsIsNoOutageEither) {
    alice.planned = {{verb::look, {.refused = true}}, {verb::look, {.refused = true}}};
    stock.async_lock(held.handler());
    settle();
    clock.stand_still(1min);
    run_for(1s);
    EXPECT_TRUE(held.well()) << held.code().message();
    EXPECT_EQ(alice.count(verb::look), 3u);
}

TEST_F(PausedProcess, OutageOfSlowRequestsEndsInTime) {
    alice.always.request_lost = true;
    stock.async_lock(held.handler());
    run_for(10s - 1ms);
    EXPECT_FALSE(held.done());
    run_for(3s);
    EXPECT_TRUE(held.failed(errc::outcome_unknown));
}

TEST_F(PausedProcess, ChangeOfACounterIsRepeatedAfterThePause) {
    release_during_a_pause_of(20s);
    EXPECT_TRUE(released.well()) << released.code().message();
    EXPECT_EQ(counter(server, "seats"), 1);
}

TEST_F(PausedProcess, ChangeOfACounterIsNotRepeatedIfTheStoreMayHaveForgottenIt) {
    release_during_a_pause_of(1h);
    EXPECT_TRUE(released.failed(errc::outcome_unknown));
    EXPECT_EQ(alice.count(verb::change), 1u);
    EXPECT_EQ(counter(server, "seats"), 1);
}

TEST_F(PausedProcess, ChangeOfACounterIsNotRepeatedAfterALongPauseBetweenTwoRequests) {
    alice.planned.emplace_back(verb::change, fate{.answer_lost = true});
    seats.async_release(1, released.handler());
    run_for(3s + 10ms); // the first request has failed, and the second is due in 10 ms
    clock.stand_still(1h);
    run_for(1s);
    EXPECT_TRUE(released.failed(errc::outcome_unknown));
    EXPECT_EQ(alice.count(verb::change), 1u);
    EXPECT_EQ(counter(server, "seats"), 1);
}

TEST_F(PausedProcess, PermitsAreNotTakenTwiceIfTheStoreMayHaveForgottenTheRequest) {
    seats.async_add_permits(2, said{}.handler());
    settle();
    alice.planned.emplace_back(verb::count, fate{.answer_lost = true});
    said<> taken_once;
    seats.async_acquire(1, taken_once.handler());
    settle();
    clock.stand_still(1h);
    run_for(1s);
    EXPECT_TRUE(taken_once.failed(errc::outcome_unknown)) << taken_once.code().message();
    EXPECT_EQ(counter(server, "seats"), 1);
}

// A call that is cancelled, at any moment, leaves nothing: no hold, no place, no listener.

class Cancellation : public on_stage {
protected:
    actor& alice = enter({}, 1s);
    mutex stock{alice, "stock"};
    asio::cancellation_signal stop;
    said<lease> held;

    void start() { stock.async_lock(asio::bind_cancellation_slot(stop.slot(), held.handler())); }
    void cancel() { stop.emit(asio::cancellation_type::terminal); }
    bool aborted() const { return held.failed(asio::error::operation_aborted); }
};

TEST_F(Cancellation, CompletesAtOnceWhateverIsUnderWay) {
    alice.always.request_delay = 500ms;
    start();
    run_for(100ms);
    cancel();
    settle();
    EXPECT_TRUE(aborted());
}

TEST_F(Cancellation, EveryTypeIsHonoured) {
    server.occupy("stock", 1h);
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        said<lease> each;
        asio::cancellation_signal signal;
        stock.async_lock(asio::bind_cancellation_slot(signal.slot(), each.handler()));
        run_for(10ms);
        signal.emit(type);
        settle();
        EXPECT_TRUE(each.failed(asio::error::operation_aborted));
    }
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Cancellation, BeforeItBeginsNothingIsSent) {
    start();
    cancel();
    settle();
    EXPECT_TRUE(aborted() || held.well());
    EXPECT_EQ(held_count(server), held.well() ? 1u : 0u);
}

TEST_F(Cancellation, AfterItsEndDoesNothing) {
    start();
    settle();
    ASSERT_TRUE(held.well());
    cancel();
    settle();
    EXPECT_TRUE(held.value().owns_lock());
}

TEST_F(Cancellation, AGrantThatComesAfterItIsReleased) {
    alice.always.answer_delay = 300ms;
    start();
    run_for(100ms);
    EXPECT_EQ(held_count(server), 1u);
    cancel();
    run_for(1s);
    EXPECT_TRUE(aborted());
    EXPECT_EQ(held_count(server), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Cancellation, ARequestThatArrivesAfterTheFirstReleaseIsReleasedOnceMore) {
    // Its answer is never awaited to the end: it is late, but in time for the server's deadline.
    actor& bob = enter({}, 1s);
    mutex his{bob, "stock"};
    (void)taken(his); // so that he knows the server's clock
    settle();
    bob.planned.emplace_back(verb::look, fate{.request_delay = 999ms, .answer_lost = true});
    said<lease> wanted;
    his.async_lock(asio::bind_cancellation_slot(stop.slot(), wanted.handler()));
    run_for(10ms);
    cancel();
    run_for(1h);
    EXPECT_TRUE(wanted.failed(asio::error::operation_aborted));
    EXPECT_EQ(held_count(server), 0u);
    EXPECT_GE(bob.count(verb::release), 2u);
    EXPECT_TRUE(is_idle(bob));
}

TEST_F(Cancellation, ARequestThatIsLostIsReleasedAfterItsDeadlineToo) {
    alice.planned.emplace_back(verb::look, fate{.request_lost = true});
    start();
    run_for(100ms);
    cancel();
    run_for(1h);
    const std::vector<sent> releases = alice.all(verb::release);
    ASSERT_GE(releases.size(), 2u);
    EXPECT_GE(releases.back().at - stage::start(), 1s) << "before the deadline of the request";
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Cancellation, TheReleaseBehindItSurvivesAnOutage) {
    alice.always.answer_delay = 300ms;
    start();
    run_for(100ms);
    cancel();
    alice.always = fate{.refused = true};
    run_for(5s);
    EXPECT_EQ(held_count(server), 1u);
    alice.always = fate{};
    run_for(2s);
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Cancellation, TheNextLocalWaiterIsServed) {
    server.occupy("stock", 1h);
    said<lease> next;
    start();
    stock.async_lock(next.handler());
    run_for(1s);
    cancel();
    server.vacate("stock");
    settle();
    EXPECT_TRUE(aborted());
    EXPECT_TRUE(next.well());
}

TEST_F(Cancellation, PermitsAreGrantedInOrderOfArrivalIfRepliesComeInAnotherOrder) {
    leased_semaphore rooms{alice, "rooms"};
    rooms.async_set_permits(1, said{}.handler());
    said<lease> second, third;
    rooms.async_acquire(2, asio::bind_cancellation_slot(stop.slot(), held.handler()));
    run_for(1s); // the others wait behind it in the client
    rooms.async_acquire(2, second.handler());
    rooms.async_acquire(2, third.handler());
    run_for(1s);
    alice.planned = {{verb::look, {.request_delay = 20ms}}, {verb::look, {.request_delay = 10ms}}};
    cancel();
    run_for(5ms); // the second and the third waiter have sent their requests
    rooms.async_set_permits(3, said{}.handler());
    run_for(100ms);
    EXPECT_TRUE(aborted());
    EXPECT_TRUE(second.well());
    EXPECT_FALSE(third.done());
    second.take().async_unlock(said{}.handler());
    run_for(100ms);
    EXPECT_TRUE(third.well());
}

TEST_F(Cancellation, PermitsAreGrantedInOrderOfArrivalIfALaterCallIsWoken) {
    leased_semaphore rooms{alice, "rooms"};
    rooms.async_set_permits(1, said{}.handler());
    said<lease> second, third;
    // All three calls ask before the first reply, and the second call gets its reply last.
    alice.planned = {{verb::look, {.request_delay = 5ms}},
                     {verb::look, {.request_delay = 5ms, .answer_delay = 200ms}},
                     {verb::look, {.request_delay = 5ms}}};
    rooms.async_acquire(2, asio::bind_cancellation_slot(stop.slot(), held.handler()));
    rooms.async_acquire(2, second.handler());
    rooms.async_acquire(2, third.handler());
    run_for(100ms);
    cancel(); // The third call asks again and subscribes, because the second has no reply yet.
    run_for(1s);
    const std::size_t asked_before = alice.count(verb::look);
    alice.planned = {{verb::look, {.request_delay = 20ms}}, {verb::look, {.request_delay = 10ms}}};
    rooms.async_set_permits(2, said{}.handler());
    run_for(25ms);
    EXPECT_TRUE(aborted());
    EXPECT_TRUE(second.well());
    EXPECT_FALSE(third.done());
    EXPECT_EQ(alice.count(verb::look), asked_before + 2)
        << "the second call asks, and then the third";
    second.take().async_unlock(said{}.handler());
    run_for(100ms);
    EXPECT_TRUE(third.well());
}

TEST_F(Cancellation, AWakeUpThatWasConsumedIsNotLost) {
    server.occupy("stock", 1h);
    said<lease> next;
    start();
    stock.async_lock(next.handler());
    alice.always.request_delay = 10ms;
    run_for(1s);
    server.vacate("stock");
    run_for(5ms); // woken, and asking
    cancel();
    run_for(100ms);
    EXPECT_TRUE(aborted());
    EXPECT_TRUE(next.well()) << "the wake-up went with who was cancelled";
}

/// One run: Alice waits while another program holds the lock, and her wait is cancelled after
/// `moment`.
void cancel_at(duration moment, const fate& weather) {
    SCOPED_TRACE(moment.count());
    stage all;
    actor& alice = all.enter({.poll_bound = 40ms}, 50ms);
    alice.always = weather;
    mutex stock{alice, "stock"};
    all.server.occupy("stock", 60ms);
    asio::cancellation_signal stop;
    said<lease> held;
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), held.handler()));
    all.run_for(moment);
    stop.emit(asio::cancellation_type::total);
    all.settle();
    ASSERT_TRUE(held.done());
    ASSERT_TRUE(held.well() || held.failed(asio::error::operation_aborted));
    alice.always = {};
    if (held.well())
        held.take().async_unlock(said{}.handler());
    all.run_for(5s);
    EXPECT_EQ(held_count(all.server), 0u);
    EXPECT_EQ(listener_count(all.server), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST(CancellationAnywhere, LeavesNothing) {
    for (duration moment = 0ms; moment < 150ms; ++moment)
        cancel_at(moment, fate{.request_delay = 7ms, .answer_delay = 6ms});
}

TEST(CancellationAnywhere, LeavesNothingWhenAnswersAreLost) {
    for (duration moment = 0ms; moment < 250ms; ++moment)
        cancel_at(moment, fate{.request_delay = 7ms, .answer_lost = true});
}

TEST(CancellationAnywhere, LeavesNothingWhenTheStoreIsAway) {
    for (duration moment = 0ms; moment < 150ms; ++moment)
        cancel_at(moment, fate{.refused = true});
}

// Anybody may publish on a lock's channel, as often as it likes: a storm of messages is no storm of
// requests, and one message is answered at once.

class Storm : public on_stage {
protected:
    actor& alice = enter({.poll_bound = 10s}, 1s);
    mutex stock{alice, "stock"};
    said<lease> held;
    said<bool> seen_free;

    /// A message every millisecond, and never free when somebody looks.
    void storm_for(duration length) {
        for (const time_point end = clock.now() + length; clock.now() < end; run_for(1ms)) {
            server.vacate("stock");
            server.occupy("stock", 1h);
        }
    }
    static constexpr std::size_t most_in(duration length) {
        return static_cast<std::size_t>(length / attempt_pacer::between_looks) +
               attempt_pacer::prompt_looks;
    }
};

TEST_F(Storm, OfMessagesIsNoStormOfRequests) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    run_for(1s);
    const std::size_t before = alice.count(verb::look);
    storm_for(1s);
    EXPECT_LE(alice.count(verb::look) - before, most_in(1s));
    EXPECT_GE(alice.count(verb::look) - before, most_in(1s) / 2);
}

TEST_F(Storm, TheFirstMessagesAreAnsweredAtOnce) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    run_for(1s);
    std::size_t before = alice.count(verb::look);
    for (int i = 1; i < attempt_pacer::prompt_looks; ++i) {
        storm_for(1ms);
        EXPECT_EQ(alice.count(verb::look), ++before);
    }
}

TEST_F(Storm, WhenItIsOverAReleaseIsAnsweredAtOnceAgain) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    storm_for(100ms);
    run_for(attempt_pacer::between_looks * attempt_pacer::prompt_looks);
    EXPECT_FALSE(held.done());
    server.vacate("stock");
    settle();
    EXPECT_TRUE(held.well());
}

TEST_F(Storm, AReleaseWithinItIsSeenAfterOnePause) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    storm_for(100ms);
    server.vacate("stock");
    run_for(attempt_pacer::between_looks);
    EXPECT_TRUE(held.well());
}

TEST_F(Storm, ACallThatIsOverDoesNotWaitForItsPace) {
    server.occupy("stock", 1h);
    said<std::optional<lease>> tried;
    stock.async_try_lock_for(102ms, tried.handler());
    storm_for(102ms);
    settle();
    EXPECT_TRUE(tried.well());
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(closed.well());
}

TEST_F(Storm, WhoOnlyWaitsForItToBeFreeKeepsThePaceToo) {
    server.occupy("stock", 1h);
    alice.program->async_wait_free("stock", 1h, seen_free.handler());
    run_for(1s);
    const std::size_t before = alice.count(verb::inspect);
    storm_for(1s);
    EXPECT_LE(alice.count(verb::inspect) - before, most_in(1s));
    EXPECT_GE(alice.count(verb::inspect) - before, most_in(1s) / 2);
    run_for(attempt_pacer::between_looks * attempt_pacer::prompt_looks);
    server.vacate("stock");
    settle();
    EXPECT_TRUE(seen_free.well() && seen_free.value());
}

} // namespace
} // namespace holdfast::sync
