// SPDX-License-Identifier: Apache-2.0
// Processes that die holding, and holds that outlive many leases.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"
#include "interop/transcript.hpp"

namespace holdfast::interop {
namespace {

constexpr duration lease_of_the_dead = 1s;

class Death : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        have_clients({.lease_time = lease_of_the_dead, .poll_bound = 1h});
    }
};
HOLDFAST_BOTH_WAYS(Death);
HOLDFAST_BOTH_WAYS_ONCE(Death);

TEST_P(Death, AKilledHoldersLockIsTheOthersWhenItsLeaseEnds) {
    const std::unique_ptr<peer> doomed = new_process(first().is_jvm());
    const std::unique_ptr<remote_client> its = client_of(*doomed, first().is_jvm());
    its->thread("alice").lock("L").lock();
    remote_lock wanted = second().thread("bob").lock("L");
    ongoing waiting = wanted.begin_lock();
    ASSERT_TRUE(eventually([&] { return waiters("L") == 1; }));
    transcript seen{server().socket_path()};
    const microseconds end = end_after_death(*doomed, "L");
    (void)soon(std::move(waiting.answer));

    const std::vector<entry>& all = seen.all();
    const auto granted = std::ranges::find_if(all, [](const entry& each) {
        return each.in_script && (each.is("HSET") || each.is("HINCRBY"));
    });
    ASSERT_NE(granted, all.end());
    EXPECT_GE(granted->at, end);
    EXPECT_LT(granted->at, end + lease_of_the_dead) << "it was not this end that freed it";
    RecordProperty("after_lease_end_us", static_cast<int>((granted->at - end).count()));
    EXPECT_TRUE(wanted.is_held());
    EXPECT_TRUE(wanted.unlock());
}

class Longevity : public Death {};
HOLDFAST_ONE_WAY(Longevity);

TEST_P(Longevity, EachSideKeepsItsHoldAliveForSeveralLeases) {
    remote_lock at_jvm = jvm().thread("alice").lock("java"),
                at_us = ours().thread("bob").lock("cpp");
    at_jvm.lock();
    at_us.lock();
    EXPECT_TRUE(keeps(jvm(), "java", 4 * lease_of_the_dead));
    EXPECT_TRUE(keeps(ours(), "cpp", duration::zero())) << "it has been held as long";
    EXPECT_FALSE(ours().thread("bob").lock("java").try_lock());
    EXPECT_FALSE(jvm().thread("alice").lock("cpp").try_lock());
    EXPECT_TRUE(at_jvm.is_held() && at_us.is_held());
    EXPECT_TRUE(at_jvm.unlock());
    EXPECT_TRUE(at_us.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

} // namespace
} // namespace holdfast::interop
