// SPDX-License-Identifier: Apache-2.0
#include "memory_world.hpp"
#include "runtime/clock.hpp"
#include "sim/dice.hpp"
#include "store/memory/lock_tables.hpp"
#include "store/memory/server_state.hpp"
#include "support/holds.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::memory {
namespace {

using MemoryLook = MemoryWorld;

TEST_F(MemoryLook, AFreeLockIsGrantedForTheLeaseAsked) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s);
        const answer said = co_await spot->look();
        EXPECT_TRUE(said.granted);
        EXPECT_EQ(said.term, 30s);
        EXPECT_FALSE(spot->uncertain());
        const auto seen = inspect(w.there, "stock");
        EXPECT_EQ(seen->owners, std::vector{to_string(w.alice.id)});
        EXPECT_EQ(seen->remaining, 30s);
        EXPECT_EQ(held_count(w.there), 1u);
    }(*this));
}

TEST_F(MemoryLook, LookingTwiceGrantsOnceAndNeverShortens) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s);
        (void)co_await spot->look();
        const auto shorter = w.alice.line_up("stock", 5s);
        EXPECT_TRUE((co_await shorter->look()).granted);
        EXPECT_EQ(inspect(w.there, "stock")->remaining, 30s);
        const auto longer = w.alice.line_up("stock", 50s);
        EXPECT_TRUE((co_await longer->look()).granted);
        EXPECT_EQ(inspect(w.there, "stock")->remaining, 50s);
        EXPECT_TRUE(co_await w.alice.home->locks().release(w.alice.held("stock")));
        EXPECT_EQ(held_count(w.there), 0u);
    }(*this));
}

TEST_F(MemoryLook, TheFirstBusyAnswerAsksToLookAgainAtOnceAndTheSecondSaysWhen) {
    there.occupy("stock", 3s);
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock");
        const answer first = co_await spot->look();
        EXPECT_FALSE(first.granted);
        EXPECT_EQ(first.term, 0s);
        EXPECT_EQ(listener_count(w.there), 0u);
        const answer second = co_await spot->look();
        EXPECT_FALSE(second.granted);
        EXPECT_EQ(second.term, 3001ms); // behind the end of the holder's lease
        EXPECT_EQ(listener_count(w.there), 1u);
    }(*this));
    EXPECT_EQ(listener_count(there), 0u);
}

TEST_F(MemoryLook, NobodySleepsLongerThanThePollBound) {
    there.occupy("stock", duration::max());
    EXPECT_FALSE(inspect(there, "stock")->remaining);
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock");
        (void)co_await spot->look();
        EXPECT_EQ((co_await spot->look()).term, 5s); // the world's random numbers are zero
    }(*this));
}

TEST_F(MemoryLook, AReleaseRingsTheAlarmOfEachPlaceThatListens) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        w.there.occupy("stock", 30s);
        const auto of_alice = w.alice.line_up("stock");
        const auto of_bob = w.bob.line_up("stock");
        for (int times = 0; times < 2; ++times) {
            (void)co_await of_alice->look();
            (void)co_await of_bob->look();
        }
        EXPECT_TRUE(w.there.vacate("stock"));
        co_await w.alice.wake->wait_until(time_point::max());
        co_await w.bob.wake->wait_until(time_point::max());
        EXPECT_EQ(w.passed(), 0s);
    }(*this));
}

TEST_F(MemoryLook, AReleaseBetweenTwoLooksIsSeenByTheSecond) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        w.there.occupy("stock", 30s);
        const auto spot = w.alice.line_up("stock");
        EXPECT_FALSE((co_await spot->look()).granted);
        w.there.vacate("stock");
        EXPECT_TRUE((co_await spot->look()).granted);
    }(*this));
}

TEST_F(MemoryLook, ARingThatComesAfterThePlaceDiedIsDropped) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        w.there.occupy("stock", 30s);
        auto spot = w.alice.line_up("stock");
        (void)co_await spot->look();
        (void)co_await spot->look();
        w.there.vacate("stock");
        spot.reset();
        co_await w.alice.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 1s);
    }(*this));
}

