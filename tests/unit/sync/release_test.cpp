// SPDX-License-Identifier: Apache-2.0
#include "support/eventually.hpp"
#include "unit/sync/stage.hpp"

#include <boost/asio/bind_executor.hpp>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

class Release : public on_stage {
protected:
    actor& alice = enter({.release_patience = 3s}, 1s);
    mutex stock{alice, "stock"};
    said<> released;

    /// A lease that holds nothing knows no client, and so no executor: its handler names one.
    auto here(said<>& to) { return asio::bind_executor(io.get_executor(), to.handler()); }
    bool comes(const said<>& what) {
        return support::eventually([&] {
            settle();
            return what.done();
        });
    }

    void cut() { alice.always = fate{.refused = true}; }
    void mend() { alice.always = fate{}; }
};

TEST_F(Release, ItCostsOneRequestAndFreesTheLock) {
    taken(stock).async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
    EXPECT_EQ(alice.log.size(), 2u);
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Release, TheLeaseHoldsNothingFromItsBeginningOn) {
    alice.always.request_delay = 100ms;
    said<lease> got;
    stock.async_lock(got.handler());
    run_for(100ms);
    lease held = got.take();
    held.async_unlock(released.handler());
    EXPECT_FALSE(held.owns_lock());
    EXPECT_EQ(held.remaining(), 0ms);
    run_for(99ms);
    EXPECT_FALSE(released.done());
    run_for(1ms);
    EXPECT_TRUE(released.well());
}

TEST_F(Release, ASecondOneFailsNotOwner) {
    lease held = taken(stock);
    said<> again;
    held.async_unlock(released.handler());
    held.async_unlock(here(again));
    EXPECT_TRUE(comes(again));
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(again.failed(errc::not_owner));
}

TEST_F(Release, AnEmptyLeaseFailsNotOwner) {
    lease none;
    none.async_unlock(here(released));
    EXPECT_TRUE(comes(released));
    EXPECT_TRUE(released.failed(errc::not_owner));
    EXPECT_FALSE(none.owns_lock());
    EXPECT_FALSE(none.lost().stop_possible());
    EXPECT_EQ(none.name(), "");
    EXPECT_EQ(none.owner(), "");
}

TEST_F(Release, AMovedLeaseReleasesOnce) {
    lease first = taken(stock);
    lease second = std::move(first);
    EXPECT_FALSE(first.owns_lock());
    EXPECT_TRUE(second.owns_lock());
    second.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
    EXPECT_EQ(alice.count(verb::release), 1u);
}

TEST_F(Release, AssigningToALeaseReleasesWhatItHeld) {
    mutex shelf{alice, "shelf"};
    lease held = taken(stock);
    held = taken(shelf);
    settle();
    EXPECT_FALSE(server.inspect("stock"));
    EXPECT_TRUE(server.inspect("shelf"));
    EXPECT_EQ(held.name(), "shelf");
}

TEST_F(Release, ALeaseThatIsDestroyedIsReleased) {
    { const lease held = taken(stock); }
    settle();
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_EQ(alice.ear->count(event_kind::released), 1u);
}

TEST_F(Release, ItIsRepeatedUntilTheStoreHasAcknowledgedIt) {
    lease held = taken(stock);
    cut();
    held.async_unlock(released.handler());
    run_for(10s);
    EXPECT_EQ(server.held_count(), 1u);
    EXPECT_GE(alice.count(verb::release), 10u);
    mend();
    run_for(1s);
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_TRUE(is_idle(alice));
    const std::size_t sent_so_far = alice.log.size();
    run_for(1h);
    EXPECT_EQ(alice.log.size(), sent_so_far) << "it is acknowledged, and still repeated";
}

TEST_F(Release, ItsCallerWaitsNoLongerThanItsPatience) {
    lease held = taken(stock);
    cut();
    held.async_unlock(released.handler());
    run_for(3s - 1ms);
    EXPECT_FALSE(released.done());
    run_for(1s);
    EXPECT_TRUE(released.failed(errc::unreachable));
}

TEST_F(Release, OneThatHangsIsGivenUpAfterPatienceAndOneTimeLimit) {
    lease held = taken(stock);
    alice.always = fate{.request_lost = true};
    held.async_unlock(released.handler());
    run_for(3s + 1s);
    EXPECT_TRUE(released.failed(errc::outcome_unknown));
}

