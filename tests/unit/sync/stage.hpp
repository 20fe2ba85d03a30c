// SPDX-License-Identifier: Apache-2.0
// Where a small story is told: a memory server, a few clients on the test's own thread, and time
// that moves only when nothing else can happen.
#pragma once

#include "store/memory/test_access.hpp"
#include "support/recorder.hpp"
#include "support/said.hpp"
#include "support/sim_clock.hpp"
#include "sync/engine.hpp"
#include "unit/sync/objecting_store.hpp"

#include <holdfast/client.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <deque>
#include <list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::sync {

using namespace std::chrono_literals;
using memory::fate;
using memory::verb;
using support::said;

/// A request that a client sent.
struct sent {
    verb what;
    time_point at;
    std::vector<hold> holds;
    duration lease_time;
};

/// A client, and what can be seen of it from outside.
class actor {
public:
    actor(asio::io_context& io, sim::sim_clock& time, memory::server& server, int number,
          options how, duration command_timeout)
        : time_{time}
        , number_{number} {
        const auto note = [this](const memory::request& r) { return pass(r); };
        how.store = with_interference(server.connect(note, command_timeout), meddling);
        how.observer = ear;
        how.random = [this] { return roll(); };
        program.emplace(io.get_executor(), time, std::move(how));
        inside = program->engine();
    }
    actor(const actor&) = delete;

    operator client&() { return program.value(); }

    const std::shared_ptr<support::recorder> ear = std::make_shared<support::recorder>();
    fate always{};                             ///< of what is not planned
    std::deque<std::pair<verb, fate>> planned; ///< of the next request of that kind
    interference meddling{};
    std::vector<sent> log{};
    std::uint64_t dice = 0; ///< what chance answers: 0 is no jitter
    std::optional<client> program;
    std::weak_ptr<engine> inside;

    std::vector<sent> all(verb what) const {
        std::vector<sent> some;
        std::copy_if(log.begin(), log.end(), std::back_inserter(some),
                     [what](const sent& s) { return s.what == what; });
        return some;
    }
    std::size_t count(verb what) const { return all(what).size(); }

private:
    fate pass(const memory::request& r) {
        log.push_back({r.what, time_.now(), {r.holds.begin(), r.holds.end()}, r.lease_time});
        const auto plan = std::find_if(planned.begin(), planned.end(),
                                       [&r](const auto& p) { return p.first == r.what; });
        if (plan == planned.end())
            return always;
        const fate met = plan->second;
        planned.erase(plan);
        return met;
    }
    /// The first two make the client's identity.
    std::uint64_t roll() { return ++rolls_ <= 2 ? static_cast<std::uint64_t>(number_) : dice; }

    sim::sim_clock& time_;
    const int number_;
    int rolls_ = 0;
};

class stage {
public:
    stage() = default;
    stage(const stage&) = delete;

    /// Ends all clients and looks for what they left behind: nothing, after a while.
    ~stage() {
        for (actor& each : actors_)
            each.program.reset();
        clock.run_for(1h);
        for (const actor& each : actors_)
            EXPECT_TRUE(each.inside.expired()) << "something still holds a client's engine";
        EXPECT_EQ(listener_count(server), 0u);
    }

    asio::io_context io;
    sim::sim_clock clock{io};
    memory::server server{clock};

    actor& enter(options how = {}, duration command_timeout = 3s) {
        return enter_at(server, std::move(how), command_timeout);
    }
    /// A client of another server than the stage's own.
    actor& enter_at(memory::server& where, options how = {}, duration command_timeout = 3s) {
        const int number = static_cast<int>(actors_.size()) + 1;
        return actors_.emplace_back(io, clock, where, number, std::move(how), command_timeout);
    }

    void run_for(duration d) { clock.run_for(d); }
    void settle() { clock.run_for(0ms); }
    duration elapsed() const { return clock.now() - start_; }
    time_point start() const { return start_; }

    /// A lock that nothing keeps from being taken now.
    lease taken(basic_mutex& m) {
        said<lease> held;
        m.async_lock(held.handler());
        return at_once(held);
    }
    lease taken(basic_mutex& m, lease_time length) {
        said<lease> held;
        m.async_lock(length, held.handler());
        return at_once(held);
    }

    /// Closes a client as its own thread would.
    said<> close(actor& a) {
        said<> closed;
        a.program->async_close(closed.handler());
        return closed;
    }

private:
    lease at_once(said<lease>& held) {
        settle();
        if (!held.well())
            throw std::logic_error{"it is not free: " + held.code().message()};
        return held.take();
    }

    const time_point start_ = clock.now();
    std::list<actor> actors_;
};

/// What an engine still has under way.
inline leftovers left_in(const actor& a) {
    return a.inside.lock()->left();
}
inline bool is_idle(const actor& a) {
    const leftovers left = left_in(a);
    return left.gates == 0 && left.waiters == 0 && left.holds == 0 && left.tasks == 0;
}

/// For test suites.
class on_stage : public testing::Test, protected stage {};

} // namespace holdfast::sync
