// SPDX-License-Identifier: Apache-2.0
// Fixture of the scenarios with several servers: Alice and Bob, each with a client for every
// server, without random faults. The checkers run at each step, and no lock may be left at the end.
#pragma once

#include "sim/several/under_way.hpp"

#include <holdfast/error.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/quorum_mutex.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::sim::several {

using namespace std::chrono_literals;
using held = std::unique_ptr<hands>;

/// Options of an acquisition.
struct wish_of {
    duration timeout = duration::max();
    std::optional<duration> fixed{};
};

class tale : public testing::Test {
protected:
    tale(realm::customs ways, int servers, int names)
        : r{1, std::move(ways), servers, names} {}

    realm r;
    const int alice = r.add_program();
    const int bob = r.add_program();
    const duration lease = r.how.lease_time;

    client& at(int program, int server) { return *r.at(program, server).at; }
    network& way_of(int program, int server) { return r.at(program, server).net; }
    memory::server& server(int which) { return r.node_at(which).server; }

    asio::awaitable<held> take(int program, way how, std::vector<spot> of, basic_mutex& m,
                               wish_of wish = {}, cancellation plot = {}, int actor = 0) {
        deal d{.how = how, .program = program, .actor = actor, .of = std::move(of)};
        d.what = wish.timeout == duration::max() ? deed::lock : deed::try_lock_for;
        d.timeout = wish.timeout;
        d.lease = lease;
        d.generations = generations_of(r, program);
        held got = co_await acquire(r, d, m, wish.fixed, plot);
        co_return got;
    }
    asio::awaitable<outcome> give_back(held& what) {
        const outcome how = co_await release(r, *what);
        co_return how;
    }

    asio::awaitable<void> sleep(duration d) { return r.sleep(d); }
    asio::awaitable<void> until(duration since_start) { return r.sleep(since_start - r.elapsed()); }
    duration now() const { return r.elapsed(); }

    /// Runs the scenes at the same time, for an hour of simulated time. Nothing happens any more
    /// then.
    template <typename... Scenes>
    void play(Scenes&... scenes) {
        (r.play(scenes()), ...);
        r.run_for(1h);
    }

    void TearDown() override {
        r.run_for(1h);
        if (!r.verdict())
            r.checks().at_peace();
        for (std::deque<terminal>& program : r.programs)
            for (terminal& each : program)
                r.play(r.close(each));
        r.run_for(1h);
        for (std::deque<terminal>& program : r.programs)
            for (terminal& each : program)
                each.at.reset();
        r.run_for(1h);
        if (!r.verdict())
            r.checks().at_the_end();
        std::ostringstream told;
        r.log.print_end(told, -1, 100);
        EXPECT_FALSE(r.verdict()) << r.verdict()->invariant << ": " << r.verdict()->story << '\n'
                                  << told.str();
    }
};

} // namespace holdfast::sim::several