TEST_F(MemoryLook, LeavingWithoutHavingTakenAnythingSendsNothing) {
    there.occupy("stock", 30s);
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock");
        (void)co_await spot->look();
        (void)co_await spot->look();
        const int before = w.requests;
        co_await spot->leave();
        EXPECT_EQ(w.requests, before);
        EXPECT_EQ(listener_count(w.there), 0u);
    }(*this));
}

TEST_F(MemoryLook, LeavingAGrantedPlaceReleases) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock");
        (void)co_await spot->look();
        co_await spot->leave();
        EXPECT_EQ(held_count(w.there), 0u);
        co_await spot->leave(); // nothing more to do
    }(*this));
}

TEST_F(MemoryLook, ALeaseEndsByTheServersClock) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto of_bob = w.bob.line_up("stock", 10s);
        (void)co_await of_bob->look();
        const auto of_alice = w.alice.line_up("stock");
        co_await w.sleep_for(9999ms);
        EXPECT_FALSE((co_await of_alice->look()).granted);
        co_await w.sleep_for(1ms);
        EXPECT_EQ(held_count(w.there), 0u);
        EXPECT_TRUE((co_await of_alice->look()).granted);
    }(*this));
}

TEST_F(MemoryLook, EveryKindIsOfferedAndNoNameThatNoServerWouldTake) {
    const lock_store& locks = alice.home->locks();
    for (const lock_kind kept :
         {lock_kind::plain, lock_kind::spin, lock_kind::fenced, lock_kind::fair, lock_kind::read,
          lock_kind::write, lock_kind::token, lock_kind::permit})
        EXPECT_TRUE(locks.offers(kept));
    EXPECT_EQ(locks.objection_to(""), "the name is empty");
    EXPECT_EQ(locks.objection_to(std::string(65'537, 'x')),
              "the name has 65537 bytes, more than 65536");
    EXPECT_FALSE(locks.objection_to(std::string(65'536, '\0')));
}

// Events of a hold: renewal, release, forced release, and the loss of the server's data.

struct MemoryHold : MemoryWorld {
    void SetUp() override { primary_state(there)->look(alice.wants("stock", 10s), std::nullopt); }

    asio::awaitable<std::vector<answer>> renew(duration lease, std::vector<hold> more = {}) {
        more.insert(more.begin(), alice.held("stock"));
        const auto listed = support::listed(more);
        co_return co_await support::renewed(alice.home->locks(), listed, lease);
    }
    duration left() const { return inspect(there, "stock")->remaining.value(); }
};

TEST_F(MemoryHold, RenewingExtendsAndNeverShortens) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        const auto longer = co_await w.renew(30s);
        EXPECT_TRUE(longer.at(0).granted);
        EXPECT_EQ(longer.at(0).term, 30s);
        EXPECT_EQ(w.left(), 30s);
        const auto shorter = co_await w.renew(5s);
        EXPECT_TRUE(shorter.at(0).granted);
        EXPECT_EQ(w.left(), 30s);
    }(*this));
}

TEST_F(MemoryHold, ALeaseTimeOfZeroOnlyAsks) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        EXPECT_TRUE((co_await w.renew(0s)).at(0).granted);
        EXPECT_EQ(w.left(), 10s);
        co_await w.sleep_for(10s);
        EXPECT_FALSE((co_await w.renew(0s)).at(0).granted);
    }(*this));
}

TEST_F(MemoryHold, OneAnswerPerHoldInOrder) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        w.there.occupy("others", 60s);
        std::vector<hold> more(1, w.alice.held("others"));
        more.push_back(w.alice.held("free"));
        more.push_back(w.alice.held("stock"));
        const auto said = co_await w.renew(30s, std::move(more));
        EXPECT_EQ(said.size(), 4u);
        EXPECT_TRUE(said.at(0).granted);
        EXPECT_FALSE(said.at(1).granted);
        EXPECT_FALSE(said.at(2).granted);
        EXPECT_TRUE(said.at(3).granted);
        EXPECT_EQ(held_count(w.there), 2u); // nothing was made
        EXPECT_TRUE((co_await support::renewed(w.alice.home->locks(), {}, 30s)).empty());
    }(*this));
}

