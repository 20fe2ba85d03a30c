// SPDX-License-Identifier: Apache-2.0
// The contract of tickets, on every store: a hold that is detached, adopted, renewed and given back
// by another client.
#include "conformance/suite.hpp"
#include "support/recorder.hpp"

#include <holdfast/fair_mutex.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/ticket.hpp>

#include <boost/asio/use_future.hpp>

#include <future>
#include <string>

namespace holdfast::conformance {
namespace {

using support::code_of;
using support::soon;

class Tickets : public suite {
protected:
    template <typename Lock>
    static ticket taken(Lock& lock, lease_time length) {
        lease held = soon(lock.async_lock(length, asio::use_future));
        return held.detach();
    }

    /// Returns a client whose replies can be lost (`lose_answer_about`). It has used the lock
    /// already, so its connection exists.
    client client_on_bad_way() {
        options how{.poll_bound = 25ms};
        store().reach_badly(how);
        client bad{std::move(how)};
        mutex lock{bad, "lock"};
        lock.lock();
        lock.unlock();
        return bad;
    }
};
HOLDFAST_ON_EACH_STORE_WITH(Tickets, lock_kind::spin, lock_kind::fenced, lock_kind::token);

TEST_P(Tickets, DetachedHoldStaysHeldAfterItsClientCloses) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), other = make_client();
    mutex lock{home, "lock"}, same{other, "lock"};
    lease held = soon(lock.async_lock(lease_time{20s}, asio::use_future));
    const ticket made = held.detach();
    EXPECT_FALSE(held.owns_lock());
    EXPECT_EQ(code_of([&] { (void)held.detach(); }), errc::not_owner);
    home.close();
    EXPECT_FALSE(same.try_lock());
    EXPECT_GT(same.remaining_lease().value(), 10s);
    EXPECT_TRUE(other.give(made));
    EXPECT_TRUE(same.try_lock());
    same.unlock();
}

TEST_P(Tickets, SecondAdoptionIsRefused) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), second = make_client(), third = make_client();
    mutex lock{home, "lock"}, same{third, "lock"};
    const ticket made = taken(lock, lease_time{20s});
    lease adopted = second.adopt(ticket::from_string(to_string(made)));
    EXPECT_TRUE(adopted.owns_lock());
    EXPECT_NE(adopted.owner(), to_string(made.owner));
    EXPECT_EQ(code_of([&] { (void)third.adopt(made); }), errc::lease_lost);
    EXPECT_EQ(code_of([&] { (void)second.adopt(made); }), errc::lease_lost);
    EXPECT_FALSE(third.renew(made, lease_time{30s}));
    EXPECT_FALSE(third.give(made));
    EXPECT_TRUE(adopted.owns_lock());
    EXPECT_FALSE(same.try_lock());
    error_code ec;
    adopted.unlock(ec);
    EXPECT_EQ(ec, error_code{});
    EXPECT_TRUE(same.try_lock());
    same.unlock();
}

TEST_P(Tickets, AdoptedHoldCanBeDetachedAgain) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), second = make_client();
    mutex lock{home, "lock"};
    const ticket first = taken(lock, lease_time{20s});
    lease adopted = second.adopt(first, lease_time{40s});
    const ticket again = adopted.detach();
    EXPECT_NE(first.owner, again.owner);
    EXPECT_EQ(first.token, again.token);
    EXPECT_FALSE(home.give(first));
    EXPECT_GT(lock.remaining_lease().value(), 25s);
    EXPECT_TRUE(home.give(again));
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(Tickets, RenewMakesTheLeaseLongerAndNeverShorter) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), other = make_client();
    mutex lock{home, "lock"};
    const ticket made = taken(lock, lease_time{20s});
    EXPECT_TRUE(other.renew(made, lease_time{100s}));
    EXPECT_GT(lock.remaining_lease().value(), 60s);
    EXPECT_TRUE(other.renew(made, lease_time{1s}));
    EXPECT_GT(lock.remaining_lease().value(), 60s);
    EXPECT_TRUE(other.give(made));
}

