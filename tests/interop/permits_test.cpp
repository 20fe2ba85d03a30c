// SPDX-License-Identifier: Apache-2.0
// Redisson's permit-expirable semaphores together with those of holdfast: stored state, messages,
// and permits that one side releases or extends for the other side.
#include "interop/counter_meeting.hpp"

#include <atomic>
#include <future>
#include <random>

namespace holdfast::interop {

// A JVM and a holdfast process with one permit-expirable semaphore, "L". holdfast writes permits in
// the form of the JVM's version.

class permits_meeting : public counter_meeting {
protected:
    static constexpr duration lease_of_ours{1'500};

    void SetUp() override {
        meeting::SetUp();
        // The waiters send requests only after notifications, or when a permit expires.
        have_clients({.lease_time = lease_of_ours, .poll_bound = 1h, .redisson_form = form()});
    }

    static std::optional<std::string> form() { return form_of(GetParam().redisson); }

    remote_permits of_first(const std::string& actor = "alice", const std::string& name = "L") {
        return remote_permits{first().thread(actor), name};
    }
    remote_permits of_second(const std::string& actor = "bob", const std::string& name = "L") {
        return remote_permits{second().thread(actor), name};
    }
    remote_permits of_ours(const std::string& actor = "ours") {
        return remote_permits{ours().thread(actor)};
    }
    remote_permits of_jvm(const std::string& actor = "jvm") {
        return remote_permits{jvm().thread(actor)};
    }

    /// Several at once, lists, acquired permits, setPermits.
    static bool are_new() { return is_at_least(GetParam().redisson, 3, 41); }

    ongoing waiting(remote_permits& for_one, const std::string& name = "L") {
        return parked([&] { return for_one.begin_acquire(); }, name);
    }
    static std::string id_in(ongoing served) {
        return json::value_to<std::string>(soon(std::move(served.answer)));
    }

    void expect_counts(std::int64_t available, std::size_t held) {
        const auto state = state_of(server());
        ASSERT_TRUE(state.contains("L"));
        EXPECT_EQ(state.at("L").value, std::to_string(available));
        EXPECT_EQ(state.contains("{L}:timeout") ? state.at("{L}:timeout").fields.size() : 0, held);
        EXPECT_EQ(state.size(), held == 0 ? 1U : 2U);
    }
    /// When that permit ends, by the server's clock; nothing: it is not held.
    std::optional<duration> end_of(const std::string& id) {
        const std::map<std::string, std::string> held = state_of(server())["{L}:timeout"].fields;
        for (const auto& [member, score] : held)
            if (member == id || in_digits(member) == id)
                return duration{std::stoll(score)};
        return {};
    }
    duration now() { return std::chrono::duration_cast<duration>(time_of(server())); }

    static std::string in_digits(const std::string& bytes) {
        std::string digits;
        for (const char each : bytes)
            for (const int half : {(each >> 4) & 15, each & 15})
                digits += "0123456789abcdef"[half];
        return digits;
    }
    static std::string message(int permits) { return "redisson_sc:{L} " + std::to_string(permits); }
};

namespace {

using testing::ElementsAre;
using testing::Not;

constexpr std::int64_t without_end = 922'337'203'685'477;

class Permits : public permits_meeting {};
HOLDFAST_BOTH_WAYS_AT(Permits, "getPermitExpirableSemaphore");

TEST_P(Permits, AreDrainedTogetherAndEachSideCountsTheSame) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_EQ(bob.available_permits(), 0);
    EXPECT_FALSE(bob.try_acquire());
    EXPECT_TRUE(alice.try_set_permits(3));
    EXPECT_FALSE(bob.try_set_permits(7));
    const std::string of_alice = alice.acquire(), of_bob = bob.acquire(60s);
    expect_counts(1, 2);
    const std::optional<std::string> last = alice.try_acquire_for(1min, 60s);
    ASSERT_TRUE(last);
    EXPECT_EQ(of_alice.size(), 32U);
    for (const std::string& id : {of_alice, of_bob, *last})
        EXPECT_TRUE(end_of(id)) << id << " is of another form";
    expect_counts(0, 3);
    for (remote_permits* each : {&alice, &bob}) {
        EXPECT_EQ(each->available_permits(), 0);
        EXPECT_FALSE(each->try_acquire());
        EXPECT_FALSE(each->try_acquire_for(5ms));
        if (are_new()) {
            EXPECT_EQ(each->acquired_permits(), 3);
        }
    }
    EXPECT_TRUE(alice.try_release(of_alice));
    EXPECT_TRUE(bob.try_release(of_bob));
    EXPECT_EQ(alice.available_permits(), 2);
    EXPECT_EQ(bob.available_permits(), 2);
    EXPECT_TRUE(alice.try_release(*last));
    expect_counts(3, 0);
    EXPECT_TRUE(bob.erase());
    expect_nothing();
}

TEST_P(Permits, OfOneSideAreReleasedByTheOther) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(1));
    const std::string id = alice.acquire(60s);
    EXPECT_TRUE(bob.try_release(id));
    expect_counts(1, 0);
    EXPECT_FALSE(bob.try_release(id));
    EXPECT_FALSE(alice.try_release(id));
    expect_counts(1, 0);
}

