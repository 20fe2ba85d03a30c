// SPDX-License-Identifier: Apache-2.0
// client::close in every state that a client can be in.
#include "support/clocks.hpp"
#include "support/recorder.hpp"
#include "support/wrapped_store.hpp"
#include "unit/sync/stage.hpp"

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::sync {
namespace {

class Close : public on_stage {
protected:
    actor& alice = enter({.release_timeout = 3s, .close_timeout = 5s}, 1s);
    mutex stock{alice, "stock"};
    said<lease> held;
    said<> released;
};

TEST_F(Close, OfAnIdleClientTakesNoTime) {
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, AgainIsFineBeforeAndAfterTheFirstIsDone) {
    lease mine = taken(stock);
    const said<> first = close(alice), second = close(alice);
    run_for(1s);
    EXPECT_FALSE(first.done() || second.done());
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(first.well() && second.well());
    const said<> third = close(alice);
    settle();
    EXPECT_TRUE(third.well());
}

TEST_F(Close, FailsWhoeverWaits) {
    server.occupy("stock", 1h);
    said<std::optional<lease>> timed;
    said<lease> queued;
    stock.async_lock(held.handler());
    stock.async_try_lock_for(1h, timed.handler());
    stock.async_lock(queued.handler());
    run_for(1s);
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(held.failed(errc::closed));
    EXPECT_TRUE(timed.failed(errc::closed));
    EXPECT_TRUE(queued.failed(errc::closed));
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(listener_count(server), 0u);
}

TEST_F(Close, AfterwardsEveryVerbSaysSoAndSendsNothing) {
    close(alice);
    settle();
    alice.log.clear();
    said<std::optional<lease>> tried;
    said<bool> locked, forced;
    said<std::optional<duration>> remaining;
    stock.async_lock(held.handler());
    stock.async_try_lock(tried.handler());
    stock.async_is_locked(locked.handler());
    stock.async_remaining_lease(remaining.handler());
    stock.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(held.failed(errc::closed));
    EXPECT_TRUE(tried.failed(errc::closed));
    EXPECT_TRUE(locked.failed(errc::closed));
    EXPECT_TRUE(remaining.failed(errc::closed));
    EXPECT_TRUE(forced.failed(errc::closed));
    EXPECT_TRUE(alice.log.empty());
}

TEST_F(Close, WhileItLastsNothingNewBegins) {
    const lease mine = taken(stock);
    close(alice);
    settle();
    stock.async_lock(held.handler());
    settle();
    EXPECT_TRUE(held.failed(errc::closed));
}

TEST_F(Close, TellsHoldersAtOnceAndLetsThemRelease) {
    lease mine = taken(stock);
    const std::stop_token lost = mine.lost();
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_TRUE(mine.in_danger().stop_requested());
    EXPECT_FALSE(mine.owns_lock());
    EXPECT_FALSE(closed.done());
    run_for(4s);
    EXPECT_EQ(held_count(server), 1u) << "it was released from under its holder";
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Close, WaitsForNobodyLongerThanItsTimeout) {
    lease mine = taken(stock);
    const said<> closed = close(alice);
    run_for(5s - 1ms);
    EXPECT_FALSE(closed.done());
    run_for(1ms);
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(held_count(server), 1u);
    run_for(30s);
    EXPECT_EQ(held_count(server), 0u) << "it is still renewed";
}

TEST_F(Close, AReleaseAfterItFailsAndSpinsNot) {
    lease mine = taken(stock);
    close(alice);
    run_for(5s);
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.failed(errc::closed));
    run_for(1h);
    EXPECT_EQ(alice.count(verb::release), 0u);
}

TEST_F(Close, ALeaseThatIsDestroyedAfterItDoesNoHarm) {
    {
        const lease mine = taken(stock);
        close(alice);
        run_for(5s);
    }
    settle();
}

TEST_F(Close, KeepsRenewingWhileHoldersStillWork) {
    actor& bob = enter({.lease_time = 3s, .close_timeout = 20s});
    mutex his{bob, "shelf"};
    lease mine = taken(his);
    const said<> closed = close(bob);
    run_for(19s);
    EXPECT_TRUE(inspect(server, "shelf")) << "its lease ended although there was patience";
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, AHoldIsToldLostOnceThoughItsTermEndsBeforeTheCloseDoes) {
    actor& bob = enter({.lease_time = 3s, .max_hold = 5s, .close_timeout = 20s});
    mutex his{bob, "shelf"};
    const lease mine = taken(his);
    close(bob);
    run_for(19s);
    ASSERT_EQ(bob.ear->count(event_kind::lost), 1u);
    EXPECT_EQ(bob.ear->last(event_kind::lost)->cause, event_cause::closed);
    EXPECT_EQ(bob.ear->count(event_kind::in_danger), 0u) << "of what is lost already";
}

TEST_F(Close, AHoldIsToldLostOnceThoughItsReleaseFindsItGone) {
    lease mine = taken(stock);
    close(alice);
    settle();
    server.evict("stock");
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.failed(errc::lease_lost));
    EXPECT_EQ(alice.ear->count(event_kind::lost), 1u);
}