TEST_F(MemoryHold, OnlyItsOwnerReleasesIt) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        EXPECT_FALSE(co_await w.bob.home->locks().release(w.bob.held("stock")));
        EXPECT_TRUE(co_await w.alice.home->locks().release(w.alice.held("stock")));
        EXPECT_FALSE(co_await w.alice.home->locks().release(w.alice.held("stock")));
    }(*this));
}

TEST_F(MemoryHold, TheOperatorSeesAndForcesIt) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        inspector& operators = w.bob.home->operators_view();
        const auto seen = co_await operators.inspect("stock");
        EXPECT_EQ(seen->owners.at(0), to_string(w.alice.id));
        EXPECT_EQ(seen->remaining, 10s);
        const std::string hers = to_string(w.alice.id);
        EXPECT_FALSE((co_await operators.force_release("stock", "another")).was_locked);
        const forced outcome = co_await operators.force_release("stock", hers);
        EXPECT_TRUE(outcome.was_locked);
        EXPECT_EQ(outcome.owners, std::vector<std::string>{hers});
        EXPECT_FALSE((co_await operators.force_release("stock", {})).was_locked);
        EXPECT_FALSE(co_await operators.inspect("stock"));
        EXPECT_FALSE((co_await w.renew(30s)).at(0).granted);
    }(*this));
}

TEST_F(MemoryHold, AForcedReleaseWakesAndAForgottenLockDoesNot) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        const auto spot = w.bob.line_up("stock");
        (void)co_await spot->look();
        (void)co_await spot->look();
        EXPECT_TRUE(w.there.evict("stock"));
        EXPECT_FALSE(w.there.evict("stock"));
        co_await w.bob.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 1s);
        w.there.occupy("stock", 60s);
        (void)co_await w.alice.home->operators_view().force_release("stock", {});
        co_await w.bob.wake->wait_until(time_point::max());
        EXPECT_EQ(w.passed(), 1s);
    }(*this));
}

TEST_F(MemoryHold, AForeignOwnerTakesItFromWhoeverHolds) {
    there.occupy("stock", 5s);
    EXPECT_EQ(inspect(there, "stock")->owners, std::vector<std::string>{"foreign"});
    EXPECT_FALSE(there.vacate("other"));
    EXPECT_TRUE(there.vacate("stock"));
    primary_state(there)->look(bob.wants("stock", 10s), std::nullopt);
    EXPECT_FALSE(there.vacate("stock"));
}

TEST_F(MemoryHold, ARestartForgetsEverything) {
    there.occupy("other", duration::max());
    EXPECT_EQ(held_count(there), 2u);
    there.restart_empty();
    EXPECT_EQ(held_count(there), 0u);
}

TEST_F(MemoryHold, AStepBackOfTheServersClockLengthensIt) {
    there.step_clock(-1h);
    EXPECT_EQ(left(), 1h + 10s);
    there.step_clock(1h + 10s);
    EXPECT_EQ(held_count(there), 0u);
}

// A look is not granted late: not after its caller gave up, not by a server whose clock is not what
// the client took it for.

using MemoryDeadline = MemoryWorld;

TEST_F(MemoryDeadline, TheFirstLookHasTheWholeTimeLimitEvenWithoutTimeout) {
    fates = {{.request_delay = 1s}};
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s, w.clock.now());
        EXPECT_TRUE((co_await spot->look()).granted);
    }(*this));
}

TEST_F(MemoryDeadline, NoLaterLookIsGrantedAfterGivingUp) {
    there.occupy("stock", 60s);
    fates = {{}, {.request_delay = 1001ms}, {.request_delay = 1ms}};
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s, w.clock.now() + 1s);
        (void)co_await spot->look();
        w.there.vacate("stock");
        const answer said = co_await spot->look(); // late, asked again, and then it was time
        EXPECT_FALSE(said.granted);
        EXPECT_FALSE(spot->uncertain());
        EXPECT_EQ(w.requests, 2);
        EXPECT_EQ(held_count(w.there), 0u);
    }(*this));
}

