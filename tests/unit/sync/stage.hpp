// SPDX-License-Identifier: Apache-2.0
// Fixture with a memory server and a few clients on the test's own thread. The simulated time moves
// only when nothing else can happen.
#pragma once

#include "store/memory/test_access.hpp"
#include "support/clocks.hpp"
#include "support/recorder.hpp"
#include "support/wrapped_store.hpp"
#include "sync/engine.hpp"

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/store.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::sync {

// A store that throws what a test wants instead of asking, and that can doubt a hold: for what the
// memory server never does.

/// Faults that a test sets for a store. This object outlives the store.
struct interference {
    /// What to throw at a request of that kind; nothing: let it through.
    std::function<error_code(memory::verb)> objects{};
    /// What came of one hold of a renewal that was let through: a code takes the place of a yes.
    std::function<error_code(const hold&)> spoils{};
    std::set<revalidator*> watchers{};     ///< one for each hold that is watched over
    std::vector<renewal_options> wishes{}; ///< of each renewal that was asked for

    bool keeps_queues = false; ///< a place that was looked at must be left, even if it was busy
    int places_left = 0;       ///< so often has leaving one succeeded
    std::uint64_t token = 0;   ///< of every grant, of whatever kind; 0: as the store says

    void object(memory::verb what) const {
        if (const error_code ec = objects ? objects(what) : error_code{})
            throw boost::system::system_error{ec, "the server's own words"};
    }
};

class doubting_watch final : public watch {
public:
    doubting_watch(interference& by, revalidator& whom)
        : by_{by}
        , whom_{whom} {
        by_.watchers.insert(&whom_);
    }
    ~doubting_watch() override { by_.watchers.erase(&whom_); }

private:
    interference& by_;
    revalidator& whom_;
};

/// Reports what a test wants of some, and the truth of the others.
class spoiling_sink final : public renewal_sink {
public:
    spoiling_sink(hold_list holds, const interference& by, renewal_sink& to)
        : holds_{holds}
        , by_{by}
        , to_{to} {}

    void renewed(std::size_t which, const answer& said) override {
        if (const error_code ec = by_.spoils ? by_.spoils(*holds_[which]) : error_code{})
            to_.failed(which, boost::system::system_error{ec, "the server's own words"});
        else
            to_.renewed(which, said);
    }
    void failed(std::size_t which, const boost::system::system_error& why) override {
        to_.failed(which, why);
    }

private:
    hold_list holds_;
    const interference& by_;
    renewal_sink& to_;
};

class objecting_place final : public place {
public:
    objecting_place(std::unique_ptr<place> real, interference& by)
        : real_{std::move(real)}
        , by_{by} {}

    asio::awaitable<answer> look() override {
        by_.object(memory::verb::look);
        lined_up_ = by_.keeps_queues;
        answer said = co_await real_->look();
        if (said.granted && by_.token != 0) {
            said.token = by_.token;
            said.tokens = 1;
        }
        co_return said;
    }
    asio::awaitable<void> leave() override {
        by_.object(memory::verb::release);
        co_await real_->leave();
        lined_up_ = false;
        ++by_.places_left;
    }
    bool must_leave() const noexcept override { return lined_up_ || real_->must_leave(); }
    bool uncertain() const noexcept override { return real_->uncertain(); }
    time_point settled_at() const noexcept override { return real_->settled_at(); }

private:
    std::unique_ptr<place> real_;
    interference& by_;
    bool lined_up_ = false;
};

class objecting_locks final : public support::wrapped_locks {
public:
    objecting_locks(lock_store& real, interference& by)
        : wrapped_locks{real}
        , by_{by} {}

    std::unique_ptr<place> line_up(ask want, alarm& wake) override {
        return std::make_unique<objecting_place>(wrapped_locks::line_up(std::move(want), wake),
                                                 by_);
    }
    asio::awaitable<void> renew(hold_list holds, const renewal_options& how,
                                renewal_sink& to) override {
        by_.wishes.push_back(how);
        try {
            by_.object(memory::verb::renew);
        } catch (const boost::system::system_error& e) {
            for (std::size_t i = 0; i < holds.size(); ++i)
                to.failed(i, e);
            co_return;
        }
        spoiling_sink others{holds, by_, to};
        co_await wrapped_locks::renew(holds, how, others);
    }
    asio::awaitable<release_answer> release(hold what) override {
        by_.object(memory::verb::release);
        co_return co_await wrapped_locks::release(std::move(what));
    }
    std::unique_ptr<watch> watch_over(const hold&, revalidator& whom) override {
        return std::make_unique<doubting_watch>(by_, whom);
    }

private:
    interference& by_;
};

inline store_factory with_interference(store_factory real, interference& by) {
    return [real = std::move(real), &by](store_context context) {
        return std::make_unique<support::wrapped_store<objecting_locks>>(real(std::move(context)),
                                                                         by);
    };
}

using namespace std::chrono_literals;
using memory::fate;
using memory::verb;
using support::said;

/// Locks of a store where another server takes over from a dead server.
class locks_with_failover final : public support::wrapped_locks {
public:
    using wrapped_locks::wrapped_locks;
    limits bounds() const noexcept override {
        limits all = wrapped_locks::bounds();
        all.usual_outage = 30s;
        return all;
    }
};

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

/// Returns the operations that an engine still has to finish.
inline leftovers left_in(const actor& a) {
    return a.inside.lock()->left();
}
inline bool is_idle(const actor& a) {
    const leftovers left = left_in(a);
    return left.gates == 0 && left.waiters == 0 && left.holds == 0 && left.tasks == 0;
}

/// For test suites.
class on_stage : public testing::Test, protected stage {};

/// Alice and Bob, and a lock that they can share.
class on_shared_stage : public on_stage {
protected:
    actor& alice = enter();
    actor& bob = enter();
    shared_mutex prices{alice, "prices"}, bobs{bob, "prices"};
    basic_mutex& alone = prices;

    lease read() { return taken(prices.shared()); }
    lease written() { return taken(alone); }
    said<lease> reader(shared_mutex& of) {
        said<lease> told;
        of.async_lock_shared(told.handler());
        settle();
        return told;
    }
    said<lease> writer(shared_mutex& of) {
        said<lease> told;
        static_cast<basic_mutex&>(of).async_lock(told.handler());
        settle();
        return told;
    }
    said<std::optional<lease>> upgraded(shared_mutex& of, const lease& from,
                                        duration timeout = 10min) {
        said<std::optional<lease>> told;
        of.async_try_upgrade_for(from, timeout, told.handler());
        settle();
        return told;
    }
    void release(lease held) {
        said<> told;
        held.async_unlock(told.handler());
        settle();
        EXPECT_TRUE(told.well());
    }
    std::size_t owners() { return inspect(server, "prices").value_or(holding{}).owners.size(); }
};

} // namespace holdfast::sync