TEST_P(Permits, OfOursThatAJvmReleasesAreLostAtTheNextRenewal) {
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_jvm.try_set_permits(1));
    const std::string id = by_ours.acquire();
    EXPECT_TRUE(by_ours.is_held(id));
    EXPECT_TRUE(by_jvm.try_release(id));
    EXPECT_TRUE(eventually([&] { return !by_ours.is_held(id); }));
    expect_counts(1, 0);
}

TEST_P(Permits, OfOneSideAreExtendedByTheOther) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(2));
    const std::string id = alice.acquire(60s);
    EXPECT_TRUE(bob.set_lease(id, 10min));
    const duration left = end_of(id).value() - now();
    EXPECT_GT(left, 9min);
    EXPECT_LE(left, 10min);
    if (are_new()) {
        const duration told = of_jvm().lease_left(id);
        EXPECT_GT(told, 9min);
        EXPECT_LE(told, 10min);
    }
    EXPECT_FALSE(bob.set_lease("0123456789abcdef0123456789abcdef", 10min));
    EXPECT_TRUE(alice.try_release(id));
    EXPECT_FALSE(bob.set_lease(id, 10min));
    expect_counts(2, 0);
}

TEST_P(Permits, OfAJvmHaveNoEndUntilOursGiveThemOne) {
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_ours.try_set_permits(1));
    const std::string id = by_jvm.acquire();
    EXPECT_EQ(end_of(id), duration{without_end});
    ongoing served = waiting(by_ours);
    remote_permits another = of_ours("another");
    EXPECT_TRUE(another.set_lease(id, 60s));
    EXPECT_LE(end_of(id).value() - now(), 60s);
    EXPECT_TRUE(another.try_release(id));
    EXPECT_THAT(id_in(std::move(served)), Not(id));
    expect_counts(0, 1);
}

// A JVM told of as many as came back at once; ours of how many there are.
TEST_P(Permits, WhatIsToldIsHowManyThereAre) {
    remote_permits alice = of_first(), bob = of_second();
    transcript seen{server().socket_path()};
    EXPECT_TRUE(alice.try_set_permits(3));
    const std::string one = bob.acquire(60s), other = bob.acquire(60s);
    EXPECT_TRUE(alice.try_release(one));
    EXPECT_TRUE(bob.try_release(other));
    EXPECT_THAT(told(seen), ElementsAre(message(3), message(2), message(3)));
}

TEST_P(Permits, AreAddedAndTakenAwayByBoth) {
    remote_permits alice = of_first(), bob = of_second();
    alice.add_permits(5);
    EXPECT_EQ(bob.available_permits(), 5);
    const std::string held = bob.acquire(60s);
    alice.add_permits(-6);
    EXPECT_EQ(alice.available_permits(), -2);
    EXPECT_EQ(bob.available_permits(), -2);
    EXPECT_FALSE(bob.try_acquire());
    EXPECT_TRUE(bob.try_release(held));
    bob.add_permits(3);
    EXPECT_EQ(alice.available_permits(), 2);
    expect_counts(2, 0);
}