TEST_F(MemoryDeadline, ALookAfterGivingUpSendsNothing) {
    there.occupy("stock", 60s);
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s, w.clock.now());
        (void)co_await spot->look();
        EXPECT_FALSE((co_await spot->look()).granted);
        EXPECT_EQ(w.requests, 1);
    }(*this));
}

TEST_F(MemoryDeadline, AStepOfTheServersClockCostsOneMoreRequest) {
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        w.there.step_clock(1h);
        const auto first = w.alice.line_up("a");
        EXPECT_TRUE((co_await first->look()).granted);
        EXPECT_EQ(w.requests, 2);
        w.there.step_clock(-1h);
        const auto second = w.alice.line_up("b");
        EXPECT_TRUE((co_await second->look()).granted);
        EXPECT_EQ(w.requests, 3);
        EXPECT_EQ(held_count(w.there), 2u);
    }(*this));
}

TEST_F(MemoryDeadline, AForceThatWasDelayedDoesNotFreeANewerHolder) {
    there.occupy("stock", 1s);
    fates = {{.request_delay = 3s + 1ms}};
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        inspector& operators = w.alice.home->operators_view();
        EXPECT_EQ(co_await failure_of(operators.force_release("stock", {})), errc::outcome_unknown);
        EXPECT_EQ(w.passed(), 3s);
        EXPECT_TRUE((co_await w.bob.line_up("stock")->look()).granted);
        co_await w.sleep_for(1s);
        EXPECT_EQ(inspect(w.there, "stock")->owners.at(0), to_string(w.bob.id));
    }(*this));
}

TEST_F(MemoryDeadline, AClockThatJumpsTwiceIsUnstable) {
    guest carol{io, clock, there.connect([this](const request&) {
                    there.step_clock(1h);
                    return fate{};
                }),
                'c'};
    play([](guest& of) -> asio::awaitable<void> {
        const auto spot = of.line_up("stock");
        EXPECT_EQ(co_await failure_of(spot->look()), errc::clock_unstable);
        EXPECT_FALSE(spot->uncertain());
    }(carol));
    EXPECT_EQ(held_count(there), 0u);
}

TEST_F(MemoryDeadline, OnePercentOfDriftIsNoReasonToRefuse) {
    for (const double rate : {0.99, 1.01}) {
        set_clock_rate(there, rate);
        play([](MemoryDeadline& w) -> asio::awaitable<void> {
            const int before = w.requests;
            for (int i = 0; i < 5; ++i) {
                co_await w.sleep_for(20s);
                const auto spot = w.alice.line_up("stock");
                EXPECT_TRUE((co_await spot->look()).granted);
            }
            EXPECT_EQ(w.requests, before + 5);
        }(*this));
    }
}

TEST_F(MemoryDeadline, AFastServerEndsLeasesEarly) {
    set_clock_rate(there, 2.0);
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 10s);
        (void)co_await spot->look();
        co_await w.sleep_for(4999ms);
        EXPECT_EQ(held_count(w.there), 1u);
        co_await w.sleep_for(1ms);
        EXPECT_EQ(held_count(w.there), 0u);
    }(*this));
}

// Ends: of a client, of a server, of everything in any order.

using MemoryClose = MemoryWorld;

TEST_F(MemoryClose, WhatIsInFlightFailsAndLeavesNoWork) {
    fates = {{.request_delay = 2s},
             {.request_lost = true},
             {.answer_delay = 2s},
             {.executed_again = 1h}};
    int failed = 0;
    auto fails = [](MemoryClose& w, std::string name, int& count) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up(std::move(name));
        if (co_await failure_of(spot->look()) == errc::closed)
            ++count;
    };
    for (const char* name : {"a", "b", "c", "d"})
        asio::co_spawn(io, fails(*this, name, failed), asio::detached);
    auto close = [](MemoryClose& w) -> asio::awaitable<void> {
        co_await w.sleep_for(1s);
        w.alice.home->close();
    };
    play(close(*this));
    EXPECT_EQ(failed, 3); // the fourth was answered at once
    EXPECT_EQ(passed(), 1s);
    EXPECT_EQ(clock.sleepers(), 0u);
    EXPECT_FALSE(inspect(there, "a")); // never arrived
}

