// SPDX-License-Identifier: Apache-2.0
// Scenarios with counters: a request or its reply is lost, late or overtaken, or its caller has
// given up.
#include "sim/story.hpp"
#include "store/memory/server_state.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <tuple>

namespace holdfast::sim {
namespace {

rules of_kind(counter_kind kind) {
    rules r;
    r.counters = {kind, kind};
    return r;
}

/// Fixture in which Alice and Bob use a counter of the kind `kind`.
struct counting_story : story {
    explicit counting_story(counter_kind kind)
        : story{of_kind(kind)} {}

    /// Changes the counter as another program, over a connection without faults.
    void change(counter_verb verb, std::int64_t amount, rate to = {}) {
        counter_change what{w.name_of(0), {}, w.how.counts(0).value(), verb, amount};
        what.to = to;
        primary_state(w.server)->stranger_changes(what);
    }
    std::int64_t there() const { return w.available(0); }

    static operation by(const seat& who, deed what, std::int64_t amount, duration timeout) {
        operation o{.what = what, .who = about(who), .timeout = timeout};
        o.generation = who.of_program;
        o.amount = amount;
        return o;
    }
    template <typename Counter>
    asio::awaitable<outcome> take(seat& who, std::int64_t amount, duration timeout = 1h,
                                  cancellation plot = {}) {
        Counter it{*who.program, w.name_of(0)};
        const operation wish = by(who, deed::acquire, amount, timeout);
        ongoing call{w, wish, plot};
        const std::tuple<error_code, bool> answer =
            co_await it.async_try_acquire_for(timeout, amount, call.token());
        co_return call.ended(std::get<0>(answer), std::get<1>(answer));
    }
    template <typename Counter>
    asio::awaitable<outcome> give(seat& who, std::int64_t amount, deed what) {
        Counter it{*who.program, w.name_of(0)};
        const operation wish = by(who, what, amount, {});
        ongoing call{w, wish};
        const std::tuple<error_code> answer = co_await it.async_release(amount, call.token());
        co_return call.ended(std::get<0>(answer));
    }
    static cancellation cancelled_after(duration d) { return {.after = d}; }
};

struct CountedPermits : counting_story {
    CountedPermits()
        : counting_story{counter_kind::semaphore} {}
    asio::awaitable<outcome> acquire(seat& who, std::int64_t n, duration timeout = 1h,
                                     cancellation plot = {}) {
        return take<counting_semaphore>(who, n, timeout, plot);
    }
    asio::awaitable<outcome> release(seat& who, std::int64_t n) {
        return give<counting_semaphore>(who, n, deed::release_permits);
    }
};

// Found by the seed 1114517298: a waiter of the same client got some of the released permits, the
// store did not take the others, and the caller was told that nothing was done.
TEST_F(CountedPermits, AReleaseThatCannotSendAllOfItServesNobodyHereEither) {
    outcome waited = outcome::other;
    auto waiter = [&]() -> asio::awaitable<void> { waited = co_await acquire(alice, 1); };
    auto giver = [&]() -> asio::awaitable<void> {
        co_await sleep(100ms);
        alice.net.cut(true);
        EXPECT_EQ(co_await release(alice, 2), outcome::unreachable);
        EXPECT_EQ(waited, outcome::other) << "it waits still";
        alice.net.mend();
        EXPECT_EQ(co_await release(alice, 2), outcome::done);
        co_await sleep(3s);
        EXPECT_EQ(waited, outcome::done);
        EXPECT_EQ(there(), 1);
    };
    play(waiter, giver);
}

TEST_F(CountedPermits, AReleaseWhoseAnswerIsLostCountsOnceAndWakesOnce) {
    alice.net.next(memory::verb::change, {.answer_lost = true});
    auto scene = [&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await release(alice, 2), outcome::done);
        EXPECT_GE(now(), w.how.command_timeout);
        EXPECT_EQ(there(), 2);
    };
    play(scene);
}

TEST_F(CountedPermits, AReleaseThatIsNeverAnsweredIsUnknownAndSentNoMore) {
    auto scene = [&]() -> asio::awaitable<void> {
        alice.net.cut(false);
        EXPECT_EQ(co_await release(alice, 2), outcome::outcome_unknown);
        EXPECT_LE(now(), w.how.unavailable_timeout + w.how.command_timeout);
        alice.net.mend();
        co_await sleep(1min);
        EXPECT_EQ(there(), 0) << "the caller decides, and nobody else";
    };
    play(scene);
}

TEST_F(CountedPermits, ATakeThatItsOwnRevocationOvertookTakesNothing) {
    change(counter_verb::add, 3);
    alice.net.next(memory::verb::count, {.request_delay = 400ms, .cut_off = 1ms});
    auto scene = [&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await acquire(alice, 2, 0ms), outcome::outcome_unknown);
        co_await until(300ms);
        EXPECT_EQ(there(), 3);
        co_await until(500ms);
        EXPECT_EQ(there(), 3) << "it has come, and its revocation was there before";
    };
    play(scene);
}

