// SPDX-License-Identifier: Apache-2.0
// lease::async_extend, and async re-entry, which shares a hold.
#include "unit/sync/stage.hpp"

namespace holdfast::sync {
namespace {

class Extend : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 1s);
    recursive_mutex stock{alice, "stock"};
    said<> extended;
    said<lease> inner;

    duration stored() const { return server.inspect("stock")->remaining.value(); }
};

TEST_F(Extend, AFixedLeaseLastsSoLongFromNow) {
    lease held = taken(stock, lease_time{5s});
    run_for(3s);
    held.async_extend(lease_time{60s}, extended.handler());
    settle();
    EXPECT_TRUE(extended.well());
    EXPECT_EQ(stored(), 60s);
    EXPECT_EQ(held.remaining(), 60s - 602ms);
    run_for(1min);
    EXPECT_FALSE(held.owns_lock()) << "it is fixed, and not renewed";
}

TEST_F(Extend, ARenewedLeaseKeepsTheLongerOne) {
    lease held = taken(stock);
    held.async_extend(lease_time{90s}, extended.handler());
    settle();
    EXPECT_EQ(stored(), 90s);
    run_for(10min);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_GE(stored(), 60s);
}

TEST_F(Extend, ItNeverShortens) {
    lease held = taken(stock, lease_time{60s});
    held.async_extend(lease_time{1s}, extended.handler());
    settle();
    EXPECT_TRUE(extended.well());
    EXPECT_EQ(stored(), 60s);
    EXPECT_EQ(held.remaining(), 60s - 602ms);
    run_for(50s);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Extend, AfterALossItSaysSo) {
    lease held = taken(stock, lease_time{5s});
    server.occupy("stock", 1h);
    held.async_extend(lease_time{60s}, extended.handler());
    settle();
    EXPECT_TRUE(extended.failed(errc::lease_lost));
    EXPECT_TRUE(held.lost().stop_requested());
    said<> again;
    held.async_extend(lease_time{60s}, again.handler());
    settle();
    EXPECT_TRUE(again.failed(errc::lease_lost));
}

TEST_F(Extend, AnEmptyLeaseHasNothingToExtend) {
    lease none;
    EXPECT_THROW(none.extend(lease_time{1s}), boost::system::system_error);
}

TEST_F(Extend, AFailureLeavesItAsItWas) {
    lease held = taken(stock, lease_time{20s});
    alice.always.refused = true;
    held.async_extend(lease_time{60s}, extended.handler());
    settle();
    EXPECT_TRUE(extended.failed(errc::unreachable));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(held.remaining(), 20s - 202ms);
}

TEST_F(Extend, AnAnswerThatComesAfterTheEndDoesNotReviveIt) {
    lease held = taken(stock, lease_time{500ms});
    alice.always.answer_delay = 800ms;
    held.async_extend(lease_time{600ms}, extended.handler());
    run_for(800ms);
    EXPECT_TRUE(extended.failed(errc::lease_lost));
    EXPECT_FALSE(held.owns_lock());
    run_for(1h);
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Extend, AnAnswerThatAnExtensionBesideItMadeTimeForIsStillAwaited) {
    lease held = taken(stock, lease_time{1s});
    run_for(held.remaining() - 3ms);
    alice.planned.emplace_back(verb::renew, fate{.answer_delay = 5ms});
    said<> beside;
    held.async_extend(lease_time{10s}, extended.handler());
    held.async_extend(lease_time{5s}, beside.handler());
    run_for(20ms);
    EXPECT_TRUE(beside.well());
    EXPECT_TRUE(extended.well());
    EXPECT_GT(held.remaining(), 9s);
}

TEST_F(Extend, WhatIsReleasedBeforeTheAnswerIsNotUnknown) {
    lease held = taken(stock, lease_time{1s});
    run_for(held.remaining() - 3ms);
    alice.planned.emplace_back(verb::renew, fate{.answer_delay = 5ms});
    said<> beside, released;
    held.async_extend(lease_time{10s}, extended.handler());
    held.async_extend(lease_time{5s}, beside.handler());
    settle();
    std::move(held).async_unlock(released.handler());
    run_for(20ms);
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(extended.failed(errc::lease_lost));
}

TEST_F(Extend, AnImpossibleLengthIsRefusedBeforeAnythingIsSent) {
    lease held = taken(stock);
    const std::size_t asked = alice.log.size();
    for (const lease_time bad : {lease_time{0s}, lease_time{-1s}, lease_time{24h * 3653}}) {
        said<> refused;
        held.async_extend(bad, refused.handler());
        settle();
        EXPECT_TRUE(refused.failed(errc::invalid_argument)) << bad.value.count();
    }
    EXPECT_EQ(alice.log.size(), asked);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Extend, ReentryNamesItsHoldAndSendsNothing) {
    lease outer = taken(stock);
    const std::size_t asked = alice.log.size();
    stock.async_lock(outer, inner.handler());
    settle();
    ASSERT_TRUE(inner.well());
    EXPECT_EQ(alice.log.size(), asked);
    EXPECT_EQ(inner.value().owner(), outer.owner());
}

TEST_F(Extend, WithoutNamingItEveryCallIsANewOwner) {
    const lease outer = taken(stock);
    said<std::optional<lease>> tried;
    stock.async_try_lock(tried.handler());
    settle();
    EXPECT_FALSE(tried.value());
}

TEST_F(Extend, ReentryOfALostHoldSaysSo) {
    const lease outer = taken(stock);
    server.evict("stock");
    run_for(10s);
    stock.async_lock(outer, inner.handler());
    settle();
    EXPECT_TRUE(inner.failed(errc::lease_lost));
    EXPECT_EQ(server.held_count(), 0u) << "it quietly acquired again";
}

TEST_F(Extend, ReentryThroughAnotherLocksLeaseIsRefused) {
    recursive_mutex shelf{alice, "shelf"};
    actor& bob = enter();
    recursive_mutex same_name{bob, "stock"};
    const lease other = taken(shelf), none;
    said<lease> by_name, by_nothing, by_client;
    stock.async_lock(other, by_name.handler());
    stock.async_lock(none, by_nothing.handler());
    const lease mine = taken(stock);
    same_name.async_lock(mine, by_client.handler());
    settle();
    EXPECT_TRUE(by_name.failed(errc::not_owner));
    EXPECT_TRUE(by_nothing.failed(errc::not_owner));
    EXPECT_TRUE(by_client.failed(errc::not_owner));
}

TEST_F(Extend, ReentryAfterTheReleaseBeganIsALoss) {
    lease outer = taken(stock);
    alice.always.request_delay = 100ms;
    const std::shared_ptr<tenure> hold = outer.hold();
    said<> released;
    outer.async_unlock(released.handler());
    run_for(50ms);
    stock.async_lock(lease{hold}, inner.handler());
    run_for(1s);
    EXPECT_TRUE(inner.failed(errc::lease_lost));
    EXPECT_TRUE(released.well());
}

} // namespace
} // namespace holdfast::sync