TEST_F(MemoryClose, AfterwardsEverythingAnswersClosedAndAsksNoFaultFunction) {
    alice.home->close();
    alice.home->close();
    play([](MemoryClose& w) -> asio::awaitable<void> {
        lock_store& locks = w.alice.home->locks();
        const auto spot = w.alice.line_up("stock");
        EXPECT_EQ(co_await failure_of(spot->look()), errc::closed);
        EXPECT_FALSE(spot->uncertain());
        const hold held = w.alice.held("stock");
        const hold* const mine[] = {&held};
        EXPECT_EQ(co_await failure_of(support::renewed(locks, mine, 1s)), errc::closed);
        EXPECT_EQ(co_await failure_of(locks.release(w.alice.held("stock"))), errc::closed);
        EXPECT_EQ(co_await failure_of(w.alice.home->operators_view().inspect("stock")),
                  errc::closed);
        EXPECT_EQ(w.requests, 0);
    }(*this));
}

TEST_F(MemoryClose, AStoreMayDieWithRequestsInFlight) {
    fates = {{.request_delay = 2s}};
    auto story = [](MemoryClose& w) -> asio::awaitable<void> {
        const hold held = w.alice.held("stock");
        const hold* const mine[] = {&held};
        EXPECT_EQ(co_await failure_of(support::renewed(w.alice.home->locks(), mine, 1s)),
                  errc::closed);
    };
    asio::co_spawn(io, story(*this), asio::detached);
    clock.run_for(1s);
    alice.home.reset();
    EXPECT_TRUE(clock.run_until_idle());
    EXPECT_EQ(passed(), 1s);
}

TEST_F(MemoryClose, AClientOutlivesItsServerObject) {
    auto own = std::make_unique<server>(clock);
    guest carol{io, clock, own->connect(), 'c'};
    own.reset();
    play([](guest& of) -> asio::awaitable<void> {
        EXPECT_TRUE((co_await of.line_up("stock")->look()).granted);
    }(carol));
}

TEST(MemoryNamed, TheSameNameIsTheSameServerWhileSomebodyUsesIt) {
    asio::io_context io;
    sim::sim_clock clock{io};
    {
        const guest user{io, clock, server::named("memory-named-test")->connect(), 'a'};
        server::named("memory-named-test")->occupy("stock", 1h);
        server::named("another")->occupy("a", 1h);
        EXPECT_EQ(held_count(*server::named("memory-named-test")), 1u);
        EXPECT_EQ(held_count(*server::named("another")), 0u);
    }
    EXPECT_EQ(held_count(*server::named("memory-named-test")), 0u);
}

/// A client of a thread of its own, on the real clock.
struct threaded_guest {
    explicit threaded_guest(server& s, std::uint8_t identity)
        : self{io, time, s.connect(), identity} {}

    asio::io_context io{1};
    runtime::real_clock time{io.get_executor()};
    guest self;
};

asio::awaitable<void> take_turns(threaded_guest& who, int rounds, int& inside, int& total) {
    for (int i = 0; i < rounds; ++i) {
        ++who.self.id.number;
        const auto spot = who.self.line_up("stock");
        answer said = co_await spot->look();
        while (!said.granted) {
            co_await who.self.wake->wait_until(who.time.now() + said.term);
            said = co_await spot->look();
        }
        EXPECT_EQ(++inside, 1);
        ++total;
        --inside;
        co_await spot->leave();
    }
}

TEST(MemoryThreads, ClientsOnSeveralThreadsExcludeAndWakeEachOther) {
    server there;
    constexpr int threads = 4, rounds = 200;
    int inside = 0, total = 0; // guarded by the lock itself
    {
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i)
            running.emplace_back([&, i] {
                threaded_guest who{there, static_cast<std::uint8_t>(i)};
                asio::co_spawn(who.io, take_turns(who, rounds, inside, total), asio::detached);
                who.io.run();
            });
    }
    EXPECT_EQ(total, threads * rounds);
    EXPECT_EQ(held_count(there), 0u);
    EXPECT_EQ(listener_count(there), 0u);
}

