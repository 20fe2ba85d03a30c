// SPDX-License-Identifier: Apache-2.0
// Clocks that tests control: a simulated clock, the machine's clock plus an offset, and the date of
// another process.
#pragma once

#include "runtime/clock.hpp"

#include <holdfast/time.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

/// Simulated clock. It jumps to the next alarm when no task can run, so an hour of renewals takes
/// milliseconds, and the same seed gives the same run.
///
///     asio::io_context io;
///     sim::sim_clock clock{io};       // before all objects that wait on it
///     clock.run_for(60s);
class sim_clock final : public clock {
public:
    /// The clock does not start at zero, because some wire formats use zero for "no time".
    explicit sim_clock(asio::io_context& io, time_point start = time_point{std::chrono::hours{24}})
        : io_{io}
        , now_{start} {}

    /// Removes the handlers of all sleepers: a sleeping coroutine and the alarm in its frame would
    /// keep each other alive.
    ~sim_clock() override {
        while (!sleepers_.empty())
            sleepers_.begin()->second->forget_sleeper();
    }

    time_point now() const noexcept override { return now_; }
    std::unique_ptr<alarm> make_alarm() override { return std::make_unique<sim_alarm>(*this); }

    /// Runs all ready tasks and jumps to the next alarm, again and again until `end`.
    void run_until(time_point end) {
        do
            run_ready();
        while (jump_to_next(end));
        move_to(std::max(now_, end));
    }
    void run_for(duration length) { run_until(now_ + length); }

    /// Moves the clock without running tasks, as in a stopped process.
    void stand_still(duration length) { move_to(now_ + length); }

    /// Runs until no alarm is left. The clock then shows the time of the last alarm. Returns false
    /// if there are still alarms after `limit`.
    bool run_until_idle(duration limit = std::chrono::hours{24}) {
        const time_point end = now_ + limit;
        do
            run_ready();
        while (jump_to_next(end));
        return sleepers_.empty() || sleepers_.begin()->first == time_point::max();
    }

    /// Moves the clock without running tasks, as if a handler blocked the executor.
    void block_for(duration length) { move_to(now_ + length); }

    // Single steps, for a test that checks the state between two steps.

    /// Runs one ready task. Returns false if no task is ready.
    bool step() {
        io_.restart();
        if (io_.poll_one() == 0)
            return false;
        if (++steps_ > steps_max)
            throw std::logic_error{"sim_clock: the program spins, time cannot go on"};
        return true;
    }

    /// Moves the clock to the next alarm and wakes its sleeper. Call it when no task is ready.
    /// Returns false if there is no alarm until `end`.
    bool jump_to_next(time_point end) {
        const auto next = sleepers_.begin();
        if (next == sleepers_.end() || next->first > end || next->first == time_point::max())
            return false;
        move_to(std::max(now_, next->first));
        next->second->wake();
        return true;
    }

    /// Returns the number of sleepers, including those without a wake-up time.
    std::size_t sleepers() const noexcept { return sleepers_.size(); }

private:
    class sim_alarm final : public alarm {
    public:
        explicit sim_alarm(sim_clock& clock)
            : clock_{clock} {}
        ~sim_alarm() override {
            if (sleeper_)
                forget_sleeper();
        }

        asio::awaitable<void> wait_until(time_point when) override {
            if (std::exchange(rung_, false) || when <= clock_.now())
                co_return;
            auto fall_asleep = [this, when](auto handler) {
                sleeper{std::move(handler)}.swap(sleeper_);
                entry_ = clock_.sleepers_.emplace(when, this);
            };
            co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
                fall_asleep, asio::use_awaitable);
            rung_ = false; // all earlier rings have woken this coroutine
        }

        void ring() noexcept override {
            rung_ = true;
            if (sleeper_)
                wake();
        }

        void wake() { asio::post(clock_.io_, take_sleeper()); }
        void forget_sleeper() { (void)take_sleeper(); }

    private:
        // Handlers are swapped, because their move assignment recurses without end in Boost 1.81.
        using sleeper = asio::any_completion_handler<void()>;

        sleeper take_sleeper() {
            clock_.sleepers_.erase(entry_);
            sleeper taken;
            taken.swap(sleeper_);
            return taken;
        }

        // Use it only while a sleeper waits: the clock may be destroyed before this alarm.
        sim_clock& clock_;
        sleeper sleeper_;
        // Position in `clock_.sleepers_`, valid while a sleeper waits.
        std::multimap<time_point, sim_alarm*>::iterator entry_;
        bool rung_ = false;
    };

    void run_ready() {
        while (step())
            ;
    }

    void move_to(time_point when) {
        if (std::exchange(now_, when) != when)
            steps_ = 0;
    }

    // Maximum number of tasks that run while the clock shows the same time.
    static constexpr std::size_t steps_max = 10'000'000;

    asio::io_context& io_;
    time_point now_;
    std::size_t steps_ = 0;
    // Sleepers by their times. Those with the same time wake in the order of their calls.
    std::multimap<time_point, sim_alarm*> sleepers_;
};

} // namespace holdfast::sim

namespace holdfast::support {

// The machine's clock plus an offset, with which a test lets an hour pass for a client.

/// Real clock that a test can move forward. Thread safety: any thread may call `now` and `shift`;
/// call all other members on the executor.
class shifted_clock final : public clock {
public:
    explicit shifted_clock(asio::any_io_executor executor)
        : executor_{executor}
        , real_{std::move(executor)} {}

    time_point now() const noexcept override { return real_.now() + ahead_.load(); }
    std::unique_ptr<alarm> make_alarm() override {
        return std::make_unique<shifted_alarm>(*this, real_.make_alarm());
    }

    /// Moves the clock forward at once and wakes all sleepers. A sleeper whose time has not come
    /// sleeps again.
    void shift(duration by) {
        ahead_ = ahead_.load() + by;
        asio::post(executor_, [awake = awake_] {
            for (alarm* each : *awake)
                each->ring();
        });
    }

private:
    using sleepers = std::set<alarm*>;

    class shifted_alarm final : public alarm {
    public:
        shifted_alarm(const shifted_clock& clock, std::unique_ptr<alarm> real)
            : clock_{clock}
            , real_{std::move(real)} {}
        ~shifted_alarm() override { sleepers_->erase(real_.get()); }

        asio::awaitable<void> wait_until(time_point when) override {
            sleepers_->insert(real_.get());
            const bool never = when == time_point::max();
            co_await real_->wait_until(never ? when : when - clock_.ahead_.load());
            sleepers_->erase(real_.get());
        }
        void ring() noexcept override { real_->ring(); }

    private:
        const shifted_clock& clock_;
        const std::unique_ptr<alarm> real_;
        const std::shared_ptr<sleepers> sleepers_ = clock_.awake_;
    };

    const asio::any_io_executor executor_;
    runtime::real_clock real_;
    std::atomic<duration> ahead_{};
    const std::shared_ptr<sleepers> awake_ = std::make_shared<sleepers>();
};

/// Date of one child process, which a test can move while the process runs (clock_shim.c).
class moved_clock {
public:
    /// Creates its file in `folder`. Throws `std::runtime_error` if the C compiler cannot build
    /// clock_shim.c.
    explicit moved_clock(const std::filesystem::path& folder);
    moved_clock(const moved_clock&) = delete;
    ~moved_clock();

    void step(duration);
    void reset(); ///< sets the date back to the machine's date

    /// Returns the environment variables that make the child use this date.
    std::vector<std::string> environment() const;

private:
    std::string file_;
    std::int64_t* added_ = nullptr; // offset in nanoseconds, in memory shared with the child
};

} // namespace holdfast::support