TEST_P(Permits, AreSetWhileSomeAreHeld) {
    if (!are_new())
        return; // such a JVM cannot
    remote_permits alice = of_first(), bob = of_second();
    alice.set_permits(3);
    expect_counts(3, 0);
    const std::string held = bob.acquire(60s);
    alice.set_permits(5);
    expect_counts(4, 1);
    EXPECT_EQ(bob.available_permits(), 4);
    EXPECT_EQ(of_jvm().permits_in_all(), 5);
    bob.set_permits(1);
    EXPECT_EQ(alice.available_permits(), 0);
    EXPECT_FALSE(alice.try_acquire());
    alice.set_permits(0);
    expect_counts(-1, 1);
    EXPECT_TRUE(bob.try_release(held));
    expect_counts(0, 0);
}

TEST_P(Permits, SeveralAtOnceAreAllOrNone) {
    if (!are_new())
        return; // such a JVM takes one at a time
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(5));
    const std::vector<std::string> three = alice.acquire_several(3);
    EXPECT_EQ(three.size(), 3U);
    expect_counts(2, 3);
    EXPECT_TRUE(bob.try_acquire_several(3).empty());
    EXPECT_EQ(bob.try_acquire_several(2).size(), 2U);
    expect_counts(0, 5);
    EXPECT_EQ(bob.acquired_permits(), 5);
    EXPECT_EQ(bob.try_release_several(three), 3);
    expect_counts(3, 2);
    EXPECT_EQ(alice.available_permits(), 3);
}

// A lease of holdfast consists of all its permits: if one permit is removed, the lease is lost, and
// the other permits become free.
TEST_P(Permits, OneOfSeveralOfOursThatAJvmReleasesTakesTheOthersAlong) {
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_jvm.try_set_permits(3));
    const std::vector<std::string> all = by_ours.acquire_several(3);
    EXPECT_TRUE(by_jvm.try_release(all.at(1)));
    EXPECT_TRUE(eventually([&] { return !by_ours.is_held(all.at(0)); }));
    EXPECT_TRUE(eventually([&] { return by_jvm.available_permits() == 3; }));
    expect_counts(3, 0);
}

TEST_P(Permits, OfAJvmsListWithOneThatIsNotHeldAreAllKept) {
    if (!are_new())
        return; // such a JVM releases one at a time, or those that it finds
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_ours.try_set_permits(3));
    std::vector<std::string> ids = by_ours.acquire_several(2);
    ids.emplace_back("0123456789abcdef0123456789abcdef");
    EXPECT_EQ(by_jvm.try_release_several(ids), 0);
    expect_counts(1, 2);
    EXPECT_TRUE(by_ours.is_held(ids[0]));
    ids.pop_back();
    EXPECT_EQ(by_jvm.try_release_several(ids), 2);
    EXPECT_TRUE(eventually([&] { return !by_ours.is_held(ids[0]); }));
    expect_counts(3, 0);
    EXPECT_EQ(by_jvm.try_release_several(ids), 0);
}

// The end of the key itself.
TEST_P(Permits, OfASemaphoreThatEndsGoWithIt) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(3));
    server().command({"PEXPIRE", "L", "60000"});
    for (remote_permits* each : {&alice, &bob}) {
        (void)each->acquire(10min);
        EXPECT_LE(state_of(server()).at("{L}:timeout").left.value(), 60s);
        server().command({"PERSIST", "{L}:timeout"});
    }
}

TEST_P(Permits, OfAnyNameAreTheSame) {
    for (const char* name : {"plain", "order:42", "a{b}c", "{a}{b}", "}a{b}", "a{b}{", "two words",
                             "k\xc3\xbchl", "*"}) {
        SCOPED_TRACE(name);
        remote_permits alice = of_first("alice", name), bob = of_second("bob", name);
        ongoing served = waiting(bob, name);
        EXPECT_TRUE(alice.try_set_permits(1));
        EXPECT_TRUE(alice.try_release(id_in(std::move(served))));
        EXPECT_EQ(bob.available_permits(), 1);
        EXPECT_TRUE(bob.erase());
    }
    expect_nothing();
}

// Who waits asynchronously for a permit is served as well. Of JVMs' waiters no more is relied on
// than Redisson does for them. One that was refused looks whether it has heard something, and
// listens from then on; what is told just between is lost to it, until something is told again.
// Where the server said when the next permit ends, it also asks then; but it does not take away the
// listener of before, which swallows the next message.

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

