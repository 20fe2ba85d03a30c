// SPDX-License-Identifier: Apache-2.0
// Who waits for a permit is served by the other side's release, by an end, and after a death; and
// what a client of ours does beside JVMs that write permits in another form.
#include "interop/permits_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::HasSubstr;

class PermitsWaking : public permits_meeting {};
HOLDFAST_BOTH_WAYS_AT(PermitsWaking, "getPermitExpirableSemaphore");

TEST_P(PermitsWaking, AReleaseServesTheOthersWaiter) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(1));
    const std::string held = of_first("anne").acquire(1h);
    ongoing served = waiting(bob);
    EXPECT_TRUE(alice.try_release(held));
    EXPECT_TRUE(alice.try_release(id_in(std::move(served))));
    expect_counts(1, 0);
}

TEST_P(PermitsWaking, ASettingOrAnAdditionServesTheOthersWaiter) {
    remote_permits alice = of_first(), bob = of_second();
    ongoing served = waiting(bob);
    EXPECT_TRUE(alice.try_set_permits(1));
    (void)id_in(std::move(served));
    remote_permits carol = of_second("carol");
    served = waiting(carol);
    alice.add_permits(1);
    (void)id_in(std::move(served));
    expect_counts(0, 2);
}

TEST_P(PermitsWaking, AnEndServesTheOthersWaiterAtOnce) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(1));
    const std::string held = alice.acquire(1'200ms);
    const duration end = end_of(held).value();
    ongoing served = waiting(bob);
    const std::string id = id_in(std::move(served));
    EXPECT_GE(now(), end - 100ms); // ours gives back what it does not believe in any more
    EXPECT_LE(now(), end + 1s);
    EXPECT_FALSE(alice.try_release(held));
    expect_counts(0, 1);
    EXPECT_TRUE(bob.try_release(id));
    expect_counts(1, 0);
}

TEST_P(PermitsWaking, AnEndIsCountedByTheOtherSide) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(2));
    (void)alice.acquire(300ms);
    EXPECT_TRUE(eventually([&] { return bob.available_permits() == 2; }));
    EXPECT_TRUE(bob.try_acquire_for(0ms, 60s));
    expect_counts(1, 1);
}

TEST_P(PermitsWaking, ManyEndsAreCountedByTheOtherSide) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(10));
    for (int i = 0; i < 6; ++i)
        (void)alice.acquire(100ms);
    const std::string kept = alice.acquire(60s);
    EXPECT_TRUE(eventually([&] { return bob.available_permits() == 9; }));
    EXPECT_TRUE(bob.try_release(kept));
    EXPECT_EQ(bob.available_permits(), 10);
    EXPECT_EQ(alice.available_permits(), 10);
    (void)of_ours().acquire(60s); // who takes one takes out those that have ended
    expect_counts(9, 1);
}

TEST_P(PermitsWaking, TwoWhoWantAllOfThemAreServedOneAfterTheOther) {
    if (!are_new())
        return; // such a JVM takes one at a time
    using ids = std::vector<std::string>;
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(2));
    ids held = alice.acquire_several(2);
    for (remote_permits* next : {&bob, &alice, &bob}) {
        remote_permits& holder = next == &bob ? alice : bob;
        ongoing served = parked([&] { return next->begin_acquire_several(2); });
        EXPECT_EQ(holder.try_release_several(held), 2);
        held = json::value_to<ids>(soon(std::move(served.answer)));
        EXPECT_EQ(held.size(), 2U);
        expect_counts(0, 2);
    }
}

TEST_P(PermitsWaking, AKilledHoldersPermitsAreTheOthersWhenTheyEnd) {
    const bool of_jvm = first().is_jvm();
    const std::unique_ptr<peer> doomed = new_process(of_jvm);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, of_jvm);
    remote_permits holder{gone->thread("holder")}, bob = of_second();
    EXPECT_TRUE(bob.try_set_permits(1));
    const std::string held = of_jvm ? holder.acquire(2s) : holder.acquire();
    ongoing served = waiting(bob);
    doomed->kill();
    const duration end = end_of(held).value_or(duration::zero());
    (void)id_in(std::move(served));
    EXPECT_GE(now(), end);
    expect_counts(0, 1);
}

TEST_P(PermitsWaking, AHeldOneOfOursIsRenewedBesideAWaitingJvm) {
    remote_permits holder = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_jvm.try_set_permits(1));
    const std::string held = holder.acquire();
    const duration first_end = end_of(held).value();
    ongoing served = waiting(by_jvm);
    EXPECT_TRUE(eventually([&] { return now() > first_end; }));
    EXPECT_GT(end_of(held).value(), now());
    EXPECT_FALSE(support::is_ready(served.answer));
    EXPECT_TRUE(holder.try_release(held));
    (void)id_in(std::move(served));
    expect_counts(0, 1);
}

/// The form that JVMs of another age have.
class PermitsOfAnotherForm : public permits_meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        have_clients({.lease_time = lease_of_ours, .poll_bound = 1h, .redisson_form = wrong()});
    }
    static std::string wrong() { return form() ? "3.17" : "3.13"; }
    static std::string right() { return form() ? "redisson=3.16" : "redisson=3.17"; }

    template <typename Call>
    static void expect_refused(Call call) {
        try {
            call();
            ADD_FAILURE() << "not refused";
        } catch (const peer_failure& failure) {
            EXPECT_THAT(failure.what(), HasSubstr(right()));
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Redisson, PermitsOfAnotherForm,
                         testing::ValuesIn(one_way_at({"getPermitExpirableSemaphore"})), name_of);

TEST_P(PermitsOfAnotherForm, AreRefusedWithTheSettingsNameAndLeftAlone) {
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_ours.try_set_permits(2)); // which has no form
    const std::string held = by_jvm.acquire(1h);
    expect_refused([&] { (void)by_ours.try_acquire(); });
    expect_refused([&] { (void)by_ours.acquire(); });
    expect_refused([&] { (void)by_ours.try_release(held); });
    expect_refused([&] { (void)by_ours.set_lease(held, 1s); });
    EXPECT_EQ(by_ours.available_permits(), 1);
    expect_counts(1, 1);
    EXPECT_TRUE(by_jvm.try_release(held));
    expect_counts(2, 0);
}

TEST_P(PermitsOfAnotherForm, OfOursAreCountedByJvmsAllTheSame) {
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_jvm.try_set_permits(2));
    const std::string of_us = by_ours.acquire(), of_it = by_jvm.acquire(1h);
    EXPECT_FALSE(by_jvm.try_acquire());
    const duration end = end_of(of_us).value();
    EXPECT_TRUE(eventually([&] { return now() > end; }));
    EXPECT_TRUE(by_ours.is_held(of_us)); // renewed
    EXPECT_EQ(by_jvm.available_permits(), 0);
    EXPECT_FALSE(by_jvm.try_release(of_us)); // nor could that JVM name it
    EXPECT_TRUE(by_jvm.try_release(of_it));
    EXPECT_TRUE(by_ours.try_release(of_us));
    expect_counts(2, 0);
}

} // namespace
} // namespace holdfast::interop
