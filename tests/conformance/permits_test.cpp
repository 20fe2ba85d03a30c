// SPDX-License-Identifier: Apache-2.0
// The contract of leased_semaphore, on every store.
#include "conformance/suite.hpp"
#include "support/recorder.hpp"

#include <holdfast/leased_semaphore.hpp>

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::conformance {
namespace {

using support::code_of;
using support::soon;
using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

class Permits : public suite {
protected:
    bool somebody_listens() {
        return support::eventually([&] { return store().listeners() > 0; });
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(Permits, counter_kind::permits);

TEST_P(Permits, AreAsManyAsWereSet) {
    client home = make_client();
    leased_semaphore seats{home, "seats"};
    EXPECT_EQ(seats.available_permits(), 0);
    EXPECT_EQ(seats.try_acquire(), std::nullopt);
    EXPECT_TRUE(seats.try_set_permits(3));
    EXPECT_FALSE(seats.try_set_permits(5));
    lease two = seats.acquire(2);
    EXPECT_TRUE(two.owns_lock());
    EXPECT_EQ(seats.try_acquire(2), std::nullopt);
    EXPECT_EQ(seats.available_permits(), 1);
    EXPECT_EQ(seats.acquired_permits(), 2);
    const std::optional<lease> one = seats.try_acquire();
    EXPECT_TRUE(one && one->owns_lock());
    EXPECT_EQ(seats.available_permits(), 0);
    error_code ec;
    two.unlock(ec);
    EXPECT_EQ(ec, error_code{});
    EXPECT_EQ(seats.available_permits(), 2);
    EXPECT_EQ(seats.acquired_permits(), 1);
}

TEST_P(Permits, HaveIdsAsRedissonWritesThem) {
    client home = make_client();
    leased_semaphore seats{home, "seats"};
    seats.add_permits(3);
    const lease held = seats.acquire(3);
    const std::vector<std::string> ids = held.permit_ids();
    EXPECT_THAT(ids, SizeIs(3));
    EXPECT_THAT(ids, Each(MatchesRegex("[0-9a-f]{12}8fd5[0-9a-f]{16}")));
    EXPECT_NE(ids.front(), ids.back());
    EXPECT_THAT(lease{}.permit_ids(), IsEmpty());
    mutex other{home, "stock"};
    const lease locked = soon(other.async_lock(asio::use_future));
    EXPECT_THAT(locked.permit_ids(), IsEmpty());
}

TEST_P(Permits, HowManyThereAreIsChangedBesideWhatIsHeld) {
    HOLDFAST_NEEDS(changes_permits);
    client home = make_client();
    leased_semaphore seats{home, "seats"};
    seats.set_permits(10);
    const lease held = seats.acquire(4);
    seats.set_permits(12);
    EXPECT_EQ(seats.available_permits(), 8);
    seats.set_permits(3);
    EXPECT_EQ(seats.available_permits(), -1);
    EXPECT_EQ(seats.try_acquire(), std::nullopt);
    seats.add_permits(5);
    EXPECT_EQ(seats.available_permits(), 4);
    seats.add_permits(-1);
    EXPECT_EQ(seats.available_permits(), 3);
    EXPECT_EQ(seats.acquired_permits(), 4);
    EXPECT_TRUE(soon(seats.async_try_set_permits(1, asio::use_future)) == false);
    soon(seats.async_set_permits(5, asio::use_future));
    soon(seats.async_add_permits(-1, asio::use_future));
    EXPECT_EQ(soon(seats.async_available_permits(asio::use_future)), 0);
    EXPECT_EQ(soon(seats.async_acquired_permits(asio::use_future)), 4);
}

TEST_P(Permits, RefusesWhatCannotBe) {
    client home = make_client();
    leased_semaphore seats{home, "seats"};
    constexpr std::uint32_t too_many = leased_semaphore::most_at_once + 1;
    const std::size_t sent = requests_during([&] {
        for (const std::uint32_t wrong : {std::uint32_t{0}, too_many, ~std::uint32_t{0}}) {
            EXPECT_EQ(code_of([&] { (void)seats.acquire(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { (void)seats.try_acquire(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { (void)soon(seats.async_acquire(wrong, asio::use_future)); }),
                      errc::invalid_argument);
        }
        EXPECT_EQ(code_of([&] { (void)seats.acquire(lease_time{0ms}); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { seats.set_permits(-1); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { seats.add_permits(-leased_semaphore::max() - 1); }),
                  errc::invalid_argument);
        const std::string id(32, 'a');
        for (const std::string& wrong : {std::string{}, id + "a", std::string(32, 'g')}) {
            EXPECT_EQ(code_of([&] { seats.release(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { soon(seats.async_release(wrong, asio::use_future)); }),
                      errc::invalid_argument);
        }
        EXPECT_EQ(code_of([&] { seats.set_lease(id, lease_time{0ms}); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { leased_semaphore{home, ""}; }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] {
                      leased_semaphore{home, "seats", {.lease = lease_time{0ms}}};
                  }),
                  errc::invalid_argument);
    });
    EXPECT_EQ(sent, 0u);
}

TEST_P(Permits, AWaiterIsWokenByAReleaseOfAnother) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    leased_semaphore wanted{home, "seats"}, given{other, "seats"};
    given.set_permits(2);
    std::vector<lease> held;
    held.push_back(given.acquire());
    held.push_back(given.acquire());
    std::future<lease> waiting = wanted.async_acquire(2, asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)wanted.available_permits(); // behind its second look
    held.pop_back();
    EXPECT_TRUE(support::eventually([&] { return given.available_permits() == 1; }));
    EXPECT_FALSE(support::is_ready(waiting));
    held.pop_back();
    EXPECT_TRUE(soon(std::move(waiting)).owns_lock());
}

TEST_P(Permits, AWaiterIsWokenWhenThereAreMore) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    leased_semaphore wanted{home, "seats"}, given{other, "seats"};
    std::future<lease> waiting = wanted.async_acquire(2, asio::use_future);
    ASSERT_TRUE(!store().counts_listeners() || somebody_listens());
    (void)wanted.available_permits();
    given.try_set_permits(2);
    EXPECT_TRUE(soon(std::move(waiting)).owns_lock());
}

TEST_P(Permits, GivesUpInTimeAndTakesNothing) {
    client home = make_client();
    leased_semaphore seats{home, "seats"};
    EXPECT_EQ(seats.try_acquire_for(30ms), std::nullopt);
    EXPECT_EQ(seats.try_acquire_until(std::chrono::steady_clock::now() + 30ms), std::nullopt);
    EXPECT_EQ(soon(seats.async_try_acquire_for(30ms, 1, asio::use_future)), std::nullopt);
    EXPECT_EQ(soon(seats.async_try_acquire(1, asio::use_future)), std::nullopt);
    seats.set_permits(1);
    EXPECT_EQ(seats.available_permits(), 1);
}

TEST_P(Permits, ACancelledCallEndsAtOnceAndTakesNothing) {
    client home = make_client({.poll_bound = hardly_ever});
    leased_semaphore seats{home, "seats"};
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
        return code_of([&] { (void)seats.acquire(1, stop.get_token()); });
    });
    ASSERT_TRUE(!store().counts_listeners() || somebody_listens());
    stop.request_stop();
    EXPECT_EQ(soon(std::move(waiting)), asio::error::operation_aborted);
    seats.set_permits(1);
    // A request that was under way may be granted. It is then undone.
    EXPECT_TRUE(support::eventually([&] { return seats.available_permits() == 1; }));
}

TEST_P(Permits, CallsOfOneClientAreServedInOrderAfterTheFirstHasGivenUp) {
    client home = make_client(), other = make_client();
    for (int round = 0; round < 6; ++round) {
        const std::string name = "seats" + std::to_string(round);
        leased_semaphore wanted{home, name}, given{other, name};
        given.set_permits(2);
        lease taken = given.acquire();
        auto first = wanted.async_try_acquire_for(30ms, 2, asio::use_future);
        std::future<lease> second = wanted.async_acquire(2, asio::use_future);
        std::future<lease> third = wanted.async_acquire(2, asio::use_future);
        EXPECT_EQ(soon(std::move(first)), std::nullopt);
        taken.unlock();
        lease held = soon(std::move(second));
        EXPECT_FALSE(support::is_ready(third)) << "there are two permits";
        held.unlock();
        EXPECT_TRUE(soon(std::move(third)).owns_lock());
    }
}

TEST_P(Permits, AReleasePassesToAWaiterOfItsClientWithoutAMessage) {
    client home = make_client({.poll_bound = hardly_ever, .hand_off = {.within = 1h}});
    leased_semaphore seats{home, "seats"};
    seats.set_permits(2);
    lease held = seats.acquire(2);
    const std::string owner = held.owner();
    std::future<lease> waiting = seats.async_acquire(2, asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)seats.available_permits();
    std::optional<lease> next_owner;
    const std::size_t sent = requests_during([&] {
        held.unlock();
        next_owner = soon(std::move(waiting));
    });
    EXPECT_EQ(sent, 0u);
    EXPECT_EQ(next_owner->owner(), owner);
    EXPECT_EQ(seats.available_permits(), 0);
    next_owner.reset();
    EXPECT_TRUE(support::eventually([&] { return seats.available_permits() == 2; }));
}

TEST_P(Permits, ReleaseByIdOfAnEarlierHolderDoesNotEndTheNextHold) {
    client home = make_client({.poll_bound = hardly_ever, .hand_off = {.within = 1h}});
    leased_semaphore seats{home, "seats"};
    seats.set_permits(2);
    lease held = seats.acquire(2);
    const std::vector<std::string> ids = held.permit_ids();
    std::future<lease> waiting = seats.async_acquire(2, asio::use_future);
    ASSERT_TRUE(somebody_listens());
    held.unlock();
    const lease next = soon(std::move(waiting));
    for (const std::string& id : ids) {
        EXPECT_FALSE(seats.release(id));
        if (!store().leases_by_session()) {
            EXPECT_FALSE(seats.set_lease(id, lease_time{1ms}));
        }
        EXPECT_THAT(next.permit_ids(), Not(Contains(id)));
    }
    EXPECT_TRUE(next.owns_lock());
    EXPECT_EQ(seats.acquired_permits(), 2);
    EXPECT_EQ(seats.available_permits(), 0);
}

TEST_P(Permits, OneWhoWantsAnotherNumberIsServedByTheStore) {
    client home = make_client({.poll_bound = hardly_ever, .hand_off = {.within = 1h}});
    leased_semaphore seats{home, "seats"};
    seats.set_permits(2);
    lease held = seats.acquire(2);
    std::future<lease> waiting = seats.async_acquire(1, asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)seats.available_permits();
    held.unlock();
    EXPECT_THAT(soon(std::move(waiting)).permit_ids(), SizeIs(1));
}

TEST_P(Permits, WhatIsAskedForAgainAfterALostAnswerIsTakenOnce) {
    HOLDFAST_NEEDS(changes_permits);
    options how;
    store().reach_badly(how);
    client home{std::move(how)};
    leased_semaphore seats{home, "seats"};
    seats.set_permits(5);
    store().lose_answer_about("seats");
    lease held = seats.acquire(2);
    EXPECT_EQ(seats.available_permits(), 3);
    store().lose_answer_about("seats");
    held.unlock();
    EXPECT_EQ(seats.available_permits(), 5);
    store().lose_answer_about("seats");
    seats.add_permits(2);
    EXPECT_EQ(seats.available_permits(), 7);
    held = seats.acquire(2);
    store().lose_answer_about("seats");
    EXPECT_TRUE(seats.release(held.permit_ids()[0]));
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); })) << "it had two";
    EXPECT_TRUE(support::eventually([&] { return seats.available_permits() == 7; }))
        << "the other one is given back";
}

TEST_P(Permits, FailsWhereSomethingElseHasTheName) {
    client home = make_client();
    leased_semaphore seats{home, "seats"};
    if (!store().put_something_else("seats"))
        GTEST_SKIP() << "this store holds nothing but locks";
    EXPECT_EQ(code_of([&] { (void)seats.try_acquire(); }), errc::refused);
    EXPECT_EQ(code_of([&] { seats.add_permits(1); }), errc::refused);
    EXPECT_EQ(code_of([&] { (void)seats.available_permits(); }), errc::refused);
}

TEST_P(Permits, AClosedClientEndsItsWaitersAndGivesBackWhatItHas) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    leased_semaphore seats{home, "seats"}, theirs{other, "seats"};
    seats.set_permits(1);
    const lease held = seats.acquire();
    std::future<lease> waiting = seats.async_acquire(1, asio::use_future);
    ASSERT_TRUE(somebody_listens());
    home.close();
    EXPECT_EQ(code_of([&] { (void)soon(std::move(waiting)); }), errc::closed);
    EXPECT_EQ(code_of([&] { (void)seats.acquire(); }), errc::closed);
    EXPECT_EQ(code_of([&] { seats.release(held.permit_ids().front()); }), errc::closed);
    EXPECT_TRUE(held.lost().stop_requested());
}

TEST_P(Permits, LetsInNoMoreThanThereAre) {
    client home = make_client(), other = make_client();
    leased_semaphore here{home, "seats"}, there{other, "seats"};
    ASSERT_TRUE(here.try_set_permits(3));
    std::atomic<std::uint32_t> inside = 0;
    std::atomic<bool> too_many = false;
    std::vector<std::jthread> all;
    for (std::uint32_t i = 0; i < 8; ++i)
        all.emplace_back([&, i] {
            leased_semaphore& seats = i % 2 == 0 ? here : there;
            const std::uint32_t amount = 1 + i / 4;
            for (int turn = 0; turn < scaled(30, 300); ++turn) {
                const lease held = seats.acquire(amount);
                if ((inside += amount) > 3)
                    too_many = true;
                inside -= amount;
            }
        });
    all.clear(); // joins them
    EXPECT_FALSE(too_many);
    EXPECT_TRUE(support::eventually(
        [&] { return here.available_permits() == 3 && here.acquired_permits() == 0; }));
}

// The contract of leased_semaphore, on every store: what becomes of the lease of permits.

class LeasedPermits : public suite {};
HOLDFAST_ON_EACH_STORE_THAT_HAS(LeasedPermits, counter_kind::permits);

TEST_P(LeasedPermits, ComeBackWhenTheirLeaseEnds) {
    moving_client home{store(), {}};
    leased_semaphore seats{home.get(), "seats"};
    seats.set_permits(3);
    const duration length = store().leases_by_session() ? 1s : 10s; // shorter than a session
    const lease held = seats.acquire(lease_time{length}, 2);
    EXPECT_EQ(seats.try_acquire(2), std::nullopt);
    home.pass(length + 10ms);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
    if (store().leases_by_session()) { // its own client takes them back, soon
        EXPECT_TRUE(support::eventually([&] { return seats.available_permits() == 3; }));
    }
    EXPECT_EQ(seats.available_permits(), 3);
    EXPECT_EQ(seats.acquired_permits(), 0);
    EXPECT_FALSE(seats.release(held.permit_ids().front())) << "it has ended";
    lease all = seats.acquire(3);
    EXPECT_EQ(seats.available_permits(), 0);
    all.unlock();
    EXPECT_EQ(seats.available_permits(), 3) << "none came back twice";
}

TEST_P(LeasedPermits, ExpiredPermitsAreFreeWhenTheNumberChanges) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {}};
    leased_semaphore seats{home.get(), "seats"};
    seats.set_permits(2);
    const lease held = seats.acquire(lease_time{10s}, 2);
    seats.add_permits(-1);
    home.pass(10s + 10ms);
    seats.add_permits(-counted_max);
    EXPECT_EQ(seats.available_permits(), 1 - counted_max);
    EXPECT_EQ(seats.acquired_permits(), 0);
    if (GetParam().has(counter_kind::semaphore)) {
        // No permit is held any more, so only the number is left, which can be any counter.
        EXPECT_EQ(counting_semaphore(home.get(), "seats").available_permits(), 1 - counted_max);
    }
}

TEST_P(LeasedPermits, AWaiterHasThoseWhoseLeaseEnds) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    leased_semaphore seats{home, "seats"}, theirs{other, "seats"};
    seats.set_permits(1);
    const lease dies = theirs.acquire(lease_time{300ms});
    const lease had = seats.acquire();
    EXPECT_TRUE(had.owns_lock());
    EXPECT_FALSE(dies.owns_lock());
}