TEST_P(PermitsAsync, ATimedWaitEndsWithItsTimeoutOrAPermit) {
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

// Who waits for a permit is served by the other side's release, by an end, and after a death; and
// what a client of ours does beside JVMs that write permits in another form.

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

// Threads of a JVM and of ours draw leased permits from one semaphore: were there ever more out
// than there are, and do all come back, those of a killed process too?

class PermitsCrowd : public permits_meeting {
protected:
    static constexpr int seats = 3;
    static constexpr int rounds = 30;

    /// Takes one in all ways; each is released by itself, or by a thread of the other side.
    void visit(remote_permits gate, remote_permits of_other_side, unsigned seed) {
        std::minstd_rand random{seed};
        for (int round = 0; round < rounds; ++round) {
            const unsigned way = random() % 4;
            const std::optional<std::string> id = way == 0   ? gate.try_acquire()
                                                  : way == 1 ? gate.try_acquire_for(10ms, 1h)
                                                  : way == 2 ? gate.acquire(1h)
                                                             : gate.acquire();
            if (!id)
                continue;
            const int now = ++inside_;
            int known = most_;
            while (known < now && !most_.compare_exchange_weak(known, now)) {
            }
            const std::int64_t left = gate.available_permits(); // which takes a while
            EXPECT_GE(left, 0);
            EXPECT_LT(left, seats);
            --inside_;
            ++visits_;
            EXPECT_TRUE((random() % 3 == 0 && way != 3 ? of_other_side : gate).try_release(*id));
        }
    }

    void have_visitors(int of_each_side) {
        std::vector<std::future<void>> all;
        for (int number = 1; number <= of_each_side; ++number)
            for (remote_client* side : {&jvm(), &ours()}) {
                remote_client& other = side->is_jvm() ? ours() : jvm();
                const std::string name = "visitor " + std::to_string(number);
                const unsigned seed = static_cast<unsigned>(2 * number + (side->is_jvm() ? 1 : 0));
                all.push_back(std::async(std::launch::async,
                                         [this, gate = remote_permits{side->thread(name)},
                                          helper = remote_permits{other.thread(name + "'s helper")},
                                          seed] { visit(gate, helper, seed); }));
            }
        for (std::future<void>& each : all)
            each.get();
    }

    std::atomic<int> inside_ = 0, most_ = 0, visits_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Redisson, PermitsCrowd,
                         testing::ValuesIn(one_way_at({"getPermitExpirableSemaphore"})), name_of);

TEST_P(PermitsCrowd, NobodyDrawsWhatIsNotThereAndAllComesBack) {
    ASSERT_TRUE(of_jvm("keeper").try_set_permits(seats));
    have_visitors(4);
    EXPECT_LE(most_, seats);
    EXPECT_GT(most_, 1) << "they never met";
    EXPECT_GT(visits_, rounds);
    // If a poll took permits for a caller that had been served in the meantime, the client gives
    // them back in the background.
    EXPECT_TRUE(eventually([&] { return of_jvm("keeper").available_permits() == seats; }));
    EXPECT_EQ(of_ours("keeper").available_permits(), seats);
    // What passed within our process may have passed under the number of the one before it.
    expect_counts(seats, 0);
}

TEST_P(PermitsCrowd, WhatAKilledProcessOfOursHeldComesBackWhileTheyDraw) {
    ASSERT_TRUE(of_ours("keeper").try_set_permits(seats));
    const std::unique_ptr<peer> doomed = new_process(false);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, false);
    remote_permits holder{gone->thread("holder")};
    (void)holder.acquire();
    (void)holder.acquire();
    std::future<void> crowd = std::async(std::launch::async, [&] { have_visitors(2); });
    EXPECT_TRUE(eventually([&] { return visits_ > rounds / 2; }));
    doomed->kill();
    crowd.get();
    EXPECT_LE(most_, seats);
    EXPECT_TRUE(eventually([&] { return of_jvm("keeper").available_permits() == seats; }));
    expect_counts(seats, 0);
}

} // namespace
} // namespace holdfast::interop