TEST_F(Close, ReleasesEverythingWhereThatIsAskedFor) {
    actor& bob = enter({.close_timeout = 5s, .release_on_close = true});
    recursive_mutex his{bob, "shelf"};
    lease outer = taken(his);
    said<lease> inner;
    his.async_lock(outer, inner.handler());
    settle();
    const said<> closed = close(bob);
    run_for(5s - 1ms);
    EXPECT_EQ(held_count(server), 1u);
    run_for(1ms);
    EXPECT_EQ(held_count(server), 0u);
    EXPECT_TRUE(closed.well());
    outer.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.done());
    EXPECT_TRUE(released.code()) << "it was released before";
}

TEST_F(Close, DoesNotWaitForAStoreThatIsAway) {
    actor& bob = enter({.release_timeout = 3s, .close_timeout = 5s, .release_on_close = true}, 1s);
    mutex his{bob, "shelf"};
    const lease mine = taken(his);
    bob.always = fate{.request_lost = true};
    const said<> closed = close(bob);
    run_for(5s + 3s);
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, EndsAReleaseThatIsRepeatedInTheBackground) {
    lease mine = taken(stock);
    alice.always.refused = true;
    mine.async_unlock(released.handler());
    run_for(1s);
    const said<> closed = close(alice);
    run_for(5s);
    EXPECT_TRUE(closed.well());
    EXPECT_TRUE(released.done());
    alice.log.clear();
    run_for(1h);
    EXPECT_TRUE(alice.log.empty());
    EXPECT_EQ(left_in(alice).tasks, 0u);
}

TEST_F(Close, CompletesWhenWhatWasUnderWayHasEnded) {
    lease mine = taken(stock);
    alice.always.request_lost = true;
    mine.async_unlock(released.handler());
    run_for(100ms);
    std::optional<std::size_t> under_way;
    alice.program->async_close([&](error_code) { under_way = left_in(alice).tasks; });
    run_for(5s);
    EXPECT_EQ(under_way, 0u) << "it may still use the clock and the executor";
}

TEST_F(Close, GivesAReleaseUnderWayTheTimeToEnd) {
    lease mine = taken(stock);
    alice.always.refused = true;
    mine.async_unlock(released.handler());
    run_for(1s);
    const said<> closed = close(alice);
    run_for(1s);
    EXPECT_FALSE(closed.done());
    alice.always.refused = false;
    run_for(1s);
    EXPECT_TRUE(closed.well());
    EXPECT_TRUE(released.well());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Close, WhileALookIsUnderWayLeavesNothingBehind) {
    for (const duration moment : {50ms, 150ms}) { // not executed yet; executed and not answered
        actor& bob = enter({}, 1s);
        mutex his{bob, "stock"};
        said<lease> wanted;
        bob.always = fate{.request_delay = 100ms, .answer_delay = 100ms};
        his.async_lock(wanted.handler());
        run_for(moment);
        const said<> closed = close(bob);
        settle();
        EXPECT_TRUE(wanted.failed(errc::closed));
        run_for(2s);
        EXPECT_TRUE(closed.well());
        EXPECT_EQ(held_count(server), 0u) << "what was granted meanwhile blocks the others";
        server.evict("stock");
    }
}

