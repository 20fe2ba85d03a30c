// SPDX-License-Identifier: Apache-2.0
// Scenarios with several locks that are taken as one. No caller starves, no caller keeps one lock
// while it waits for another, and no lock stays after a call or a hold has ended.
#include "sim/several/tale.hpp"

#include <algorithm>
#include <string>

namespace holdfast::sim::several {
namespace {

class Together : public tale {
protected:
    explicit Together(int servers = 1, int names = 5)
        : tale{{}, servers, names} {}

    /// Several locks with these names, combined into one.
    struct set {
        std::vector<std::unique_ptr<mutex>> parts{};
        std::optional<multi_mutex> all{};
        std::vector<spot> of{};
    };
    std::unique_ptr<set> set_of(int program, std::vector<spot> of) {
        auto made = std::make_unique<set>();
        multi_mutex::members members;
        for (const spot each : of) {
            made->parts.push_back(
                std::make_unique<mutex>(at(program, each.server), realm::name_of(each.name)));
            members.push_back(*made->parts.back());
        }
        made->all.emplace(members);
        made->of = std::move(of);
        return made;
    }
    asio::awaitable<held> take_all(int program, set& s, wish_of wish = {}, cancellation plot = {},
                                   int actor = 0) {
        held got = co_await take(program, way::all, s.of, *s.all, wish, plot, actor);
        co_return got;
    }
    asio::awaitable<held> take_one(int program, spot which, wish_of wish = {}) {
        mutex m{at(program, which.server), realm::name_of(which.name)};
        const std::vector<spot> of{which};
        held got = co_await take(program, way::single, of, m, wish);
        co_return got;
    }
    std::size_t held_at() const {
        std::size_t count = 0;
        for (const node& each : r.nodes)
            count += held_count(each.server);
        return count;
    }

