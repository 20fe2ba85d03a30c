// SPDX-License-Identifier: Apache-2.0
// A lock that can be shared, when its client's own calls come between: a hand-off, a deferred
// release, an upgrade that has just ended, a lock of another type under the same name.
#include "unit/sync/shared_stage.hpp"

namespace holdfast::sync {
namespace {

class SharedAside : public on_shared_stage {};

TEST_F(SharedAside, NobodyReadsUnderAWriteHoldThatIsAnothersByNow) {
    lease held = written();
    said<lease> next = writer(prices), under;
    prices.async_lock_shared(held, under.handler());
    held.hold()->release(release_handler{[](const failure&) {}}, io.get_executor());
    settle(); // it is handed on before the reader begins
    ASSERT_TRUE(next.well());
    EXPECT_TRUE(under.failed(errc::lease_lost));
    EXPECT_EQ(owners(), 1u);
    release(next.take());
}

TEST_F(SharedAside, ATryBesideAReleaseThatIsNotWaitedForIsBusyAtOnce) {
    shared_mutex mine{alice, "prices", {.deferred = true}};
    lease held = taken(mine.shared(), lease_time{1min});
    said<lease> writes = writer(bobs), queued;
    mine.shared().async_lock(lease_time{1min}, queued.handler());
    settle();
    ASSERT_FALSE(queued.done()) << "behind the writer's mark";
    alice.planned.emplace_back(verb::release, fate{.request_delay = 1s});
    held.async_unlock(said{}.handler());
    settle();
    said<std::optional<lease>> tried;
    static_cast<basic_mutex&>(mine).async_try_lock(tried.handler());
    settle();
    ASSERT_TRUE(tried.well());
    EXPECT_FALSE(tried.value());
    run_for(5s);
    release(writes.take());
    run_for(1s);
    release(queued.take());
}

TEST_F(SharedAside, AnUpgradeThatHasEndedIsNotInTheWayOfTheNext) {
    lease mine = read();
    lease other = taken(bobs.shared());
    said<std::optional<lease>> again;
    prices.async_try_upgrade_for(mine, 1s, [&](const error_code&, std::optional<lease>) {
        prices.async_try_upgrade_for(mine, 1s, again.handler());
    });
    run_for(5s);
    ASSERT_TRUE(again.well());
    EXPECT_FALSE(again.value());
    release(std::move(other));
    release(std::move(mine));
}

TEST_F(SharedAside, ALeaseOfAnotherTypeOfLockIsNotEnteredAgain) {
    recursive_mutex same_name{alice, "prices"};
    const lease shared = read();
    said<lease> inner;
    same_name.async_lock(shared, inner.handler());
    settle();
    EXPECT_TRUE(inner.failed(errc::not_owner));
}

} // namespace
} // namespace holdfast::sync
