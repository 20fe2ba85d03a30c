// SPDX-License-Identifier: Apache-2.0
// Options of a fair_mutex, and its blocking functions.
#include "support/counter_verbs.hpp"
#include "support/holds.hpp"
#include "support/loop_thread.hpp"
#include "unit/front/real_time.hpp"

#include <holdfast/fair_mutex.hpp>
#include <holdfast/shared_mutex.hpp>

#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

class FairMutex : public in_real_time {
protected:
    static std::string refusal_of(client& home, duration timeout) {
        const auto refused = thrown_by([&] {
            const fair_mutex m{home, "desk", {.waiter_timeout = timeout}};
        });
        EXPECT_EQ(refused.code, errc::invalid_argument) << refused.text;
        return refused.text;
    }
};

TEST_F(FairMutex, IsLockableAsStdSays) {
    fair_mutex desk{alice, "desk"};
    mutex plain{alice, "plain"};
    {
        const std::scoped_lock both{desk, plain};
        EXPECT_TRUE(desk.is_held_by_this_thread());
    }
    const std::unique_lock timed{desk, 1s};
    EXPECT_TRUE(timed.owns_lock());
}

TEST_F(FairMutex, HasTheLeaseOfItsOptions) {
    fair_mutex desk{alice, "desk", {.lease = lease_time{7s}, .deferred = true}};
    const lease held = soon(desk.async_lock(asio::use_future));
    EXPECT_EQ(support::wire_hold_of(held).lease(), 7s);
    EXPECT_TRUE(support::wire_hold_of(held).deferred());
}

TEST_F(FairMutex, IsNotRecursiveUnlessTheOptionsSaySo) {
    fair_mutex desk{alice, "desk"};
    desk.lock();
    EXPECT_EQ(thrown_by([&] { desk.lock(); }).code, errc::already_held);
    fair_mutex counted{alice, "counted", {.again = recursion::counted}};
    counted.lock();
    counted.lock();
    EXPECT_EQ(counted.hold_count(), 2u);
    counted.unlock();
    counted.unlock();
    desk.unlock();
}

TEST_F(FairMutex, ATryAfterADeferredReleaseComesBehindIt) {
    fair_mutex desk{alice, "desk", {.deferred = true}};
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(desk.try_lock()) << i;
        desk.unlock();
    }
}

TEST_F(FairMutex, ThreadsOfOneClientExcludeEachOther) {
    int counter = 0;
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < 8; ++i)
            all.emplace_back([&] {
                fair_mutex desk{alice, "desk"};
                for (int round = 0; round < 20; ++round) {
                    const std::scoped_lock held{desk};
                    ++counter;
                }
            });
    }
    EXPECT_EQ(counter, 160);
}

TEST_F(FairMutex, AWaiterThatSurvivesAnOutageMustNotBeOvertakenForIt) {
    client home{options{.store = server.connect(), .unavailable_timeout = 10s, .poll_bound = 5s}};
    EXPECT_THAT(refusal_of(home, 20'999ms),
                HasSubstr("fair_options.waiter_timeout is 20999 ms; allowed are 21000 ms to "
                          "3600000 ms"));
    EXPECT_THAT(refusal_of(home, 0s), HasSubstr("2 * command_timeout"));
    EXPECT_THAT(refusal_of(home, 1h + 1ms), HasSubstr("3600001 ms"));
    const fair_mutex least{home, "desk", {.waiter_timeout = 21s}};
    const fair_mutex most{home, "desk", {.waiter_timeout = 1h}};
}

TEST_F(FairMutex, WithAnEndlessUnavailableTimeoutAPlaceLastsAnHour) {
    for (const duration outage : {duration{1h}, duration{2h}, duration::max()}) {
        client home{options{.store = server.connect(), .unavailable_timeout = outage}};
        const fair_mutex usual{home, "desk"};
        const fair_mutex most{home, "desk", {.waiter_timeout = 1h}};
        EXPECT_THAT(refusal_of(home, 30s), HasSubstr("or one hour if that is less"));
    }
}

TEST_F(FairMutex, APollBoundOfMoreThanAnHourIsRefused) {
    client home{options{.store = server.connect(), .poll_bound = 2h}};
    EXPECT_THAT(refusal_of(home, 1h), HasSubstr("one hour at most; here it is 7206000 ms"));
}

} // namespace
} // namespace holdfast