TEST_F(CountedPermits, WhatACancelledCallerHasTakenIsGivenBackAndServesAnother) {
    change(counter_verb::add, 2);
    alice.net.next(memory::verb::count, {.answer_delay = 300ms});
    auto cancelled = [&]() -> asio::awaitable<void> {
        const cancellation plot = cancelled_after(100ms);
        EXPECT_EQ(co_await acquire(alice, 2, 1h, plot), outcome::cancelled);
        EXPECT_EQ(now(), 100ms);
    };
    auto other = [&]() -> asio::awaitable<void> {
        co_await sleep(50ms);
        EXPECT_EQ(co_await acquire(bob, 2), outcome::done);
        EXPECT_LE(now(), 400ms) << "it is told";
        EXPECT_EQ(there(), 0);
        EXPECT_EQ(co_await release(bob, 2), outcome::done);
    };
    play(cancelled, other);
}

struct LeasedPermits : counting_story {
    LeasedPermits()
        : counting_story{counter_kind::permits} {}
    asio::awaitable<held> acquire(seat& who, std::uint32_t n, duration timeout = 1h,
                                  cancellation plot = {}) {
        leased_semaphore it{*who.program, w.name_of(0)};
        const operation wish = by(who, deed::acquire, n, timeout);
        ongoing call{w, wish, plot};
        std::tuple<error_code, std::optional<lease>> answer =
            co_await it.async_try_acquire_for(timeout, n, call.token());
        std::optional<lease>& got = std::get<1>(answer);
        if (call.ended(std::get<0>(answer), got.has_value()) != outcome::done)
            co_return nullptr;
        co_return std::make_unique<grip>(w, wish.who, std::move(*got), w.how.lease_time);
    }
    asio::awaitable<bool> give_back_one(seat& who, std::string id) {
        leased_semaphore it{*who.program, w.name_of(0)};
        const operation wish = by(who, deed::give_back_permit, 0, {});
        ongoing call{w, wish};
        const std::tuple<error_code, bool> answer = co_await it.async_release(id, call.token());
        co_return call.ended(std::get<0>(answer)) == outcome::done&& std::get<1>(answer);
    }
};

TEST_F(LeasedPermits, AReleaseWhoseAnswerIsLostGivesBackOnce) {
    change(counter_verb::add, 3);
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await acquire(alice, 2);
        const held others = co_await acquire(bob, 1);
        alice.net.next(memory::verb::release, {.answer_lost = true});
        EXPECT_EQ(co_await give_back(mine), outcome::done);
        EXPECT_EQ(there(), 2);
    };
    play(scene);
}

