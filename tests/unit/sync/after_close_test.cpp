// SPDX-License-Identifier: Apache-2.0
// When closing has completed, a user's clock may be destroyed: nothing of the client's asks it any
// more, and no alarm of it is left. A clock that knows when it was destroyed shows it without a
// sanitizer.
#include "support/said.hpp"
#include "support/sim_clock.hpp"
#include "support/wrapped_store.hpp"

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::sync {
namespace {

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
                       .close_patience = 0ms};
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
    asio::awaitable<void> renew(hold_list, const renewal_wishes&, renewal_sink&) override {
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
    client home{io.get_executor(), time, options{.store = make_stuck, .close_patience = 0ms}};
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

} // namespace
} // namespace holdfast::sync