TEST_F(Close, WhileAnAttemptIsUndoneWaitsForThat) {
    asio::cancellation_signal stop;
    alice.always.answer_delay = 100ms;
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), held.handler()));
    run_for(50ms);
    stop.emit(asio::cancellation_type::total);
    run_for(60ms); // granted, and its release is under way
    const said<> closed = close(alice);
    run_for(1s);
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Close, WhileARenewalIsUnderWay) {
    const lease mine = taken(stock);
    alice.always.answer_delay = 900ms;
    run_for(10s + 10ms);
    const said<> closed = close(alice);
    run_for(5s);
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, WhileALeaseIsExtended) {
    lease mine = taken(stock);
    alice.always.answer_delay = 900ms;
    said<> extended;
    mine.async_extend(lease_time{1min}, extended.handler());
    run_for(10ms);
    const said<> closed = close(alice);
    run_for(6s);
    EXPECT_TRUE(extended.done());
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, FromInsideALossCallback) {
    const lease mine = taken(stock);
    said<> closed;
    const std::stop_callback on_loss{mine.lost(),
                                     [&] { alice.program->async_close(closed.handler()); }};
    server.evict("stock");
    run_for(10s);
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, AReleaseInsideTheLossThatItCauses) {
    lease mine = taken(stock);
    const std::stop_callback on_loss{mine.lost(), [&] { mine.async_unlock(released.handler()); }};
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Close, ADestroyedClientClosesInTheBackground) {
    lease mine = taken(stock);
    server.occupy("shelf", 1h);
    mutex shelf{alice, "shelf"};
    shelf.async_lock(held.handler());
    run_for(1s);
    alice.program.reset();
    settle();
    EXPECT_TRUE(held.failed(errc::closed));
    EXPECT_TRUE(mine.lost().stop_requested());
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
}

TEST_F(Close, AMovedClientIsTheSameClient) {
    client moved{std::move(*alice.program)};
    const lease mine = taken(stock);
    EXPECT_TRUE(mine.owns_lock());
    *alice.program = std::move(moved);
    EXPECT_TRUE(mine.owns_lock());
}

TEST_F(Close, AssigningToAClientClosesWhatItWas) {
    actor& bob = enter();
    const lease mine = taken(stock);
    *alice.program = std::move(*bob.program);
    run_for(5s);
    EXPECT_TRUE(mine.lost().stop_requested());
    mutex his{*alice.program, "shelf"};
    EXPECT_TRUE(taken(his).owns_lock());
}

// When closing has completed, a user's clock may be destroyed: nothing of the client's asks it any
// more, and no alarm of it is left. A clock that knows when it was destroyed shows it without a
// sanitizer.

using namespace std::chrono_literals;
using support::said;

/// Counts who touches it, or an alarm of its, after its end.
class mortal_clock final : public clock {
public:
    explicit mortal_clock(clock& real)
        : real_{real} {}

    time_point now() const noexcept override {
        touch();
        return real_.now();
    }
    std::unique_ptr<alarm> make_alarm() override {
        touch();
        return std::make_unique<mortal_alarm>(*this, real_.make_alarm());
    }

    void die() { dead_ = true; }
    int touched_after_its_end() const { return touched_; }
    int alarms() const { return alarms_; }

private:
    class mortal_alarm final : public alarm {
    public:
        mortal_alarm(mortal_clock& home, std::unique_ptr<alarm> real)
            : home_{home}
            , real_{std::move(real)} {
            ++home_.alarms_;
        }
        ~mortal_alarm() override {
            home_.touch();
            --home_.alarms_;
        }
        asio::awaitable<void> wait_until(time_point when) override {
            home_.touch();
            co_await real_->wait_until(when);
            home_.touch();
        }
        void ring() noexcept override {
            home_.touch();
            real_->ring();
        }

    private:
        mortal_clock& home_;
        const std::unique_ptr<alarm> real_;
    };

    void touch() const { touched_ += dead_ ? 1 : 0; }

    clock& real_;
    mutable int touched_ = 0;
    int alarms_ = 0;
    bool dead_ = false;
};

class AfterClose : public testing::Test {
protected:
    asio::io_context io;
    sim::sim_clock real{io};
    mortal_clock time{real};
    memory::server server{real};
    memory::fate always{};
    std::optional<client> home{std::in_place, io.get_executor(), time, how()};
    mutex stock{*home, "stock"};