TEST_F(Release, AShortOutageIsNotSeenByItsCaller) {
    lease held = taken(stock);
    cut();
    held.async_unlock(released.handler());
    run_for(1s);
    mend();
    run_for(1s);
    EXPECT_TRUE(released.well());
}

TEST_F(Release, AfterALostAnswerGoneMeansReleased) {
    lease held = taken(stock);
    alice.planned.emplace_back(verb::release, fate{.answer_lost = true});
    held.async_unlock(released.handler());
    run_for(2s);
    EXPECT_TRUE(released.well());
    EXPECT_EQ(alice.count(verb::release), 2u);
    EXPECT_EQ(alice.ear->count(event_kind::released), 1u);
    EXPECT_EQ(alice.ear->count(event_kind::lost), 0u);
}

TEST_F(Release, OfAHoldThatTheStoreHasForgottenSaysSo) {
    lease held = taken(stock);
    server.occupy("stock", 1h);
    held.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.failed(errc::lease_lost));
    EXPECT_EQ(server.inspect("stock")->owners.at(0), "foreign") << "somebody else's was released";
}

TEST_F(Release, AfterTheLossIsToldWithoutAsking) {
    lease held = taken(stock);
    server.evict("stock");
    run_for(10s);
    ASSERT_FALSE(held.owns_lock());
    const std::size_t asked = alice.log.size();
    held.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.failed(errc::lease_lost));
    EXPECT_EQ(alice.log.size(), asked);
}

TEST_F(Release, OfATermThatEndedThisMomentIsALoss) {
    lease held = taken(stock, lease_time{100ms});
    // The clock jumps, and the release comes before whoever sleeps wakes.
    clock.run_until(clock.now() + 96ms);
    const time_point end = clock.now() + 1ms;
    held.async_unlock(released.handler());
    alice.always.request_delay = 1s;
    clock.run_until(end + 2s);
    EXPECT_TRUE(released.done());
}

TEST_F(Release, EndsWhenTheStoreHasForgottenTheHoldAnyway) {
    lease held = taken(stock, lease_time{5s});
    cut();
    held.async_unlock(released.handler());
    run_for(1h);
    EXPECT_TRUE(released.failed(errc::unreachable));
    EXPECT_TRUE(is_idle(alice));
    EXPECT_LT(alice.all(verb::release).back().at - start(), 7s);
    EXPECT_EQ(alice.ear->count(event_kind::release_failed), 1u);
}

TEST_F(Release, ARefusalIsToldInTheServersWords) {
    lease held = taken(stock);
    alice.meddling.objects = [](verb) { return make_error_code(store_errc::no_permission); };
    held.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.failed(errc::refused));
    ASSERT_TRUE(alice.ear->last(event_kind::release_failed));
    EXPECT_THAT(alice.ear->last(event_kind::release_failed)->text,
                testing::HasSubstr("the server's own words"));
    EXPECT_EQ(alice.ear->last(event_kind::release_failed)->code, errc::refused);
}

TEST_F(Release, TheNextLocalWaiterTriesItsLuckEvenIfItIsNotAcknowledged) {
    lease held = taken(stock);
    said<lease> next;
    stock.async_lock(next.handler());
    alice.planned.emplace_back(verb::release, fate{.answer_lost = true});
    held.async_unlock(released.handler());
    run_for(1s); // one time limit; not the release's patience
    EXPECT_TRUE(next.well());
    EXPECT_EQ(server.inspect("stock")->owners.at(0), next.value().owner());
    run_for(2s);
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(next.value().owns_lock()) << "the repeated release took the next one's hold";
}

TEST_F(Release, OneOfManySharesReleasesNothing) {
    recursive_mutex deep{alice, "deep"};
    lease outer = taken(deep);
    said<lease> inner;
    deep.async_lock(outer, inner.handler());
    settle();
    ASSERT_TRUE(inner.well());
    outer.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
    EXPECT_EQ(alice.count(verb::release), 0u);
    EXPECT_TRUE(inner.value().owns_lock());
    inner.take().async_unlock(said{}.handler());
    settle();
    EXPECT_EQ(alice.count(verb::release), 1u);
    EXPECT_EQ(server.held_count(), 0u);
}

} // namespace
} // namespace holdfast::sync