TEST_P(Tickets, TicketIsGoneAfterItsLeaseAndAfterForce) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), other = make_client();
    mutex lock{home, "lock"}, same{other, "lock"};
    const ticket made = taken(lock, lease_time{20s});
    EXPECT_TRUE(same.force_unlock());
    EXPECT_FALSE(other.renew(made, lease_time{20s}));
    EXPECT_FALSE(other.give(made));
    EXPECT_EQ(code_of([&] { (void)other.adopt(made); }), errc::lease_lost);
    EXPECT_FALSE(lock.is_locked());

    const ticket late = taken(lock, lease_time{2s});
    ASSERT_TRUE(support::eventually([&] { return same.try_lock(); }));
    EXPECT_FALSE(home.give(late));
    EXPECT_EQ(code_of([&] { (void)home.adopt(late); }), errc::lease_lost);
    EXPECT_TRUE(same.is_locked());
    same.unlock();
}

TEST_P(Tickets, GiveWakesTheWaiter) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), other = make_client({.poll_bound = hardly_ever});
    mutex lock{home, "lock"}, same{other, "lock"};
    const ticket made = taken(lock, lease_time{10min});
    std::future<lease> waiting = same.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_waits());
    EXPECT_TRUE(home.give(made));
    EXPECT_TRUE(soon(std::move(waiting)).owns_lock());
}

TEST_P(Tickets, ReleaseOfAnAdoptedHoldWakesTheWaiter) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), other = make_client({.poll_bound = hardly_ever});
    mutex lock{home, "lock"}, same{other, "lock"};
    const ticket made = taken(lock, lease_time{10min});
    std::future<lease> waiting = same.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_waits());
    lease adopted = home.adopt(made);
    adopted.unlock();
    EXPECT_TRUE(soon(std::move(waiting)).owns_lock());
}

TEST_P(Tickets, AdoptedHoldIsRenewed) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    HOLDFAST_NEEDS(moves_its_clock);
    client home = make_client();
    mutex lock{home, "lock"};
    const ticket made = taken(lock, lease_time{10s});
    moving_client other{store(), {.lease_time = 9s}};
    lease adopted = other.get().adopt(made);
    mutex same{other.get(), "lock"};
    other.pass_renewing(same, 9s, 6);
    EXPECT_TRUE(adopted.owns_lock());
}

TEST_P(Tickets, AdoptedHoldHasTheLeaseOfItsNewOwner) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), other = make_client();
    mutex lock{home, "lock"};
    const lease adopted = other.adopt(taken(lock, lease_time{1h}), lease_time{1min});
    EXPECT_TRUE(adopted.owns_lock());
    EXPECT_LE(lock.remaining_lease().value(), 1min);
}

TEST_P(Tickets, RequestWhoseReplyIsLostIsRepeated) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), bad = client_on_bad_way();
    mutex lock{home, "lock"};
    const ticket made = taken(lock, lease_time{20s});
    store().lose_answer_about("lock");
    lease adopted = bad.adopt(made);
    EXPECT_TRUE(adopted.owns_lock());
    EXPECT_FALSE(home.give(made));
    const ticket again = adopted.detach();
    store().lose_answer_about("lock");
    EXPECT_TRUE(bad.renew(again, lease_time{60s}));
    EXPECT_GT(lock.remaining_lease().value(), 40s);
    store().lose_answer_about("lock");
    EXPECT_TRUE(bad.give(again));
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(Tickets, HoldWhoseGrantWasLostIsDetachedAndGivenBack) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), bad = client_on_bad_way();
    mutex lock{home, "lock"}, same{bad, "lock"};
    store().lose_answer_about("lock");
    const ticket made = taken(same, lease_time{20s});
    EXPECT_TRUE(lock.is_locked());
    EXPECT_TRUE(home.give(made));
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(Tickets, DetachIsRefusedIfHoldsEndWithTheSession) {
    if (!store().leases_by_session())
        GTEST_SKIP() << "leases have a length of their own here";
    client home = make_client();
    mutex lock{home, "lock"};
    lease held = soon(lock.async_lock(asio::use_future));
    EXPECT_EQ(code_of([&] { (void)held.detach(); }), errc::invalid_argument);
    EXPECT_TRUE(held.owns_lock());
    const ticket made{held.owner(), GetParam().locks, {}, 0, 1, {}};
    EXPECT_EQ(code_of([&] { (void)home.adopt(made); }), errc::invalid_argument);
    EXPECT_EQ(code_of([&] { (void)home.renew(made, lease_time{5s}); }), errc::invalid_argument);
    EXPECT_EQ(code_of([&] { (void)home.give(made); }), errc::invalid_argument);
    held.unlock();
}

