// SPDX-License-Identifier: Apache-2.0
// Scenarios: a hold ends without a release, and its holder is told.
#include "sim/story.hpp"

namespace holdfast::sim {
namespace {

struct Loss : story {
    const duration lease = w.how.lease_time;
    const duration margin = lease / 100 + 2ms;
};

TEST_F(Loss, ACutShorterThanTheTermIsSurvived) {
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await sleep(lease);
        alice.net.cut(true);
        co_await sleep(lease / 2);
        alice.net.mend();
        co_await sleep(2 * lease);
        EXPECT_TRUE(mine->what().held.owns_lock());
        EXPECT_FALSE(mine->what().told_lost);
        EXPECT_EQ(holder(), mine->what().owner);
    };
    play(scene);
}

TEST_F(Loss, BehindAPartitionTheHolderHearsWhenItsTermEndsAndBeforeAnybodyElseHasIt) {
    duration lost_at{}, bob_got_it{};
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        alice.net.cut(false);
        std::stop_callback on_loss{mine->what().held.lost(), [&] { lost_at = now(); }};
        co_await sleep(2 * lease);
        EXPECT_EQ(mine->what().held.remaining(), 0ms);
        alice.net.mend();
        EXPECT_EQ(co_await give_back(mine), outcome::lease_lost);
    };
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        held mine = co_await take(bob);
        bob_got_it = now();
    };
    play(scene_of_alice, scene_of_bob);
    EXPECT_EQ(lost_at, lease - margin);
    EXPECT_LT(lost_at, bob_got_it);
}

TEST_F(Loss, AnEvictedHoldIsNoticedAtTheNextRenewal) {
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        w.evict(0);
        EXPECT_TRUE(mine->what().held.owns_lock());
        co_await sleep(lease / 3 + 10ms);
        EXPECT_FALSE(mine->what().held.owns_lock());
        EXPECT_TRUE(mine->what().told_lost);
        EXPECT_EQ(co_await give_back(mine), outcome::lease_lost);
    };
    play(scene);
}

TEST_F(Loss, AFixedLeaseIsLookedAfterToo) {
    auto scene = [&]() -> asio::awaitable<void> {
        const wanted how = fixed(lease);
        held mine = co_await take(alice, how);
        w.evict(0);
        co_await sleep(lease / 3 + 10ms);
        EXPECT_TRUE(mine->what().told_lost);
    };
    play(scene);
}

TEST_F(Loss, AFixedLeaseEndsByItselfAndTheHolderHears) {
    auto scene = [&]() -> asio::awaitable<void> {
        const wanted how = fixed(lease);
        held mine = co_await take(alice, how);
        co_await sleep(lease - margin - 1ms);
        EXPECT_TRUE(mine->what().held.owns_lock());
        co_await sleep(1ms);
        EXPECT_FALSE(mine->what().held.owns_lock());
        co_await sleep(1ms);
        EXPECT_TRUE(mine->what().told_lost);
    };
    play(scene);
}

TEST_F(Loss, ForcedByAnotherClientItIsNoticedAtTheNextRenewal) {
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await sleep(lease / 3 + 10ms);
        EXPECT_TRUE(mine->what().told_lost);
    };
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        mutex m{*bob.program, w.name_of(0)};
        EXPECT_TRUE(co_await m.async_force_unlock(asio::use_awaitable));
        EXPECT_FALSE(co_await m.async_is_locked(asio::use_awaitable));
        EXPECT_FALSE(co_await m.async_force_unlock(asio::use_awaitable));
    };
    play(scene_of_alice, scene_of_bob);
}

TEST_F(Loss, ForcedByItsOwnClientItIsNoticedAtOnce) {
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        mutex m{*alice.program, w.name_of(0)};
        EXPECT_TRUE(co_await m.async_force_unlock(asio::use_awaitable));
        EXPECT_TRUE(mine->what().told_lost);
    };
    play(scene);
}

TEST_F(Loss, AServerThatWasRestartedEmptyHasForgotten) {
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        w.restart_empty();
        co_await sleep(lease / 3 + 10ms);
        EXPECT_TRUE(mine->what().told_lost);
        EXPECT_EQ(holder(), "") << "a renewal must not make it anew";
    };
    play(scene);
}

TEST_F(Loss, AnExtensionPostponesTheEndAndNeverBringsItNearer) {
    auto scene = [&]() -> asio::awaitable<void> {
        const wanted how = fixed(lease);
        held mine = co_await take(alice, how);
        lease_time longer{2 * lease}, shorter{lease / 2};
        mine->what().longest = 2 * lease;
        co_await mine->what().held.async_extend(longer, asio::use_awaitable);
        const duration left = mine->what().held.remaining();
        EXPECT_GT(left, lease);
        co_await mine->what().held.async_extend(shorter, asio::use_awaitable);
        EXPECT_EQ(mine->what().held.remaining(), left);
    };
    play(scene);
}

// Found by a seed: a short extension delayed the next renewal until shortly before the end of the
// lease.
TEST_F(Loss, AnExtensionByLessThanTheLeaseDoesNotPostponeTheRenewal) {
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await sleep(lease / 4);
        lease_time shorter{lease / 2};
        co_await mine->what().held.async_extend(shorter, asio::use_awaitable);
        co_await sleep(lease / 6);
        EXPECT_GE(mine->what().held.remaining(), lease * 3 / 4) << "it was renewed meanwhile";
    };
    play(scene);
}

struct LossByRule : story {
    LossByRule()
        : story{{.max_hold = 20s}} {}
};

TEST_F(LossByRule, RenewalStopsWhenMaxHoldIsOver) {
    auto scene = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await sleep(20s);
        EXPECT_TRUE(mine->what().held.owns_lock());
        co_await sleep(w.how.lease_time);
        EXPECT_TRUE(mine->what().told_lost);
    };
    play(scene);
}

} // namespace
} // namespace holdfast::sim