// Random simulations of the queue of a fair lock, with waiters of holdfast and of JVMs, which
// compute deadlines as Redisson does. Some waiters die or give up, and holds are short or long. No
// live waiter of holdfast may be removed from the queue.

using namespace std::chrono_literals;

constexpr duration poll_bound = 5s;
constexpr duration timeout = 21s;
constexpr duration renewed_lease = 30s;

struct mixture {
    int ours; ///< per cent
    duration longest_hold;
    duration longest_gap; ///< between two who come
    int die, give_up;     ///< per cent
};

class fair_world {
public:
    fair_world(std::uint64_t seed, const mixture& m)
        : dice_{seed}
        , how_{m} {}

    void run(int waiters) {
        duration comes{};
        for (int i = 0; i < waiters; ++i) {
            comes += dice_.between(duration{0}, how_.longest_gap);
            at(comes, [this, i] { arrive(i); });
        }
        while (!events_.empty()) {
            const event next = events_.top();
            events_.pop();
            now_ = std::get<0>(next);
            const auto act = acts_.extract(std::get<1>(next)).mapped();
            act();
            check();
        }
        EXPECT_TRUE(alive_.empty()) << alive_.size() << " wait for ever";
    }

    duration longest_pause() const { return longest_pause_; }
    int granted() const { return granted_; }

private:
    using event = std::tuple<duration, int>;

    void at(duration when, std::function<void()> act) {
        acts_.emplace(++last_, std::move(act));
        events_.emplace(std::max(when, now_), last_);
    }
    void in(duration wait, std::function<void()> act) { at(now_ + wait, std::move(act)); }

    bool is_ours(int who) const { return ours_.contains(who); }
    static owner_id id_of(int who) { return {.client = {7}, .number = std::uint64_t(who) + 1}; }
    std::string name_of(int who) const {
        return is_ours(who) ? to_string(id_of(who)) : "jvm:" + std::to_string(who);
    }

    void arrive(int who) {
        if (dice_.percent(how_.ours))
            ours_.insert(who);
        alive_.insert(who);
        by_name_[name_of(who)] = who;
        if (dice_.percent(how_.give_up)) {
            const duration wait = dice_.between(1s, 200s);
            waits_[who] = wait;
            in(wait, [this, who] { give_up(who); });
        }
        if (dice_.percent(how_.die))
            in(dice_.between(duration{1}, 100s), [this, who] { alive_.erase(who); });
        look(who, 0);
    }
    duration wait_of(int who) const {
        return waits_.contains(who) ? waits_.at(who) : duration{std::chrono::minutes{5}};
    }

    void look(int who, int turn) {
        if (!alive_.contains(who) || turn != turns_[who])
            return;
        ++turns_[who];
        is_ours(who) ? look_as_ours(who) : look_as_jvm(who);
    }
    void look_as_ours(int who) {
        ask want{"desk", id_of(who), lock_kind::fair};
        want.lease_time = renewed_lease;
        want.outlasts = timeout;
        fair_table::owners told;
        const verdict_on_look got = queues_.look(want, told);
        wake(told);
        if (got.said == verdict::granted)
            return take(who);
        EXPECT_EQ(got.joined_now, joined_.insert(who).second) << name_of(who) << " lost its place";
        again_in(who,
                 std::min(got.left.value() + 2ms, dice_.between(poll_bound * 4 / 5, poll_bound)));
    }
    void look_as_jvm(int who) {
        if (queues_.stranger_takes_or_queues("desk", name_of(who), wait_of(who), renewed_lease))
            return take(who);
        const auto held = locks_.inspect("desk");
        again_in(who, held ? held->remaining.value() : 250ms);
    }
    void again_in(int who, duration wait) {
        in(wait, [this, who, turn = turns_[who]] { look(who, turn); });
    }
    void wake(const fair_table::owners& told) {
        for (const std::string& name : told)
            if (const int who = by_name_.at(name); alive_.contains(who))
                again_in(who, 1ms);
    }