    options how() {
        return options{.store = server.connect([this](const auto&) { return always; }, 10min),
                       .close_timeout = 0ms};
    }
    lease taken(const char* name) {
        mutex lock{*home, name};
        said<lease> held;
        lock.async_lock(held.handler());
        real.run_for(0ms);
        return held.take();
    }
    /// The clock dies within the handler.
    void close() {
        home->async_close([this](error_code) { time.die(); });
        real.run_for(0ms);
    }
    void expect_untouched() {
        EXPECT_EQ(time.touched_after_its_end(), 0);
        EXPECT_EQ(time.alarms(), 0) << "an alarm outlives its clock";
        real.run_for(1h);
        EXPECT_EQ(time.touched_after_its_end(), 0);
    }
};

TEST_F(AfterClose, TheClockDiesFirst) {
    const lease held = taken("stock");
    close();
    expect_untouched();
    (void)held.remaining();
    home.reset();
    expect_untouched();
}

TEST_F(AfterClose, TheClientDiesFirst) {
    const lease held = taken("stock");
    home->async_close([this](error_code) { time.die(); });
    home.reset();
    real.run_for(0ms);
    expect_untouched();
}

TEST_F(AfterClose, ARenewalThatIsUnderWayEndsBefore) {
    const lease held = taken("stock");
    always.answer_delay = 1min;
    real.run_for(10s);
    close();
    expect_untouched();
}

TEST_F(AfterClose, WhoeverWaitsAtAGateEndsBefore) {
    const lease held = taken("stock");
    said<std::optional<lease>> first, second;
    stock.async_try_lock_for(1h, first.handler());
    stock.async_try_lock_for(2h, second.handler());
    real.run_for(1s);
    close();
    expect_untouched();
    EXPECT_TRUE(first.failed(errc::closed));
}

TEST_F(AfterClose, WhoeverWaitsForOthersEndsBefore) {
    server.occupy("stock", 1h);
    said<lease> held;
    said<bool> seen_free;
    stock.async_lock(held.handler());
    home->async_wait_free("stock", 1h, seen_free.handler());
    real.run_for(1s);
    close();
    expect_untouched();
    EXPECT_TRUE(held.failed(errc::closed));
}

TEST_F(AfterClose, AnAttemptThatIsUnderWayEndsBefore) {
    always.request_delay = 1min;
    said<lease> held;
    stock.async_lock(held.handler());
    real.run_for(1s);
    close();
    expect_untouched();
}

TEST_F(AfterClose, ARepeatedReleaseEndsBefore) {
    lease held = taken("stock");
    always.refused = true;
    said<> released;
    held.async_unlock(released.handler());
    real.run_for(10ms);
    close();
    expect_untouched();
    EXPECT_TRUE(released.done());
}

class AfterCloseOfTheStore : public AfterClose {
protected:
    options how_with_loops() {
        options all = how();
        all.store = [this, real_store = all.store](store_context context) {
            begin_loop = context.at_work;
            return real_store(std::move(context));
        };
        return all;
    }
    bool closed_after(duration passes) {
        if (!std::exchange(closing, true))
            other->async_close([this](error_code) { closed = true; });
        real.run_for(passes);
        return closed;
    }

    std::function<std::shared_ptr<void>()> begin_loop;
    std::optional<client> other{std::in_place, io.get_executor(), time, how_with_loops()};
    bool closing = false, closed = false;
};

TEST_F(AfterCloseOfTheStore, ItsLoopsHaveEnded) {
    auto first = begin_loop();
    auto second = begin_loop();
    second.reset();
    second = begin_loop();
    EXPECT_FALSE(closed_after(10ms));
    second.reset();
    EXPECT_FALSE(closed_after(10ms));
    first.reset();
    EXPECT_TRUE(closed_after(0ms));
}

TEST_F(AfterCloseOfTheStore, ALoopThatNeverEndsKeepsNobody) {
    auto stuck = begin_loop();
    EXPECT_FALSE(closed_after(900ms));
    EXPECT_TRUE(closed_after(100ms));
    other.reset();
    stuck.reset(); // the engine is gone
}

TEST_F(AfterClose, WhatIsAskedThenFailsWithoutTheClock) {
    lease held = taken("stock");
    close();
    said<lease> wanted;
    said<std::optional<lease>> tried;
    said<> released, extended, again;
    said<bool> seen_free;
    stock.async_lock(wanted.handler());
    stock.async_try_lock_for(1h, tried.handler());
    held.async_extend(lease_time{1min}, extended.handler());
    held.async_unlock(released.handler());
    home->async_wait_free("stock", 1h, seen_free.handler());
    home->async_close(again.handler());
    expect_untouched();
    EXPECT_TRUE(wanted.failed(errc::closed));
    EXPECT_TRUE(tried.failed(errc::closed));
    EXPECT_TRUE(again.well());
}