TEST_F(LeasedPermits, AGrantWhoseAnswerIsLostIsTakenOnce) {
    change(counter_verb::add, 3);
    alice.net.next(memory::verb::look, {.answer_lost = true});
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await acquire(alice, 2);
        EXPECT_TRUE(mine);
        EXPECT_EQ(there(), 1);
        EXPECT_EQ(co_await give_back(mine), outcome::done);
    };
    play(scene);
}

TEST_F(LeasedPermits, OneThatIsGivenBackBySomebodyElseLosesTheLeaseAndTheRestComesBack) {
    change(counter_verb::add, 3);
    auto scene = [&]() -> asio::awaitable<void> {
        const held mine = co_await acquire(alice, 3);
        const std::string id = mine->what().permits.at(1);
        EXPECT_TRUE(co_await give_back_one(bob, id));
        EXPECT_EQ(there(), 1);
        co_await sleep(w.how.lease_time / 3 + 10ms); // the next renewal of the holder
        EXPECT_TRUE(mine->what().told_lost);
        co_await sleep(10ms);
        EXPECT_EQ(there(), 3);
    };
    play(scene);
}

TEST_F(LeasedPermits, OfOneWhoIsCutOffTheyComeBackOnceAndHeHasLostThemBefore) {
    change(counter_verb::add, 2);
    auto scene = [&]() -> asio::awaitable<void> {
        const held mine = co_await acquire(alice, 2);
        alice.net.cut(true);
        const held next = co_await acquire(bob, 2);
        EXPECT_TRUE(next);
        EXPECT_TRUE(mine->what().told_lost);
        EXPECT_LE(now(), w.how.lease_time + 100ms) << "when they end, not at the next poll";
        alice.net.mend();
        co_await sleep(5s);
        EXPECT_EQ(there(), 0) << "what it releases late is another's by now";
    };
    play(scene);
}

struct Latched : counting_story {
    Latched()
        : counting_story{counter_kind::latch} {}
    asio::awaitable<outcome> wait(seat& who, duration timeout = 1h, cancellation plot = {}) {
        latch it{*who.program, w.name_of(0)};
        const operation wish = by(who, deed::wait, 0, timeout);
        ongoing call{w, wish, plot};
        const std::tuple<error_code, bool> answer =
            co_await it.async_wait_for(timeout, call.token());
        co_return call.ended(std::get<0>(answer), std::get<1>(answer));
    }
    asio::awaitable<outcome> count_down(seat& who, std::int64_t n = 1) {
        latch it{*who.program, w.name_of(0)};
        const operation wish = by(who, deed::count_down, n, {});
        ongoing call{w, wish};
        const std::tuple<error_code, bool> answer = co_await it.async_count_down(n, call.token());
        co_return call.ended(std::get<0>(answer));
    }
};

TEST_F(Latched, CountedDownWithALostAnswerItCountsOnce) {
    change(counter_verb::set_new, 3);
    auto scene = [&]() -> asio::awaitable<void> {
        alice.net.next(memory::verb::change, {.answer_lost = true});
        EXPECT_EQ(co_await count_down(alice), outcome::done);
        EXPECT_EQ(there(), 2);
        EXPECT_EQ(co_await wait(bob, 0ms), outcome::nothing);
        change(counter_verb::count_down, 2);
    };
    play(scene);
}

TEST_F(Latched, WhoeverWaitedIsLetThroughWithOneLookAndWhoComesLaterLooksItself) {
    change(counter_verb::set_new, 1);
    int through = 0;
    auto waiter = [&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await wait(alice), outcome::done);
        EXPECT_EQ(now(), 1s);
        ++through;
    };
    auto late = [&]() -> asio::awaitable<void> {
        co_await until(1s);
        change(counter_verb::count_down, 1);
        co_await sleep(1ms);
        EXPECT_EQ(through, 3);
        change(counter_verb::set_new, 1);
        EXPECT_EQ(co_await wait(alice, 100ms), outcome::nothing) << "it is shut again";
        change(counter_verb::erase, 0);
        // until then, the call that gave up blocks a call with timeout zero
        co_await sleep(1ms);
        EXPECT_EQ(co_await wait(alice, 0ms), outcome::done);
    };
    play(waiter, waiter, waiter, late);
}

