// SPDX-License-Identifier: Apache-2.0
// The contract of leased_semaphore, on every store: what becomes of the lease of permits.
#include "conformance/suite.hpp"

#include <holdfast/leased_semaphore.hpp>

#include <boost/asio/use_future.hpp>

#include <string>
#include <vector>

namespace holdfast::conformance {
namespace {

using support::soon;

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
    EXPECT_FALSE(seats.set_lease(std::string(32, '0'), lease_time{60s}));
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