// Whole, not only what the tests below call.
template class std::shared_lock<holdfast::shared_mutex>;
template class std::unique_lock<holdfast::shared_mutex>;
template class std::lock_guard<holdfast::shared_mutex>;
template class std::unique_lock<holdfast::basic_mutex>;

namespace holdfast {
namespace {

// shared_mutex as threads use it, and where std's would stand.

template <typename T>
concept shared_timed_mutex = requires(T m, std::chrono::seconds how_long,
                                      std::chrono::steady_clock::time_point until) {
    m.lock();
    { m.try_lock() } -> std::same_as<bool>;
    { m.try_lock_for(how_long) } -> std::same_as<bool>;
    { m.try_lock_until(until) } -> std::same_as<bool>;
    m.unlock();
    m.lock_shared();
    { m.try_lock_shared() } -> std::same_as<bool>;
    { m.try_lock_shared_for(how_long) } -> std::same_as<bool>;
    { m.try_lock_shared_until(until) } -> std::same_as<bool>;
    m.unlock_shared();
};
static_assert(shared_timed_mutex<shared_mutex>);

class SharedMutex : public in_real_time {
protected:
    shared_mutex prices{alice, "prices"}, bobs{bob, "prices"};

    template <typename Act>
    static auto code_of(Act act) {
        return thrown_by(act).code;
    }
};

TEST_F(SharedMutex, StandsWhereStdsStands) {
    {
        const std::shared_lock mine{prices}, his{bobs, 3s};
        EXPECT_TRUE(his.owns_lock());
        EXPECT_FALSE(elsewhere([&] { return bobs.try_lock_for(1ms); }).get());
    }
    const std::scoped_lock alone{prices};
    EXPECT_FALSE(std::shared_lock(bobs, std::try_to_lock).owns_lock());
    EXPECT_FALSE(std::unique_lock(bobs.shared(), 1ms).owns_lock());
}

TEST_F(SharedMutex, ThreadsOfOneClientReadTogether) {
    prices.lock_shared();
    std::thread{[this] {
        EXPECT_FALSE(prices.try_lock());
        EXPECT_TRUE(prices.try_lock_shared());
        prices.unlock_shared();
    }}.join();
    EXPECT_TRUE(prices.shared().is_held_by_this_thread());
    EXPECT_FALSE(prices.is_held_by_this_thread());
    prices.unlock_shared();
    EXPECT_TRUE(is_free("prices"));
}

TEST_F(SharedMutex, AThreadThatReadsDoesNotWaitForItself) {
    prices.lock_shared();
    EXPECT_EQ(code_of([&] { prices.lock(); }), errc::already_held);
    EXPECT_EQ(code_of([&] { prices.lock_shared(); }), errc::already_held);
    EXPECT_TRUE(prices.try_upgrade_for(1s));
    EXPECT_EQ(code_of([&] { (void)prices.try_upgrade_for(1s); }), errc::already_held);
    EXPECT_FALSE(bobs.try_lock_shared());
    prices.unlock();
    EXPECT_TRUE(bobs.try_lock_shared());
    bobs.unlock_shared();
    prices.unlock_shared();
    EXPECT_EQ(code_of([&] { (void)prices.try_upgrade_for(1s); }), errc::not_owner);
    EXPECT_TRUE(is_free("prices"));
}

TEST_F(SharedMutex, AThreadThatWritesMayReadAndGoesOnReading) {
    prices.lock();
    prices.lock_shared();
    EXPECT_FALSE(bobs.try_lock_shared());
    prices.unlock();
    EXPECT_TRUE(bobs.try_lock_shared());
    EXPECT_FALSE(elsewhere([&] { return bobs.try_lock_for(1ms); }).get());
    bobs.unlock_shared();
    prices.unlock_shared();
    EXPECT_TRUE(is_free("prices"));
}

TEST_F(SharedMutex, BothSidesCountWhereTheyMay) {
    shared_mutex counted{alice, "counted", {.again = recursion::counted}};
    counted.lock();
    counted.lock();
    counted.lock_shared();
    counted.lock_shared();
    EXPECT_EQ(counted.hold_count(), 2u);
    EXPECT_EQ(counted.shared().hold_count(), 2u);
    counted.unlock();
    counted.unlock();
    counted.unlock_shared();
    EXPECT_FALSE(is_free("counted"));
    counted.unlock_shared();
    EXPECT_TRUE(is_free("counted"));
}

TEST_F(SharedMutex, ThisThreadsNextAttemptComesBehindADeferredRelease) {
    shared_mutex quick{alice, "quick", {.deferred = true}};
    for (int i = 0; i < 20; ++i) {
        quick.lock_shared();
        quick.unlock_shared();
        ASSERT_TRUE(quick.try_lock());
        quick.unlock();
        ASSERT_TRUE(quick.try_lock_shared());
        quick.unlock_shared();
    }
}

TEST_F(SharedMutex, AThreadThatEndsTakesTheHoldFromNobody) {
    prices.lock_shared();
    std::thread{[this] { prices.lock_shared(); }}.join();
    EXPECT_TRUE(prices.shared().is_held_by_this_thread());
    error_code ec;
    prices.unlock_shared(ec);
    EXPECT_FALSE(ec);
    EXPECT_FALSE(is_free("prices")) << "nobody knows what the thread that ended has not finished";
}

TEST_F(SharedMutex, WhatIsNotAllowedIsSaidBeforeAnythingIsSent) {
    EXPECT_EQ(code_of([&] { const shared_mutex m{alice, ""}; }), errc::invalid_argument);
    EXPECT_EQ(code_of([&] { const shared_mutex m(alice, "a", {.lease = lease_time{0s}}); }),
              errc::invalid_argument);
    EXPECT_EQ(code_of([&] { prices.lock_shared(lease_time{0s}); }), errc::invalid_argument);
}

// A thread that locks again what it holds.

class Recursion : public in_real_time {
protected:
    recursive_mutex stock{alice, "stock"};
    recursive_mutex same_name{alice, "stock"};
    mutex plain{alice, "stock"};