class TicketsOfOtherKinds : public suite {};
HOLDFAST_ON_EACH_STORE(TicketsOfOtherKinds);

TEST_P(TicketsOfOtherKinds, FencedLockKeepsItsToken) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client(), other = make_client();
    fenced_mutex lock{home, "lock"};
    lease held = soon(lock.async_lock(asio::use_future));
    const std::uint64_t token = held.fencing_token();
    const ticket made = held.detach();
    EXPECT_EQ(made.token, token);
    lease adopted = other.adopt(made);
    EXPECT_EQ(adopted.fencing_token(), token);
    adopted.unlock();
    EXPECT_GT(soon(lock.async_lock(asio::use_future)).fencing_token(), token);
}

TEST_P(TicketsOfOtherKinds, FairLockIsAdoptedAndGoesToTheNextWaiter) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    HOLDFAST_NEEDS_LOCKS(lock_kind::fair);
    client home = make_client(), other = make_client();
    fair_mutex lock{home, "desk"}, same{other, "desk"};
    lease held = soon(lock.async_lock(lease_time{10min}, asio::use_future));
    const ticket made = held.detach();
    std::future<lease> waiting = same.async_lock(asio::use_future);
    ASSERT_TRUE(support::eventually([&] { return store().waiting("desk") == 1; }));
    lease adopted = home.adopt(made);
    EXPECT_FALSE(support::is_ready(waiting));
    adopted.unlock();
    EXPECT_TRUE(soon(std::move(waiting)).owns_lock());
}

TEST_P(TicketsOfOtherKinds, WriteHoldIsAdopted) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    HOLDFAST_NEEDS_LOCKS(lock_kind::write);
    client home = make_client(), other = make_client();
    shared_mutex book{home, "book"}, same{other, "book"};
    lease held = soon(book.async_lock(lease_time{20s}, asio::use_future));
    const ticket made = held.detach();
    lease adopted = other.adopt(made);
    EXPECT_FALSE(home.give(made));
    EXPECT_FALSE(book.try_lock_shared());
    adopted.unlock();
    EXPECT_TRUE(same.try_lock_shared());
    same.unlock_shared();
}

TEST_P(TicketsOfOtherKinds, ReadHoldIsNotDetached) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    HOLDFAST_NEEDS_LOCKS(lock_kind::read);
    client home = make_client();
    shared_mutex book{home, "book"};
    lease held = soon(book.async_lock_shared(asio::use_future));
    EXPECT_EQ(code_of([&] { (void)held.detach(); }), errc::invalid_argument);
    EXPECT_TRUE(held.owns_lock());
    held.unlock();
}

TEST_P(TicketsOfOtherKinds, PermitsAreRenewedAndGivenBackButNotAdopted) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    HOLDFAST_NEEDS_LOCKS(lock_kind::permit);
    client home = make_client(), other = make_client();
    leased_semaphore seats{home, "seats"};
    EXPECT_TRUE(seats.try_set_permits(3));
    const ticket made = seats.acquire(2).detach();
    EXPECT_EQ(made.permits, 2U);
    EXPECT_TRUE(other.renew(made, lease_time{60s}));
    EXPECT_EQ(code_of([&] { (void)other.adopt(made); }), errc::invalid_argument);
    EXPECT_EQ(seats.available_permits(), 1);
    EXPECT_TRUE(other.give(made));
    EXPECT_EQ(seats.available_permits(), 3);
    EXPECT_FALSE(other.give(made));
}

} // namespace
} // namespace holdfast::conformance
