// SPDX-License-Identifier: Apache-2.0
// Who waits asynchronously for a permit is served as well. Of JVMs' waiters no more is relied on
// than Redisson does for them. One that was refused looks whether it has heard something, and
// listens from then on; what is told just between is lost to it, until something is told again.
// Where the server said when the next permit ends, it also asks then; but it does not take away the
// listener of before, which swallows the next message.
#include "interop/permits_meeting.hpp"

namespace holdfast::interop {
namespace {

class PermitsAsync : public permits_meeting {
protected:
    ongoing waiting_async(remote_permits& for_one) {
        return parked([&] { return for_one.begin_acquire_async(1h); });
    }

    /// A JVM's may have missed the message of a release, so it is told again and again.
    json::value served_after_release(ongoing waiter, remote_permits by) {
        EXPECT_TRUE(eventually([&] {
            if (support::is_ready(waiter.answer) || !second().is_jvm())
                return true;
            if (const std::optional<std::string> id = by.try_acquire()) {
                EXPECT_TRUE(by.try_release(*id));
            }
            return support::is_ready(waiter.answer);
        }));
        return soon(std::move(waiter.answer));
    }
    static std::string text(const json::value& id) { return json::value_to<std::string>(id); }
};
HOLDFAST_BOTH_WAYS_IN_TURN(PermitsAsync, "getPermitExpirableSemaphore");

TEST_P(PermitsAsync, AReleaseServesTheOthersWaiter) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(1));
    const std::string held = of_first("anne").acquire(1h);
    ongoing served = waiting_async(bob);
    EXPECT_TRUE(alice.try_release(held));
    const std::string id = text(served_after_release(std::move(served), alice));
    expect_counts(0, 1);
    EXPECT_TRUE(alice.try_release(id));
    expect_counts(1, 0);
}

TEST_P(PermitsAsync, AnEndServesTheOthersWaiter) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(1));
    const std::string held = alice.acquire(1'200ms);
    const duration end = end_of(held).value();
    const std::string id = id_in(waiting_async(bob));
    EXPECT_GE(now(), end - 100ms); // ours gives back what it does not believe in any more
    EXPECT_FALSE(alice.try_release(held));
    expect_counts(0, 1);
    EXPECT_TRUE(bob.try_release(id));
    expect_counts(1, 0);
}

TEST_P(PermitsAsync, AKilledHoldersPermitIsTheOthersWaitersWhenItEnds) {
    const bool of_jvm = first().is_jvm();
    const std::unique_ptr<peer> doomed = new_process(of_jvm);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, of_jvm);
    remote_permits holder{gone->thread("holder")}, bob = of_second();
    EXPECT_TRUE(bob.try_set_permits(1));
    const std::string held = of_jvm ? holder.acquire(2s) : holder.acquire();
    ongoing served = waiting_async(bob);
    doomed->kill();
    const duration end = end_of(held).value_or(duration::zero());
    (void)id_in(std::move(served));
    EXPECT_GE(now(), end);
    expect_counts(0, 1);
}

// Once the JVM has asked at an end that it was told of, it is deaf for a message.
TEST_P(PermitsAsync, AJvmBesideARenewedPermitOfOursIsServedWhenThatWouldHaveEnded) {
    remote_permits holder = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_jvm.try_set_permits(1));
    const std::string held = holder.acquire();
    ongoing served = waiting_async(by_jvm);
    transcript seen{server().socket_path()};
    EXPECT_TRUE(eventually([&] { return times_read(seen, "L") > 0; }));
    EXPECT_FALSE(support::is_ready(served.answer));
    EXPECT_TRUE(holder.is_held(held));
    EXPECT_TRUE(holder.try_release(held));
    (void)id_in(std::move(served));
    expect_counts(0, 1);
}

TEST_P(PermitsAsync, ATimedWaitEndsWithItsPatienceOrAPermit) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(1));
    const std::string held = of_first("anne").acquire(1h);
    EXPECT_TRUE(soon(bob.begin_try_acquire_async_for(50ms, 1h).answer).is_null());
    expect_counts(0, 1);
    ongoing served = parked([&] { return bob.begin_try_acquire_async_for(10min, 1h); });
    EXPECT_TRUE(alice.try_release(held));
    const std::string id = text(served_after_release(std::move(served), alice));
    EXPECT_TRUE(alice.try_release(id));
    expect_counts(1, 0);
}

TEST_P(PermitsAsync, AWaitOfOursThatIsCalledOffTakesNothing) {
    remote_permits given_up = of_ours("gives up"), by_jvm = of_jvm();
    EXPECT_TRUE(by_jvm.try_set_permits(1));
    const std::string held = by_jvm.acquire(1h);
    ongoing never = waiting_async(given_up);
    EXPECT_TRUE(given_up.cancel(never));
    EXPECT_THROW((void)soon(std::move(never.answer)), peer_failure);
    EXPECT_TRUE(by_jvm.try_release(held));
    EXPECT_TRUE(by_jvm.try_acquire_for(1min, 1h));
    expect_counts(0, 1);
}

TEST_P(PermitsAsync, SeveralAreAllOrNone) {
    if (!are_new())
        return; // such a JVM takes one at a time
    using ids = std::vector<std::string>;
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(5));
    const auto three = json::value_to<ids>(soon(alice.begin_acquire_several_async(3).answer));
    EXPECT_EQ(three.size(), 3U);
    expect_counts(2, 3);
    ongoing served = parked([&] { return bob.begin_acquire_several_async(3); });
    EXPECT_EQ(alice.try_release_several(three), 3);
    const auto all_of_bob = json::value_to<ids>(served_after_release(std::move(served), alice));
    EXPECT_EQ(all_of_bob.size(), 3U);
    expect_counts(2, 3);
}

} // namespace
} // namespace holdfast::interop