    void take(int who) {
        ++granted_;
        alive_.erase(who);
        joined_.erase(who);
        EXPECT_FALSE(holder_) << "two have it";
        holder_ = who;
        const duration holds = dice_.between(duration{1}, how_.longest_hold);
        keep(who, now_ + holds);
        in(holds, [this, who] { release(who); });
    }
    void keep(int who, duration until) {
        if (holder_ != who || now_ >= until)
            return;
        locks_.occupy("desk", name_of(who), renewed_lease);
        in(renewed_lease / 3, [this, who, until] { keep(who, until); });
    }
    void release(int who) {
        holder_.reset();
        fair_table::owners told;
        if (is_ours(who)) {
            queues_.release({"desk", id_of(who), lock_kind::fair}, told);
        } else {
            locks_.erase("desk");
            told = queues_.next("desk");
        }
        wake(told);
    }
    void give_up(int who) {
        if (alive_.erase(who) == 0)
            return;
        joined_.erase(who);
        fair_table::owners told;
        if (is_ours(who))
            queues_.release({"desk", id_of(who), lock_kind::fair}, told);
        else
            queues_.stranger_leaves("desk", name_of(who), wait_of(who));
        wake(told);
    }

    void check() {
        const fair_table::owners waiting = queues_.waiting("desk");
        for (const int who : joined_) {
            const bool stands = std::count(waiting.begin(), waiting.end(), name_of(who)) == 1;
            EXPECT_TRUE(stands || !alive_.contains(who))
                << name_of(who) << " was thrown out at " << now_.count();
        }
        if (holder_ || alive_.empty())
            idle_since_.reset();
        else if (!idle_since_)
            idle_since_ = now_;
        if (idle_since_)
            longest_pause_ = std::max(longest_pause_, now_ - *idle_since_);
    }

    sim::dice dice_;
    const mixture how_;
    duration now_{};
    server_clock clock_{[this] { return time_point{now_}; }};
    exclusive_table locks_{clock_};
    fair_table queues_{clock_, locks_};
    std::priority_queue<event, std::vector<event>, std::greater<>> events_;
    std::map<int, std::function<void()>> acts_;
    std::map<std::string, int> by_name_;
    std::map<int, duration> waits_;
    std::map<int, int> turns_;
    std::set<int> ours_, alive_, joined_;
    std::optional<int> holder_;
    std::optional<duration> idle_since_;
    duration longest_pause_{};
    int granted_ = 0;
    int last_ = 0;
};

/// All mixtures of how long holds are, who dies, who gives up.
template <typename Work>
void in_all_mixtures(int ours, Work work) {
    for (const auto& [hold, gap] :
         {std::pair<duration, duration>{200ms, 100ms}, std::pair<duration, duration>{10s, 5s},
          std::pair<duration, duration>{60s, 20s}})
        for (const auto& [die, give_up] : {std::pair{0, 0}, std::pair{10, 0}, std::pair{10, 30}})
            for (std::uint64_t seed = 1; seed <= 2; ++seed) {
                const mixture m{ours, hold, gap, die, give_up};
                SCOPED_TRACE("hold " + std::to_string(hold.count()) + " die " +
                             std::to_string(die) + " give up " + std::to_string(give_up) +
                             " seed " + std::to_string(seed));
                fair_world w{seed, m};
                w.run(60);
                work(w);
                if (testing::Test::HasFailure())
                    return;
            }
}

TEST(FairModel, AmongOursTheDeadAreWaitedForNoLongerThanTheirTimeout) {
    in_all_mixtures(
        100, [](const fair_world& w) { EXPECT_LE(w.longest_pause(), timeout + poll_bound); });
}

class FairModelBesideJvms : public testing::TestWithParam<int> {};

TEST_P(FairModelBesideJvms, NoLiveWaiterOfOursIsThrownOut) {
    in_all_mixtures(GetParam(), [](const fair_world& w) { EXPECT_GT(w.granted(), 0); });
}
INSTANTIATE_TEST_SUITE_P(Shares, FairModelBesideJvms, testing::Values(20, 50, 80));

} // namespace
} // namespace holdfast::memory