TEST_P(LeasedPermits, ARenewedLeaseIsKept) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {}};
    leased_semaphore seats{home.get(), "seats", {.lease = lease_time{10s}}};
    seats.set_permits(2);
    const lease held = seats.acquire(2);
    for (int step = 0; step < 8; ++step) {
        home.pass(3400ms);
        ASSERT_TRUE(support::eventually([&] { return held.remaining() > 9s; })) << step;
    }
    EXPECT_EQ(seats.acquired_permits(), 2);
    EXPECT_EQ(seats.available_permits(), 0);
}

TEST_P(LeasedPermits, IsExtendedAsALockIs) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {}};
    leased_semaphore seats{home.get(), "seats"};
    seats.set_permits(2);
    lease held = seats.acquire(lease_time{5s}, 2);
    held.extend(lease_time{60s});
    home.pass(20s);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(seats.available_permits(), 0);
}

TEST_P(LeasedPermits, OneOfThemIsGivenBackByWhoeverKnowsIt) {
    client home = make_client(), other = make_client();
    leased_semaphore seats{home, "seats"}, theirs{other, "seats"};
    seats.set_permits(3);
    lease held = seats.acquire(2);
    const std::vector<std::string> ids = held.permit_ids();
    EXPECT_FALSE(theirs.release(std::string(32, 'a')));
    EXPECT_TRUE(theirs.release(ids[1]));
    EXPECT_FALSE(theirs.release(ids[1])) << "it was given back";
    EXPECT_EQ(theirs.available_permits(), 2);
    EXPECT_TRUE(held.owns_lock()) << "which it does not know yet";
    error_code ec;
    held.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost) << "not all were there";
    EXPECT_EQ(theirs.available_permits(), 3) << "and the rest is back";
}

