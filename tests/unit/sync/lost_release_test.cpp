// SPDX-License-Identifier: Apache-2.0
// A failover loses the release of a write hold. The read hold beside it is renewed, and would keep
// the write hold at the store for as long.
#include "unit/sync/shared_stage.hpp"

namespace holdfast::sync {
namespace {

class LostRelease : public on_shared_stage {
protected:
    LostRelease() {
        server.replicate(1, 0ms);
        run_for(10ms);
    }
    lease upgrade(const lease& from) {
        said<std::optional<lease>> told = upgraded(prices, from);
        EXPECT_TRUE(told.well());
        return std::move(told.take().value());
    }
    lease read_beside(const lease& writes) {
        said<lease> told;
        prices.async_lock_shared(writes, told.handler());
        settle();
        EXPECT_TRUE(told.well());
        return told.take();
    }
    /// The replica gets nothing more of what is written, and becomes the primary.
    void lose(lease last) {
        server.cut_replica(1);
        release(std::move(last));
        EXPECT_FALSE(inspect(server, "prices")->alone);
        server.promote(1);
        EXPECT_TRUE(inspect(server, "prices")->alone) << "the failover has lost nothing";
        server.demote(0);
        run_for(100ms);
    }
};

TEST_F(LostRelease, UpgradeIsReleasedAgainAtTheNewPrimary) {
    const lease reads = read();
    lose(upgrade(reads));
    EXPECT_TRUE(reads.owns_lock());
    EXPECT_TRUE(reader(bobs).well()) << "nobody writes any more";
}

TEST_F(LostRelease, DowngradeIsRepeatedAtTheNewPrimary) {
    lease writes = written();
    const lease reads = read_beside(writes);
    lose(std::move(writes));
    EXPECT_TRUE(reads.owns_lock());
    EXPECT_TRUE(reader(bobs).well()) << "nobody writes any more";
}

TEST_F(LostRelease, EachOfSeveralUpgradesIsReleasedAgain) {
    const lease reads = read();
    lease first = upgrade(reads);
    server.cut_replica(1);
    release(std::move(first));
    for (int i = 0; i < 3; ++i)
        release(upgrade(reads));
    server.promote(1);
    EXPECT_TRUE(inspect(server, "prices")->alone) << "the replica knows the first upgrade only";
    server.demote(0);
    run_for(100ms);
    EXPECT_TRUE(reader(bobs).well());
}

TEST_F(LostRelease, ReleaseIsRepeatedUntilTheNewPrimaryAnswers) {
    const lease reads = read();
    lease writes = upgrade(reads);
    server.cut_replica(1);
    release(std::move(writes));
    alice.planned.emplace_back(verb::release, fate{.request_lost = true});
    server.promote(1);
    server.demote(0);
    run_for(10s);
    EXPECT_TRUE(reads.owns_lock());
    EXPECT_TRUE(reader(bobs).well());
}

} // namespace
} // namespace holdfast::sync