    duration stored() const { return inspect(server, "stock")->remaining.value(); }
};

TEST_F(Recursion, IsCountedAndTheStoreSeesOneHold) {
    EXPECT_EQ(stock.hold_count(), 0u);
    stock.lock();
    const std::vector<std::string> owners = inspect(server, "stock")->owners;
    stock.lock();
    EXPECT_TRUE(stock.try_lock());
    EXPECT_TRUE(stock.try_lock_for(1s));
    EXPECT_EQ(stock.hold_count(), 4u);
    EXPECT_EQ(inspect(server, "stock")->owners, owners);
    for (std::size_t left : {3u, 2u, 1u}) {
        stock.unlock();
        EXPECT_EQ(stock.hold_count(), left);
        EXPECT_FALSE(is_free("stock"));
    }
    stock.unlock();
    EXPECT_EQ(stock.hold_count(), 0u);
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(Recursion, SendsNoMessage) {
    stock.lock();
    const std::size_t before = sent.all();
    for (int i = 0; i < 10'000; ++i) {
        const std::scoped_lock again{stock};
        const std::scoped_lock through_another_object{same_name};
    }
    EXPECT_EQ(sent.all(), before);
    EXPECT_EQ(sent.all(), 1u);
    stock.unlock();
}

TEST_F(Recursion, ObjectsOfOneNameCountTogether) {
    stock.lock();
    same_name.lock();
    EXPECT_EQ(stock.hold_count(), 2u);
    EXPECT_EQ(same_name.hold_count(), 2u);
    stock.unlock();
    EXPECT_TRUE(same_name.is_held_by_this_thread());
    same_name.unlock();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(Recursion, OtherThreadsAreOthers) {
    stock.lock();
    soon(elsewhere([this] {
        EXPECT_FALSE(stock.is_held_by_this_thread());
        EXPECT_EQ(stock.hold_count(), 0u);
        EXPECT_FALSE(stock.try_lock());
        EXPECT_FALSE(stock.try_lock_for(10ms));
    }));
    EXPECT_EQ(stock.hold_count(), 1u);
    stock.unlock();
}

TEST_F(Recursion, APlainMutexRefusesAtOnce) {
    plain.lock();
    const std::size_t before = sent.all();
    const auto attempts = {
        +[](mutex& m) { m.lock(); },
        +[](mutex& m) { m.lock(lease_time{1s}); },
        +[](mutex& m) { (void)m.try_lock(); },
        +[](mutex& m) { (void)m.try_lock_for(1h); },
        +[](mutex& m) { (void)m.try_lock_until(std::chrono::steady_clock::time_point::max()); },
    };
    for (const auto attempt : attempts) {
        const auto refused = thrown_by([&] { attempt(plain); });
        EXPECT_EQ(refused.code, errc::already_held);
        EXPECT_THAT(refused.text, HasSubstr("recursive"));
    }
    EXPECT_EQ(sent.all(), before);
    EXPECT_EQ(plain.hold_count(), 1u);
    plain.unlock();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(Recursion, APlainMutexRefusesWhatARecursiveOneOfItsNameHolds) {
    stock.lock();
    EXPECT_EQ(thrown_by([&] { plain.lock(); }).code, errc::already_held);
    stock.unlock();
}

TEST_F(Recursion, OfALostHoldSaysSoAndNeverTakesItAgain) {
    stock.lock();
    ASSERT_TRUE(stock.force_unlock());
    EXPECT_FALSE(stock.is_held_by_this_thread());
    EXPECT_EQ(stock.hold_count(), 0u);
    const auto refused = thrown_by([&] { stock.lock(); });
    EXPECT_EQ(refused.code, errc::lease_lost);
    EXPECT_THAT(refused.text, HasSubstr("unlock"));
    EXPECT_EQ(thrown_by([&] { (void)stock.try_lock(); }).code, errc::lease_lost);
    EXPECT_TRUE(is_free("stock"));

    error_code ec;
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost);
    stock.lock(); // and now it may begin anew
    EXPECT_EQ(stock.hold_count(), 1u);
    stock.unlock();
}

TEST_F(Recursion, EveryLevelOfALostHoldIsToldAtItsUnlock) {
    stock.lock();
    stock.lock();
    ASSERT_TRUE(stock.force_unlock());
    error_code inner, outer, after;
    stock.unlock(inner);
    stock.unlock(outer);
    stock.unlock(after);
    EXPECT_EQ(inner, errc::lease_lost);
    EXPECT_EQ(outer, errc::lease_lost);
    EXPECT_EQ(after, errc::not_owner);
}

TEST_F(Recursion, WithALongerLeaseExtendsFirst) {
    stock.lock(lease_time{10s});
    stock.lock(lease_time{60s});
    EXPECT_EQ(sent.count(verb::renew), 1u);
    EXPECT_GT(stored(), 55s);
    stock.unlock();
    EXPECT_GT(stored(), 55s) << "a partial unlock shortens nothing";
    stock.unlock();
}

TEST_F(Recursion, WithAShorterLeaseShortensNothing) {
    stock.lock(lease_time{60s});
    const std::size_t before = sent.all();
    stock.lock(lease_time{1s});
    EXPECT_EQ(sent.all(), before);
    EXPECT_GT(stored(), 55s);
    stock.unlock();
    stock.unlock();
}

TEST_F(Recursion, WithoutALeaseMakesAFixedHoldRenewed) {
    recursive_mutex brief{alice, "brief", lease_time{6s}};
    brief.lock(lease_time{6s});
    brief.lock();
    EXPECT_TRUE(eventually([&] { return sent.count(verb::renew) >= 3; }));
    EXPECT_EQ(brief.hold_count(), 2u);
    brief.unlock();
    brief.unlock();
}

TEST_F(Recursion, WithAFixedLeaseKeepsARenewedHoldRenewed) {
    recursive_mutex brief{alice, "brief", lease_time{6s}};
    brief.lock();
    brief.lock(lease_time{2s});
    brief.unlock();
    EXPECT_TRUE(eventually([&] { return sent.count(verb::renew) >= 3; }));
    EXPECT_EQ(brief.hold_count(), 1u);
    brief.unlock();
}

TEST_F(Recursion, ThatCannotBeExtendedChangesNothing) {
    stock.lock(lease_time{10s});
    sent.set({.refused = true});
    EXPECT_EQ(thrown_by([&] { stock.lock(lease_time{60s}); }).code, errc::unreachable);
    EXPECT_EQ(stock.hold_count(), 1u);
    sent.set({});
    stock.unlock();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(Recursion, AThousandLevelsAreFine) {
    for (int i = 0; i < 1'000; ++i)
        stock.lock();
    EXPECT_EQ(stock.hold_count(), 1'000u);
    for (int i = 0; i < 1'000; ++i)
        stock.unlock();
    EXPECT_TRUE(is_free("stock"));
}

// Contract of all functions of the counters: on the client's own executor, after close(), and when
// the objects are destroyed during a call.

using support::counter_verbs;
using support::counters;

class CounterVerbs : public in_real_time {
protected:
    static void expect(const counter_verbs& verbs, errc wanted) {
        for (const auto& [name, verb] : verbs)
            EXPECT_EQ(verb(), wanted) << name;
    }
    /// Somebody else's, of which nothing is to be had.
    void shut_all() {
        counters others{bob};
        others.gate.try_set_count(1);
        others.mails.set_rate({.permits = 1, .per = 1h});
        others.mails.acquire();
    }
    static std::vector<std::future<error_code>> waiting_at(counters& my) {
        std::vector<std::future<error_code>> all;
        const auto wait = [&all](auto call) {
            all.push_back(elsewhere([call] { return support::code_of(call); }));
        };
        wait([&my] { my.seats.acquire(); });
        wait([&my] { (void)my.leases.acquire(); });
        wait([&my] { my.gate.wait(); });
        wait([&my] { my.mails.acquire(); });
        return all;
    }
};

TEST_F(CounterVerbs, ThatBlockAreRefusedOnTheClientsOwnExecutor) {
    counters my{alice};
    std::promise<void> done;
    my.seats.async_available_permits([&](error_code, std::int64_t) {
        expect(blocking_counter_verbs(my), errc::would_deadlock);
        done.set_value();
    });
    soon(done.get_future());
    EXPECT_EQ(sent.all(), 1u) << "it was sent all the same";
}

TEST_F(CounterVerbs, OfAClosedClientSayThatItIsClosed) {
    counters my{alice};
    alice.close();
    const std::size_t before = sent.all();
    expect(blocking_counter_verbs(my), errc::closed);
    expect(asynchronous_counter_verbs(my), errc::closed);
    EXPECT_EQ(sent.all(), before);
}

TEST_F(CounterVerbs, OfAClientThatIsGoneSayThatItIsClosed) {
    auto home = std::make_unique<client>(options{.store = server.connect()});
    counters my{*home};
    home.reset();
    expect(blocking_counter_verbs(my), errc::closed);
    expect(asynchronous_counter_verbs(my), errc::closed);
}

TEST_F(CounterVerbs, ThatWaitEndWhenTheirClientIsClosed) {
    shut_all();
    counters my{alice};
    std::vector<std::future<error_code>> waiting = waiting_at(my);
    EXPECT_TRUE(
        eventually([&] { return listener_count(server) == 3 && sent.count(verb::count) >= 5; }));
    alice.close();
    for (std::future<error_code>& each : waiting)
        EXPECT_EQ(soon(std::move(each)), errc::closed);
    EXPECT_TRUE(eventually([&] { return listener_count(server) == 0; }));
}

TEST_F(CounterVerbs, GoOnWhenTheirObjectsAreGone) {
    shut_all();
    auto my = std::make_unique<counters>(alice);
    std::future<void> permits = my->seats.async_acquire(2, asio::use_future);
    std::future<lease> leased = my->leases.async_acquire(2, asio::use_future);
    std::future<void> opened = my->gate.async_wait(asio::use_future);
    std::future<void> drawn = my->mails.async_acquire(1, asio::use_future);
    EXPECT_TRUE(eventually([&] { return listener_count(server) == 3; }));
    my.reset();
    counters others{bob};
    others.seats.release(3);
    others.leases.set_permits(3);
    others.gate.count_down();
    others.mails.release();
    soon(std::move(permits));
    EXPECT_TRUE(soon(std::move(leased)).owns_lock());
    soon(std::move(opened));
    soon(std::move(drawn));
    EXPECT_EQ(others.seats.available_permits(), 1);
}

TEST_F(CounterVerbs, ALeaseOfPermitsOutlivesItsSemaphoreAndItsClient) {
    auto home = std::make_unique<client>(options{.store = server.connect(), .close_timeout = 0ms});
    auto my = std::make_unique<counters>(*home);
    my->leases.set_permits(2);
    lease held = my->leases.acquire(2);
    my.reset();
    EXPECT_TRUE(held.owns_lock());
    home.reset();
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_FALSE(held.owns_lock());
    error_code ec;
    held.unlock(ec);
    EXPECT_EQ(ec, errc::closed);
}

} // namespace
} // namespace holdfast
