// SPDX-License-Identifier: Apache-2.0
// Calls on locks and counters that are cancelled after each of their steps.
#include "sim/story.hpp"
#include "store/memory/server_state.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/fair_mutex.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <functional>
#include <string>
#include <tuple>

namespace holdfast::sim {
namespace {

// Plays small scenes again and again. The call is cancelled after its first step, then after its
// second step, and so on, until it ends before. All invariants must hold, and nothing may be left
// behind.

/// State of the lock before the call that is cancelled.
struct setting {
    const char* name;
    std::function<void(world&)> arrange;
    wanted how;
};

void one_slow_look(world& w, memory::fate f) {
    w.seats[0].net.next(memory::verb::look, f);
}

/// Lock object for the lock of the scene: fair or plain.
struct door {
    door(world& w, client& home) {
        if (w.how.is_fair(0))
            fair.emplace(home, world::name_of(0),
                         fair_options{.waiter_timeout = w.how.waiter_timeout()});
        else
            plain.emplace(home, world::name_of(0));
    }
    operator basic_mutex&() { return fair ? static_cast<basic_mutex&>(*fair) : *plain; }
    std::optional<mutex> plain;
    std::optional<fair_mutex> fair;
};

/// Makes another call of the same client hold the lock for a while.
asio::awaitable<void> hold_locally(world& w, duration d) {
    door m{w, *w.seats[0].program};
    const wanted how;
    const held mine = co_await acquire(w, {0, 1, 0}, w.seats[0].of_program, m, how);
    co_await w.sleep(d);
}

const std::vector<setting>& settings() {
    static const std::vector<setting> all{
        {"Free", [](world&) {}, {}},
        {"Busy", [](world& w) { w.occupy(0, 300ms); }, {}},
        {"BusyBriefly",
         [](world& w) { w.occupy(0, 6s); },
         {.how = deed::try_lock_for, .timeout = 500ms}},
        {"AnswerLost", [](world& w) { one_slow_look(w, {.answer_lost = true}); }, {}},
        {"RequestLost", [](world& w) { one_slow_look(w, {.request_lost = true}); }, {}},
        {"Refused", [](world& w) { one_slow_look(w, {.refused = true}); }, {}},
        {"Late", [](world& w) { one_slow_look(w, {.request_delay = 1500ms}); }, {}},
        {"Broken",
         [](world& w) { one_slow_look(w, {.request_delay = 400ms, .cut_off = 10ms}); },
         {}},
        {"CutOff",
         [](world& w) { w.seats[0].net.cut(false); },
         {.how = deed::try_lock_for, .timeout = 3s}},
        {"BehindALocalHolder", [](world& w) { w.play(hold_locally(w, 300ms)); }, {}},
        {"FixedLease", [](world& w) { w.occupy(0, 100ms); }, {.fixed = 2s}},
    };
    return all;
}

/// Plays the scene, and cancels the call after `steps` steps. Returns false if the call had ended
/// before.
bool cancelled_after(std::size_t steps, asio::cancellation_type type, const setting& s,
                     bool is_fair) {
    rules how;
    how.fair = is_fair ? 1 : 0;
    auto w = std::make_unique<world>(1, how, 1);
    // without latency, one step would contain too many events
    seat& alice = w->add_seat({.latency = 20ms});
    w->add_seat();
    s.arrange(*w);
    bool was_cancelled = true;
    auto scene = [&]() -> asio::awaitable<void> {
        door m{*w, *alice.program};
        const cancellation plot{.after_steps = steps, .type = type};
        const held mine = co_await acquire(*w, {0, 0, 0}, alice.of_program, m, s.how, plot);
        was_cancelled = w->log.kinds().contains("is cancelled");
        co_await w->sleep(10ms);
    };
    w->play(scene());
    w->run_for(10s);
    alice.net.mend();
    w->run_for(1min);
    if (!w->verdict())
        w->checks().at_peace();
    EXPECT_TRUE(w->waiting(0).empty()) << "a place is left in the queue";
    for (seat& place : w->seats) {
        w->play(close_program(*w, place));
        w->run_for(1min);
        place.program.reset();
    }
    w->run_for(1min);
    if (!w->verdict())
        w->checks().at_the_end();
    if (!w->verdict())
        return was_cancelled;
    std::ostringstream told;
    w->log.print(told, -1);
    ADD_FAILURE() << "cancelled after " << steps << " steps: " << w->verdict()->invariant << ": "
                  << w->verdict()->story << '\n'
                  << told.str();
    (void)w.release(); // leaked on purpose: operations that hang in the world cannot be destroyed
    return false;
}

class CancelEverywhere : public testing::TestWithParam<std::tuple<std::size_t, bool>> {};

TEST_P(CancelEverywhere, LeavesNothing) {
    const auto [which, is_fair] = GetParam();
    using type = asio::cancellation_type;
    for (const type t : {type::terminal, type::partial, type::total}) {
        std::size_t steps = 1;
        while (cancelled_after(steps, t, settings()[which], is_fair))
            ++steps;
        EXPECT_GT(steps, 1u) << "it was never cancelled";
    }
}

INSTANTIATE_TEST_SUITE_P(All, CancelEverywhere,
                         testing::Combine(testing::Range<std::size_t>(0, settings().size()),
                                          testing::Bool()),
                         [](const auto& which) {
                             return settings()[std::get<0>(which.param)].name +
                                    std::string{std::get<1>(which.param) ? "Fair" : ""};
                         });

// The same for counters: after a cancelled call, all permits that it has taken are given back.

struct trouble {
    const char* name;
    std::optional<memory::fate> of_first{}; ///< fate of the first request
    /// initial number of permits, of which the call wants two; a latch is open with two
    std::int64_t there = 2;
};

const std::vector<trouble>& troubles() {
    static const std::vector<trouble> all{
        {.name = "Free"},
        {.name = "Busy", .there = 1},
        {.name = "AnswerLost", .of_first = memory::fate{.answer_lost = true}},
        {.name = "RequestLost", .of_first = memory::fate{.request_lost = true}},
        {.name = "Refused", .of_first = memory::fate{.refused = true}},
        {.name = "Late", .of_first = memory::fate{.request_delay = 1500ms}},
        {.name = "Broken", .of_first = memory::fate{.request_delay = 400ms, .cut_off = 10ms}},
    };
    return all;
}

constexpr std::int64_t wanted_permits = 2;

/// Rate with a slow refill, so that a draw that was not given back is still missing at the end of
/// the test.
constexpr rate two_an_hour{.permits = 2, .per = 1h, .scope = rate::scope_of::overall, .kept = {}};

std::string name_of(counter_kind kind) {
    return kind == counter_kind::semaphore ? "Semaphore"
           : kind == counter_kind::permits ? "Permits"
           : kind == counter_kind::latch   ? "Latch"
                                           : "Rate";
}

/// Returns the initial value of a counter.
std::int64_t count_at_first(counter_kind kind, std::int64_t there) {
    return kind == counter_kind::latch ? wanted_permits - there : there;
}

void provide(world& w, counter_kind kind, std::int64_t there) {
    const std::int64_t count = count_at_first(kind, there);
    if (count == 0)
        return;
    counter_change what{w.name_of(0), {}, kind, counter_verb::set_new, count};
    what.to = two_an_hour;
    primary_state(w.server)->stranger_changes(what);
}

/// Draws one permit with another client, so that too few are left.
asio::awaitable<void> draw_one(world& w) {
    rate_limiter it{*w.seats[1].program, w.name_of(0)};
    co_await it.async_acquire(1, asio::use_awaitable);
}

asio::awaitable<outcome> take(world& w, seat& home, counter_kind kind, cancellation plot) {
    const bool waits = kind == counter_kind::latch;
    operation o{.what = waits ? deed::wait : deed::acquire, .who = {home.number, 0, 0}};
    o.timeout = 3s;
    o.amount = waits ? 0 : wanted_permits;
    o.generation = home.of_program;
    ongoing call{w, o, plot};
    if (kind == counter_kind::permits) {
        leased_semaphore it{*home.program, w.name_of(0)};
        const std::tuple<error_code, std::optional<lease>> answer =
            co_await it.async_try_acquire_for(o.timeout, wanted_permits, call.token());
        co_return call.ended(std::get<0>(answer), std::get<1>(answer).has_value());
    }
    std::tuple<error_code, bool> answer;
    if (waits) {
        latch it{*home.program, w.name_of(0)};
        answer = co_await it.async_wait_for(o.timeout, call.token());
    } else if (kind == counter_kind::semaphore) {
        counting_semaphore it{*home.program, w.name_of(0)};
        answer = co_await it.async_try_acquire_for(o.timeout, wanted_permits, call.token());
    } else {
        rate_limiter it{*home.program, w.name_of(0)};
        answer = co_await it.async_try_acquire_for(o.timeout, wanted_permits, call.token());
    }
    co_return call.ended(std::get<0>(answer), std::get<1>(answer));
}

/// Plays the scene, and cancels the call after `steps` steps. Returns false if the call had ended
/// before.
bool cancelled_after(std::size_t steps, counter_kind kind, const trouble& what) {
    rules how;
    how.counters = {kind};
    auto w = std::make_unique<world>(1, how, 1);
    seat& alice = w->add_seat({.latency = 20ms});
    w->add_seat();
    provide(*w, kind, what.there);
    if (kind == counter_kind::rate && what.there < wanted_permits) {
        w->play(draw_one(*w));
        w->run_for(1s);
    }
    if (what.of_first)
        alice.net.next(kind == counter_kind::permits ? memory::verb::look : memory::verb::count,
                       *what.of_first);
    outcome got = outcome::other;
    auto scene = [&]() -> asio::awaitable<void> {
        got = co_await take(*w, alice, kind, {.after_steps = steps});
        co_await w->sleep(10ms);
    };
    w->play(scene());
    w->run_for(10s);
    alice.net.mend();
    w->run_for(1min);
    const bool keeps = kind == counter_kind::semaphore || kind == counter_kind::rate;
    const std::int64_t kept = got == outcome::done && keeps ? wanted_permits : 0;
    const std::int64_t left = count_at_first(kind, what.there) - kept;
    EXPECT_EQ(w->available(0), left) << "cancelled after " << steps << " steps";
    for (seat& place : w->seats) {
        w->play(close_program(*w, place));
        w->run_for(1min);
        place.program.reset();
    }
    w->run_for(1min);
    if (!w->verdict())
        w->checks().at_the_end();
    if (!w->verdict())
        return w->log.kinds().contains("is cancelled");
    std::ostringstream told;
    w->log.print(told, -1);
    ADD_FAILURE() << "cancelled after " << steps << " steps: " << w->verdict()->invariant << ": "
                  << w->verdict()->story << '\n'
                  << told.str();
    (void)w.release(); // leaked on purpose: operations that hang in the world cannot be destroyed
    return false;
}

class CancelCounters : public testing::TestWithParam<std::tuple<counter_kind, std::size_t>> {};

TEST_P(CancelCounters, LeavesAllThere) {
    const auto [kind, which] = GetParam();
    std::size_t steps = 1;
    while (!HasFailure() && cancelled_after(steps, kind, troubles()[which]))
        ++steps;
    EXPECT_GT(steps, 1u) << "it was never cancelled";
}

INSTANTIATE_TEST_SUITE_P(All, CancelCounters,
                         testing::Combine(testing::Values(counter_kind::semaphore,
                                                          counter_kind::permits,
                                                          counter_kind::latch, counter_kind::rate),
                                          testing::Range<std::size_t>(0, troubles().size())),
                         [](const auto& which) {
                             return name_of(std::get<0>(which.param)) +
                                    troubles()[std::get<1>(which.param)].name;
                         });

} // namespace
} // namespace holdfast::sim
