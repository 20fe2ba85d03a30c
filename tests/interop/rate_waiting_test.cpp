// SPDX-License-Identifier: Apache-2.0
// Who waits for a rate limiter, also asynchronously, draws when the other side's draws are over.
// Nobody is told anything: a JVM sleeps as long as the server said, and so do ours.
#include "interop/rate_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::SizeIs;

class RateWaiting : public rate_meeting {
protected:
    static constexpr duration interval{700};

    /// When the only draw that there is was made.
    duration drawn_at() {
        const auto all = draws();
        EXPECT_THAT(all, SizeIs(1));
        return duration{std::stoll(all.begin()->second)};
    }
    void all_is_drawn_by(remote_rate& limiter) {
        EXPECT_TRUE(limiter.try_set_rate({"OVERALL", 2, interval}));
        EXPECT_TRUE(limiter.try_acquire(2));
    }
};
HOLDFAST_BOTH_WAYS_AT(RateWaiting, "getRateLimiter");

TEST_P(RateWaiting, DrawsOfTheOtherSideAreWaitedForByTheirInterval) {
    remote_rate alice = of_first(), bob = of_second();
    all_is_drawn_by(alice);
    const duration before = drawn_at();
    bob.acquire(2);
    const duration waited = drawn_at() - before;
    EXPECT_GE(waited, interval);
    EXPECT_LT(waited, interval + 1s);
    EXPECT_FALSE(alice.try_acquire());
}

TEST_P(RateWaiting, DrawsOfTheOtherSideAreWaitedForAsynchronouslyToo) {
    remote_rate alice = of_first(), bob = of_second();
    all_is_drawn_by(alice);
    const duration before = drawn_at();
    ongoing one = bob.begin_acquire_async(), other = bob.begin_acquire_async();
    (void)soon(std::move(one.answer));
    (void)soon(std::move(other.answer));
    const auto all = draws();
    EXPECT_THAT(all, SizeIs(2));
    for (const auto& [draw, at] : all)
        EXPECT_GE(duration{std::stoll(at)} - before, interval);
}

TEST_P(RateWaiting, ATimedAsynchronousWaitEndsWithItsPatienceOrADraw) {
    remote_rate alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_rate({"OVERALL", 2, 1h}));
    EXPECT_TRUE(alice.try_acquire(2));
    EXPECT_FALSE(soon(bob.begin_try_acquire_async_for(50ms).answer).as_bool());
    EXPECT_EQ(drawn(), 2);
    alice.set_rate({"OVERALL", 2, interval});
    EXPECT_TRUE(alice.try_acquire(2));
    const duration before = drawn_at();
    EXPECT_TRUE(soon(bob.begin_try_acquire_async_for(10min, 2).answer).as_bool());
    EXPECT_GE(drawn_at() - before, interval);
}

// A JVM's draws all the same, and nobody is told.
TEST_P(RateWaiting, AWaitOfOursThatIsCalledOffDrawsNothing) {
    remote_rate given_up{ours().thread("gives up")}, by_jvm{jvm().thread("bob")};
    all_is_drawn_by(by_jvm);
    transcript seen{server().socket_path()};
    ongoing never = given_up.begin_acquire_async();
    EXPECT_TRUE(eventually([&] { return times_read(seen, "{L}:value") > 0; }));
    EXPECT_TRUE(given_up.cancel(never));
    EXPECT_THROW((void)soon(std::move(never.answer)), peer_failure);
    by_jvm.acquire(2);
    by_jvm.acquire();
    EXPECT_EQ(std::ranges::count_if(seen.all(), [](const entry& each) { return each.is("ZADD"); }),
              2);
}

TEST_P(RateWaiting, AKilledDrawersDrawsCountOn) {
    const bool of_jvm = first().is_jvm();
    const std::unique_ptr<peer> doomed = new_process(of_jvm);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, of_jvm);
    remote_rate last{gone->thread("last")}, bob = of_second();
    all_is_drawn_by(last);
    const duration before = drawn_at();
    doomed->kill();
    bob.acquire(2);
    EXPECT_GE(drawn_at() - before, interval);
}

} // namespace
} // namespace holdfast::interop