    asio::awaitable<void> evict_when_held(spot which) {
        while (!r.home_of(r.holder(which)))
            co_await sleep(1ms);
        co_await sleep(5ms);
        r.evict(which);
    }
    asio::awaitable<void> dine(int program, int philosopher, int meals, int& eaten) {
        const int left = philosopher, right = (philosopher + 1) % 5;
        // Each philosopher names the left fork first.
        const std::unique_ptr<set> forks = set_of(program, {{0, left}, {0, right}});
        for (int meal = 0; meal < meals; ++meal) {
            held mine = co_await take_all(program, *forks, {}, {}, philosopher);
            EXPECT_TRUE(mine);
            if (!mine)
                co_return;
            co_await sleep(10ms);
            EXPECT_EQ(co_await give_back(mine), outcome::done);
            ++eaten;
        }
    }
};

TEST_F(Together, TheFiveDiningPhilosophersAllEat) {
    constexpr int meals = 20;
    int eaten = 0;
    for (int philosopher = 0; philosopher < 5; ++philosopher)
        r.play(dine(philosopher % 2 == 0 ? alice : bob, philosopher, meals, eaten));
    r.run_for(1min);
    EXPECT_EQ(eaten, 5 * meals);
}

struct EachAtAClientOfHisOwn : Together {
    const std::vector<int> programs{alice, bob, r.add_program({.latency = 3ms}),
                                    r.add_program({.latency = 5ms}),
                                    r.add_program({.latency = 7ms})};
};

TEST_F(EachAtAClientOfHisOwn, TheFiveDiningPhilosophersAllEat) {
    constexpr int meals = 20;
    int eaten = 0;
    for (int philosopher = 0; philosopher < 5; ++philosopher)
        r.play(dine(programs.at(static_cast<std::size_t>(philosopher)), philosopher, meals, eaten));
    r.run_for(2min);
    EXPECT_EQ(eaten, 5 * meals);
}

TEST_F(Together, TheLossOfAMemberLosesTheWholeAndReleasesTheRest) {
    auto scene = [&]() -> asio::awaitable<void> {
        const std::unique_ptr<set> three = set_of(alice, {{0, 0}, {0, 1}, {0, 2}});
        held mine = co_await take_all(alice, *three);
        r.evict({0, 1});
        co_await sleep(lease / 3 + 10ms);
        EXPECT_TRUE(mine->what().told_lost);
        EXPECT_EQ(mine->what().held.remaining(), 0ms);
        EXPECT_EQ(held_at(), 0u);
        EXPECT_EQ(co_await give_back(mine), outcome::lease_lost);
    };
    play(scene);
}

// Found by a seed: the call failed with `lease_lost` instead of another attempt.
TEST_F(Together, AMemberThatIsLostWhileTheOthersAreTakenCostsAnotherRound) {
    r.occupy({0, 0}, 300ms);
    auto scene = [&]() -> asio::awaitable<void> {
        const std::unique_ptr<set> two = set_of(alice, {{0, 0}, {0, 1}});
        way_of(alice, 0).next(memory::verb::renew, {.request_delay = 40ms});
        const wish_of fixed{.fixed = lease};
        r.play(evict_when_held({0, 0}));
        held mine = co_await take_all(alice, *two, fixed);
        EXPECT_TRUE(mine);
        EXPECT_TRUE(r.log.kinds().contains("is evicted"));
    };
    play(scene);
}

TEST_F(Together, HoldsNothingWhileItWaitsForTheBusyOne) {
    auto scene = [&]() -> asio::awaitable<void> {
        held of_bob = co_await take_one(bob, {0, 3});
        const std::unique_ptr<set> all = set_of(alice, {{0, 0}, {0, 3}, {0, 1}});
        const wish_of patient{.timeout = 2s};
        held mine = co_await take_all(alice, *all, patient);
        EXPECT_FALSE(mine);
        EXPECT_EQ(now(), 2s);
        EXPECT_EQ(held_at(), 1u);
    };
    auto looker = [&]() -> asio::awaitable<void> {
        std::size_t most = 0;
        for (co_await until(50ms); now() < 2s; co_await sleep(1ms))
            most = std::max(most, held_at());
        EXPECT_EQ(most, 1u);
    };
    play(scene, looker);
}

TEST_F(Together, OneThatIsReleasedMeanwhileIsTakenWithTheOthers) {
    duration got_at{};
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        held of_bob = co_await take_one(bob, {0, 1});
        co_await until(500ms);
        co_await give_back(of_bob);
    };
    auto scene = [&]() -> asio::awaitable<void> {
        co_await sleep(10ms);
        const std::unique_ptr<set> all = set_of(alice, {{0, 0}, {0, 1}, {0, 2}});
        held mine = co_await take_all(alice, *all);
        got_at = now();
        EXPECT_EQ(held_at(), 3u);
    };
    play(scene_of_bob, scene);
    EXPECT_GE(got_at, 500ms);
    EXPECT_LE(got_at, 510ms);
}

struct TogetherOnTwo : Together {
    TogetherOnTwo()
        : Together{2, 2} {}
};

TEST_F(TogetherOnTwo, AServerThatCannotBeReachedEndsTheCallAndLeavesNothingOnTheOther) {
    way_of(alice, 1).cut(true);
    auto scene = [&]() -> asio::awaitable<void> {
        const std::unique_ptr<set> both = set_of(alice, {{0, 0}, {1, 0}});
        held mine = co_await take_all(alice, *both);
        EXPECT_FALSE(mine);
        co_await sleep(1ms);
        EXPECT_EQ(held_at(), 0u);
        EXPECT_LE(now(), r.how.unavailable_timeout + 1100ms);
        way_of(alice, 1).mend();
    };
    play(scene);
}

TEST_F(TogetherOnTwo, BehindAPartitionFromOneTheWholeEndsWithItsTermAndTheOtherIsFree) {
    auto scene = [&]() -> asio::awaitable<void> {
        const std::unique_ptr<set> both = set_of(alice, {{0, 0}, {1, 0}});
        held mine = co_await take_all(alice, *both);
        way_of(alice, 1).cut(false);
        held of_bob = co_await take_one(bob, {0, 0});
        EXPECT_TRUE(of_bob);
        EXPECT_LE(now(), lease);
        EXPECT_TRUE(mine->what().told_lost);
        way_of(alice, 1).mend();
    };
    play(scene);
}

/// State of the locks before the call that is cancelled.
struct surroundings {
    const char* name;
    std::function<void(realm&)> arrange;
    wish_of wish{};
};

void one_slow_request(realm& r, int server, memory::verb what, memory::fate f) {
    r.at(0, server).net.next(what, f);
}

const std::vector<surroundings>& all_surroundings() {
    static const std::vector<surroundings> all{
        {"Free", [](realm&) {}},
        {"OneIsBusy",
         [](realm& r) {
             r.occupy({0, 1}, 300ms);
         }},
        {"BothAreBusy",
         [](realm& r) {
             r.occupy({0, 1}, 300ms);
             r.occupy({1, 0}, 500ms);
         }},
        {"AnswerLost",
         [](realm& r) { one_slow_request(r, 1, memory::verb::look, {.answer_lost = true}); }},
        {"Late",
         [](realm& r) { one_slow_request(r, 1, memory::verb::look, {.request_delay = 1500ms}); }},
        {"ReleaseLost",
         [](realm& r) {
             r.occupy({1, 0}, 300ms);
             one_slow_request(r, 0, memory::verb::release, {.request_lost = true});
         }},
        {"CutOff", [](realm& r) { r.at(0, 1).net.cut(false); }, {.timeout = 3s}},
        {"FixedLease",
         [](realm& r) {
             r.occupy({1, 0}, 100ms);
         },
         {.fixed = 2s}},
    };
    return all;
}

/// Runs a call, cancels it after some steps, and checks that it has left no lock on the servers.
class cancelled_call {
public:
    cancelled_call(const surroundings& s, bool is_quorum, cancellation plot)
        : r_{std::make_unique<realm>(1, realm::customs{.is_quorum = is_quorum}, 3, 2)}
        , is_quorum_{is_quorum}
        , plot_{plot} {
        // without latency, one step would contain too many events
        r_->add_program({.latency = 20ms});
        r_->add_program();
        s.arrange(*r_);
        r_->play(take(s.wish));
    }

