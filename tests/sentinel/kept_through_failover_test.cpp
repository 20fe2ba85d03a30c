// SPDX-License-Identifier: Apache-2.0
// Each hold, each wait and each release finds its way when the Sentinels appoint another primary.
#include "sentinel/with_sentinels.hpp"

#include <boost/asio/use_future.hpp>

#include <future>
#include <vector>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;

class KeptThroughFailover : public with_sentinels {};
HOLDFAST_ON_EACH_SERVER(KeptThroughFailover);

TEST_P(KeptThroughFailover, HoldsOfEachKindAreKeptRenewedAndReleased) {
    holdfast::options brief = how();
    brief.lease_time = 6s;
    client home{brief};
    ASSERT_TRUE((leased_semaphore{home, "P"}.try_set_permits(2)));
    mutex plain{home, "plain"};
    fenced_mutex fenced{home, "fenced"};
    fair_mutex fair{home, "fair"};
    shared_mutex shared{home, "shared"};
    token_mutex token{home, "token"};
    leased_semaphore seats{home, "P"};
    std::vector<lease> all;
    all.push_back(soon(plain.async_lock(asio::use_future)));
    all.push_back(soon(fenced.async_lock(asio::use_future)));
    all.push_back(soon(fair.async_lock(asio::use_future)));
    all.push_back(soon(shared.async_lock_shared(asio::use_future)));
    all.push_back(soon(token.async_lock(asio::use_future)));
    all.push_back(seats.acquire());
    await_replicas();
    std::vector<decltype(end_of(all.front()))> ends;
    for (const lease& each : all)
        ends.push_back(end_of(each));
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved));
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_TRUE(eventually([&] { return end_of(all[i]) > ends[i] + 300ms; })) << i;
    EXPECT_EQ(told_->count(event_kind::lost), 0u);
    for (lease& each : all)
        each.unlock();
    for (const char* const name : {"plain", "fenced", "fair", "shared", "token"})
        EXPECT_TRUE(eventually([&] { return !is_at_primary(name); })) << name;
}

TEST_P(KeptThroughFailover, WaitersOfEachKindAreServedByAReleaseAfterIt) {
    client home{how()}, other{how()};
    mutex plain{home, "plain"}, others_plain{other, "plain"};
    fair_mutex fair{home, "fair"}, others_fair{other, "fair"};
    latch gate{home, "gate"}, others_gate{other, "gate"};
    counting_semaphore seats{home, "seats"}, others_seats{other, "seats"};
    lease first = soon(plain.async_lock(asio::use_future));
    lease second = soon(fair.async_lock(asio::use_future));
    ASSERT_TRUE(gate.try_set_count(1));
    ASSERT_TRUE(seats.try_set_permits(0));
    std::vector<std::future<void>> waiting;
    waiting.push_back(std::async(std::launch::async, [&] { others_plain.lock(); }));
    waiting.push_back(std::async(std::launch::async, [&] { others_fair.lock(); }));
    waiting.push_back(std::async(std::launch::async, [&] { others_gate.wait(); }));
    waiting.push_back(std::async(std::launch::async, [&] { others_seats.acquire(); }));
    const auto all_listen = [&] {
        const auto channels = servers().primary().command({"PUBSUB", "CHANNELS"}).items.size();
        return channels >= waiting.size();
    };
    ASSERT_TRUE(eventually(all_listen));
    await_replicas();
    servers().failover();
    ASSERT_TRUE(eventually(all_listen));
    first.unlock();
    second.unlock();
    gate.count_down();
    seats.release();
    for (std::future<void>& each : waiting)
        EXPECT_NO_THROW(soon(std::move(each)));
}

TEST_P(KeptThroughFailover, AReleaseThatFindsNobodyIsRepeatedAtTheNewPrimary) {
    client home{how()};
    mutex lock{home, "L"};
    lease held = soon(lock.async_lock(asio::use_future));
    await_replicas();
    servers().primary().stop();
    held.unlock();
    ASSERT_TRUE(told(event_kind::moved));
    EXPECT_TRUE(eventually([&] { return !is_at_primary("L"); }));
    EXPECT_TRUE(told(event_kind::released));
}

TEST_P(KeptThroughFailover, WithRequiredReplicasTheHoldIsThereAndTheNextOneIsConfirmed) {
    holdfast::options safe = how();
    safe.required_replicas = 1;
    client home{safe}, other{safe};
    mutex lock{home, "held"}, theirs{other, "held"}, next{other, "next"};
    const lease held = soon(lock.async_lock(asio::use_future));
    servers().primary().stop();
    next.lock();
    EXPECT_TRUE(is_at_primary("next"));
    EXPECT_EQ(exists(servers().replica(), "next"), 1);
    next.unlock();
    EXPECT_FALSE(theirs.try_lock_for(10ms));
    EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(KeptThroughFailover, SeveralOfThemInARowAreFollowed) {
    client home{how()};
    mutex lock{home, "L"};
    const lease held = soon(mutex{home, "held"}.async_lock(asio::use_future));
    for (std::size_t i = 1; i <= 2; ++i) {
        await_replicas(i == 1 ? 2 : 1); // the first primary follows only ten seconds later
        servers().failover();
        ASSERT_TRUE(told(event_kind::moved, i));
        EXPECT_EQ(moved_to(), address_of(servers().primary()));
        const std::scoped_lock here{lock};
        EXPECT_TRUE(is_at_primary("L"));
        EXPECT_TRUE(eventually([&] { return is_at_primary("held"); }));
    }
    EXPECT_FALSE(held.lost().stop_requested());
}

} // namespace
} // namespace holdfast
