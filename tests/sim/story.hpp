// SPDX-License-Identifier: Apache-2.0
// Fixture of the scenarios: Alice and Bob, one server, no random faults. The checkers run at each
// step, and no lock may be left at the end.
#pragma once

#include "sim/fortune.hpp"
#include "sim/ongoing.hpp"

#include <holdfast/error.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>

#include <boost/asio/detached.hpp>

#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::sim {

using namespace std::chrono_literals;
using held = std::unique_ptr<grip>;

class story : public testing::Test {
protected:
    explicit story(rules r = {})
        : w{1, r, 2} {}

    world w;
    seat& alice = w.add_seat();
    seat& bob = w.add_seat();

    /// Takes lock0 with a new lock object.
    asio::awaitable<held> take(seat& who, wanted how = {}, cancellation plot = {}) {
        mutex m{*who.program, w.name_of(0)};
        co_return co_await acquire(w, about(who), who.of_program, m, how, plot);
    }
    asio::awaitable<outcome> give_back(held& what, cancellation plot = {}) {
        const int client = what->what().who.client;
        return release(w, *what, w.seats[static_cast<std::size_t>(client)].of_program, plot);
    }
    static subject about(const seat& who) { return {who.number, 0, 0}; }
    static wanted at_most(duration timeout) {
        return {.how = deed::try_lock_for, .timeout = timeout};
    }
    static wanted once() { return {.how = deed::try_lock, .timeout = duration::zero()}; }
    static wanted fixed(duration lease) { return {.fixed = lease}; }

    asio::awaitable<void> sleep(duration d) { return w.sleep(d); }
    asio::awaitable<void> until(duration since_start) { return w.sleep(since_start - w.elapsed()); }

    /// Runs the scenes at the same time, for an hour of simulated time. Nothing happens any more
    /// then.
    template <typename... Scenes>
    void play(Scenes&... scenes) {
        (w.play(scenes()), ...);
        w.run_for(1h);
    }
    duration now() const { return w.elapsed(); }
    const std::string& holder() { // current holder of lock0, as the server shows it
        shown_ = {};
        if (const auto seen = inspect(w.server, w.name_of(0)))
            shown_ = seen->owners.at(0);
        return shown_;
    }

    void TearDown() override {
        w.run_for(1h);
        if (!w.verdict())
            w.checks().at_peace();
        for (seat& place : w.seats)
            w.play(close_program(w, place));
        w.run_for(1h);
        for (seat& place : w.seats)
            place.program.reset();
        w.run_for(1h);
        if (!w.verdict())
            w.checks().at_the_end();
        std::ostringstream told;
        w.log.print_end(told, -1, 100);
        EXPECT_FALSE(w.verdict()) << w.verdict()->invariant << ": " << w.verdict()->story << '\n'
                                  << told.str();
    }

private:
    std::string shown_;
};

} // namespace holdfast::sim