TEST_F(Latched, AWaiterThatIsToldOfNothingLooksByItself) {
    change(counter_verb::set_new, 1);
    bob.net.set({.deaf = 100});
    auto waiter = [&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await wait(bob), outcome::done);
        EXPECT_LE(now(), 100ms + w.how.poll_bound);
        bob.net.set({});
    };
    auto other = [&]() -> asio::awaitable<void> {
        co_await until(100ms);
        EXPECT_EQ(co_await count_down(alice), outcome::done);
    };
    play(waiter, other);
}

struct Drawn : counting_story {
    Drawn()
        : counting_story{counter_kind::rate} {}
    asio::awaitable<outcome> draw(seat& who, std::int64_t n, duration timeout = 1h,
                                  cancellation plot = {}) {
        return take<rate_limiter>(who, n, timeout, plot);
    }
    void set(std::int64_t permits, duration per) {
        change(counter_verb::set, 0,
               {.permits = permits, .per = per, .scope = rate::scope_of::overall, .kept = {}});
    }
};

TEST_F(Drawn, ADrawWhoseAnswerIsLostCountsOnce) {
    set(3, 1h);
    alice.net.next(memory::verb::count, {.answer_lost = true});
    auto scene = [&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await draw(alice, 2), outcome::done);
        EXPECT_EQ(there(), 1);
    };
    play(scene);
}

TEST_F(Drawn, ADrawThatIsRepeatedAfterItsIntervalIsDrawnAnew) {
    set(1, 100ms);
    alice.net.next(memory::verb::count, {.answer_lost = true});
    auto scene = [&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await draw(alice, 1), outcome::done);
        EXPECT_GE(now(), w.how.command_timeout);
        EXPECT_EQ(there(), 0);
        EXPECT_EQ(co_await draw(bob, 1, 0ms), outcome::nothing) << "two at once";
        co_await sleep(100ms);
        EXPECT_EQ(co_await draw(bob, 1, 0ms), outcome::done);
    };
    play(scene);
}

TEST_F(Drawn, WhatACancelledCallerHasDrawnIsGivenBack) {
    set(3, 1h);
    alice.net.next(memory::verb::count, {.answer_delay = 300ms});
    auto scene = [&]() -> asio::awaitable<void> {
        const cancellation plot = cancelled_after(100ms);
        EXPECT_EQ(co_await draw(alice, 2, 1h, plot), outcome::cancelled);
        EXPECT_EQ(now(), 100ms);
        co_await until(310ms);
        EXPECT_EQ(there(), 3);
    };
    play(scene);
}

TEST_F(Drawn, ADrawThatWhatGivesItBackOvertookIsGivenBackOnceMore) {
    set(3, 1h);
    alice.net.next(memory::verb::count, {.request_delay = 400ms, .cut_off = 1ms});
    auto scene = [&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await draw(alice, 2, 0ms), outcome::outcome_unknown);
        co_await until(500ms);
        EXPECT_EQ(there(), 1) << "the late request is carried out, and nobody wants it";
        co_await until(w.how.command_timeout + 10ms);
        EXPECT_EQ(there(), 3);
    };
    play(scene);
}

TEST_F(Drawn, WhoWaitsIsServedWhenTheIntervalIsOver) {
    set(2, 10s);
    auto scene = [&]() -> asio::awaitable<void> {
        EXPECT_EQ(co_await draw(alice, 2), outcome::done);
        EXPECT_EQ(co_await draw(bob, 1, 9s), outcome::nothing);
        EXPECT_EQ(co_await draw(bob, 1), outcome::done);
        EXPECT_EQ(now(), 10s);
    };
    play(scene);
}

} // namespace
} // namespace holdfast::sim
