// SPDX-License-Identifier: Apache-2.0
// Plays small scenes again and again: cancelled after their first step, after their second step,
// and so on, until there is nothing left to cancel. Each time all invariants hold, and nothing is
// left behind.
#include "sim/story.hpp"

#include <holdfast/fair_mutex.hpp>

#include <functional>
#include <string>
#include <tuple>

namespace holdfast::sim {
namespace {

/// State of the lock before the scene begins.
struct setting {
    const char* name;
    std::function<void(world&)> arrange;
    wanted how;
};

void one_slow_look(world& w, memory::fate f) {
    w.seats[0].net.next(memory::verb::look, f);
}

/// Lock of the scene, of the kind that the world has.
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

/// Plays the scene, and cancels the call after `steps` steps. Returns whether the call was still
/// running at that time.
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

} // namespace
} // namespace holdfast::sim
