// SPDX-License-Identifier: Apache-2.0
// A majority of servers that are not of one kind: some keep holds by session, some by their leases.
#include "unit/sync/stage.hpp"

#include <holdfast/quorum_mutex.hpp>

namespace holdfast::sync {
namespace {

/// Two of the first kind, and one of the other.
class QuorumOfTwoKinds : public on_stage {
protected:
    std::deque<memory::server> servers;
    std::vector<actor*> nodes;
    std::optional<quorum_mutex> stock;

    QuorumOfTwoKinds() {
        for (int i = 0; i < 3; ++i) {
            servers.emplace_back(clock);
            if (i < 2)
                servers.back().keep_by_session(10s);
            nodes.push_back(&enter_at(servers.back(), {}, 1s));
        }
        quorum_mutex::nodes clients;
        for (actor* each : nodes)
            clients.push_back(each->program.value());
        stock.emplace(clients, "stock");
    }
    std::size_t held_at() const {
        std::size_t count = 0;
        for (const memory::server& each : servers)
            count += each.held_count();
        return count;
    }
    std::size_t warnings() const {
        std::size_t count = 0;
        for (const actor* each : nodes)
            count += each->ear->of(event_kind::in_danger).size();
        return count;
    }
};

TEST_F(QuorumOfTwoKinds, IsKeptByEachAsItNeedsItAndReleasedEverywhere) {
    lease held = taken(*stock);
    EXPECT_LE(held.remaining(), 10s);
    run_for(1h);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(quorum_mutex::votes(held).held, 3u);
    EXPECT_EQ(warnings(), 0u);
    held.async_unlock(said{}.handler());
    settle();
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(QuorumOfTwoKinds, AFixedLeaseEndsAtAllOfThem) {
    const lease held = taken(*stock, lease_time{25s});
    run_for(25s - 252ms - 1ms);
    EXPECT_TRUE(held.owns_lock());
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
    run_for(252ms);
    EXPECT_EQ(held_at(), 0u);
}

TEST_F(QuorumOfTwoKinds, AVoteThatASessionTookAlongIsAskedForAgain) {
    const lease held = taken(*stock);
    nodes[0]->always.refused = true;
    run_for(15s);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(quorum_mutex::votes(held).held, 2u);
    nodes[0]->always = {};
    run_for(15s);
    EXPECT_EQ(quorum_mutex::votes(held).held, 3u);
    EXPECT_EQ(held_at(), 3u);
}

TEST_F(QuorumOfTwoKinds, WithoutAMajorityItEndsWithTheSessionAlthoughItsLeaseIsLonger) {
    const lease held = taken(*stock);
    for (actor* each : nodes)
        each->always.refused = true;
    run_for(10s - 102ms - 1ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(held.in_danger().stop_requested());
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
}

} // namespace
} // namespace holdfast::sync