    bool run() {
        realm& r = *r_;
        r.run_for(10s);
        for (terminal& each : r.programs[0])
            each.net.mend();
        r.run_for(1min);
        if (!r.verdict())
            r.checks().at_peace();
        for (std::deque<terminal>& program : r.programs)
            for (terminal& each : program)
                r.play(r.close(each));
        r.run_for(1min);
        for (std::deque<terminal>& program : r.programs)
            for (terminal& each : program)
                each.at.reset();
        r.run_for(1min);
        if (!r.verdict())
            r.checks().at_the_end();
        const bool was_cancelled = r.log.kinds().contains("is cancelled");
        if (!r.verdict())
            return was_cancelled;
        std::ostringstream told;
        r.log.print(told, -1);
        ADD_FAILURE() << "cancelled after " << *plot_.after_steps
                      << " steps: " << r.verdict()->invariant << ": " << r.verdict()->story << '\n'
                      << told.str();
        // leaked on purpose: the hanging operations cannot be destroyed
        (void)r_.release();
        return false;
    }

private:
    asio::awaitable<void> take(wish_of wish) {
        realm& r = *r_;
        deal d{.how = is_quorum_ ? way::majority : way::all, .program = 0, .actor = 0};
        d.what = wish.timeout == duration::max() ? deed::lock : deed::try_lock_for;
        d.timeout = wish.timeout;
        d.lease = r.how.lease_time;
        d.generations = generations_of(r, 0);
        held mine;
        if (is_quorum_) {
            d.of = {{0, 0}, {1, 0}, {2, 0}};
            quorum_mutex m{{*r.at(0, 0).at, *r.at(0, 1).at, *r.at(0, 2).at}, realm::name_of(0)};
            mine = co_await acquire(r, d, m, wish.fixed, plot_);
        } else {
            d.of = {{0, 1}, {1, 0}, {0, 0}};
            mutex a{*r.at(0, 0).at, realm::name_of(1)}, b{*r.at(0, 1).at, realm::name_of(0)},
                c{*r.at(0, 0).at, realm::name_of(0)};
            multi_mutex m{a, b, c};
            mine = co_await acquire(r, d, m, wish.fixed, plot_);
        }
        co_await r.sleep(10ms);
    }

    std::unique_ptr<realm> r_;
    const bool is_quorum_;
    const cancellation plot_;
};

class CancelSeveralEverywhere : public testing::TestWithParam<std::tuple<std::size_t, bool>> {};

TEST_P(CancelSeveralEverywhere, LeavesNothing) {
    const auto& [which, is_quorum] = GetParam();
    std::size_t steps = 1;
    for (bool goes_on = true; goes_on; ++steps) {
        cancelled_call call{all_surroundings()[which], is_quorum, {.after_steps = steps}};
        goes_on = call.run();
    }
    EXPECT_GT(steps, 2u) << "it was never cancelled";
}

INSTANTIATE_TEST_SUITE_P(All, CancelSeveralEverywhere,
                         testing::Combine(testing::Range<std::size_t>(0, all_surroundings().size()),
                                          testing::Bool()),
                         [](const auto& which) {
                             return all_surroundings()[std::get<0>(which.param)].name +
                                    std::string{std::get<1>(which.param) ? "Quorum" : "Multi"};
                         });

} // namespace
} // namespace holdfast::sim::several