TEST_F(AfterClose, TwoWhoCloseAreBothToldAtTheEnd) {
    const lease held = taken("stock");
    always.answer_delay = 1min;
    real.run_for(10s);
    said<> first;
    home->async_close(first.handler());
    close();
    EXPECT_TRUE(first.well());
    expect_untouched();
}

/// Renews for ever, and does not end when it is closed.
class stuck_locks final : public support::wrapped_locks {
public:
    stuck_locks(lock_store& real, clock& time)
        : wrapped_locks{real}
        , time_{time} {}
    asio::awaitable<void> renew(hold_list, const renewal_options&, renewal_sink&) override {
        const std::unique_ptr<alarm> nap = time_.make_alarm();
        co_await nap->wait_until(time_.now() + 1h);
    }

private:
    clock& time_;
};

TEST(AfterCloseOfAStuckStore, NobodyWaitsLongerThanASecond) {
    asio::io_context io;
    sim::sim_clock time{io};
    memory::server server{time};
    auto make_stuck = [&](store_context context) {
        return std::make_unique<support::wrapped_store<stuck_locks>>(
            server.connect()(std::move(context)), time);
    };
    client home{io.get_executor(), time, options{.store = make_stuck, .close_timeout = 0ms}};
    mutex stock{home, "stock"};
    said<lease> held;
    stock.async_lock(held.handler());
    time.run_for(10s);
    said<> closed;
    home.async_close(closed.handler());
    time.run_for(999ms);
    EXPECT_FALSE(closed.done());
    time.run_for(1ms);
    EXPECT_TRUE(closed.well());
    time.run_for(2h);
}

// Stop callbacks run on the client's executor while the library holds none of its internal mutexes,
// even if other threads get a token meanwhile.

class StopCallbacks : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 1s);
    mutex stock{alice, "stock"};
    std::vector<std::string> told;

    void lose() {
        server.evict("stock");
        run_for(10s);
    }
};

TEST_F(StopCallbacks, WhoAsksForTheLossBetweenDangerAndLossRunsNobodysCallback) {
    const lease held = taken(stock);
    const std::stop_callback on_loss{held.lost(), [&] {
                                         EXPECT_EQ(held.remaining(), 0ms); // asks under the mutex
                                         told.emplace_back("lost");
                                     }};
    const std::stop_callback on_danger{held.in_danger(), [&] {
                                           told.emplace_back("danger");
                                           const bool over = held.lost().stop_requested();
                                           told.emplace_back(over ? "it is over" : "it is held");
                                       }};
    lose();
    EXPECT_THAT(told, testing::ElementsAre("danger", "it is over", "lost"));
}

TEST_F(StopCallbacks, ATokenFirstAskedForBetweenDangerAndLossIsStoppedOnce) {
    const lease held = taken(stock);
    std::optional<std::stop_callback<std::function<void()>>> on_loss;
    const std::stop_callback on_danger{
        held.in_danger(),
        [&] { on_loss.emplace(held.lost(), [&] { told.emplace_back("lost"); }); }};
    lose();
    EXPECT_THAT(told, testing::ElementsAre("lost"));
}

TEST_F(StopCallbacks, ATokenAskedForAfterTheLossIsStoppedAlready) {
    const lease held = taken(stock);
    lose();
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_TRUE(held.in_danger().stop_requested());
    EXPECT_TRUE(held.lost() == held.lost()) << "each question makes another one";
}

TEST_F(StopCallbacks, ATokenAskedForInsideTheWarningIsStoppedAlready) {
    const lease held = taken(stock);
    const std::stop_callback on_danger{held.in_danger(), [&] {
                                           const bool warned = held.in_danger().stop_requested();
                                           told.emplace_back(warned ? "warned" : "not yet");
                                       }};
    alice.always.refused = true;
    run_for(21s);
    EXPECT_THAT(told, testing::ElementsAre("warned"));
    EXPECT_FALSE(held.lost().stop_requested());
    alice.always.refused = false;
}

TEST_F(StopCallbacks, ATokenAskedForWhileTheClientClosesIsStoppedAlready) {
    const lease held = taken(stock);
    close(alice);
    settle();
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_TRUE(held.in_danger().stop_requested());
}

} // namespace
} // namespace holdfast::sync