TEST_P(LeasedPermits, ALeaseThatLostAPartIsLostAndTheRestComesBack) {
    client home = make_client();
    leased_semaphore seats{home, "seats"};
    seats.set_permits(3);
    const lease held = seats.acquire(3);
    EXPECT_TRUE(soon(seats.async_release(held.permit_ids()[0], asio::use_future)));
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }))
        << "its own client asks at once";
    EXPECT_TRUE(support::eventually([&] { return seats.available_permits() == 3; }));
    EXPECT_EQ(seats.acquired_permits(), 0);
}

TEST_P(LeasedPermits, AnErasedSemaphoreLosesItsLeases) {
    client home = make_client();
    leased_semaphore seats{home, "seats"};
    EXPECT_FALSE(seats.erase());
    seats.set_permits(3);
    const lease held = seats.acquire(2);
    EXPECT_TRUE(seats.erase());
    EXPECT_TRUE(support::eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(seats.available_permits() + seats.acquired_permits(), 0);
}

TEST_P(LeasedPermits, TheLeaseOfOneIsSetByWhoeverKnowsIt) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {}};
    leased_semaphore seats{home.get(), "seats"};
    seats.set_permits(1);
    const lease held = seats.acquire(lease_time{5s});
    const std::string id = held.permit_ids().front();
    EXPECT_TRUE(seats.set_lease(id, lease_time{60s}));
    // Another client asks this. The holder's client would then check its hold, and a check that is
    // under way when the clock jumps counts from before the jump.
    client other = make_client();
    EXPECT_FALSE(leased_semaphore(other, "seats").set_lease(std::string(32, '0'), lease_time{60s}));
    EXPECT_TRUE(support::eventually([&] { return held.remaining() > 50s; }));
    home.pass(30s);
    EXPECT_EQ(seats.available_permits(), 0);
    EXPECT_TRUE(soon(seats.async_set_lease(id, lease_time{1s}, asio::use_future)));
    home.pass(1s + 10ms);
    EXPECT_EQ(seats.available_permits(), 1);
    EXPECT_FALSE(seats.set_lease(id, lease_time{60s})) << "it has ended";
}

TEST_P(LeasedPermits, AStrangersPermitIsWaitedFor) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client({.poll_bound = hardly_ever});
    leased_semaphore seats{home, "seats"};
    seats.set_permits(1);
    store().stranger_takes_permit("seats", 200ms);
    EXPECT_EQ(seats.available_permits(), 0);
    EXPECT_EQ(seats.acquired_permits(), 1);
    EXPECT_TRUE(seats.acquire().owns_lock());
}

} // namespace
} // namespace holdfast::conformance
