// SPDX-License-Identifier: Apache-2.0
// What each side leaves on the server after each operation, and what each tells about the other.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"

namespace holdfast::interop {
namespace {

using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr duration default_lease = 30s;

class State : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        began_ = boot_clock::now();
    }

    /// The lock, and nothing else, is on the server. A JVM counts its entries there, we never do.
    /// What is left of the lease is what cannot have passed since the test began.
    void expect_held(const remote_thread& holder, int entries, duration lease) {
        const auto state = state_of(server());
        const duration passed = boot_clock::now() - began_ + 1ms;
        ASSERT_THAT(state, UnorderedElementsAre(Pair("L", testing::_)));
        const key_state& lock = state.at("L");
        EXPECT_EQ(lock.type, "hash");
        const bool by_jvm = holder.owner().starts_with(jvm().id());
        const std::string count = by_jvm ? std::to_string(entries) : "1";
        EXPECT_THAT(lock.fields, UnorderedElementsAre(Pair(StartsWith(holder.owner()), count)));
        EXPECT_LE(lock.left.value(), lease);
        EXPECT_GE(lock.left.value(), lease - passed);
    }
    void expect_free() { EXPECT_TRUE(state_of(server()).empty()); }

private:
    time_point began_{};
};
HOLDFAST_BOTH_WAYS(State);
HOLDFAST_BOTH_WAYS_ONCE(State);

TEST_P(State, AHeldLockIsAHashOfItsOwner) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L");
    lock.lock();
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_free();
    EXPECT_TRUE(lock.try_lock());
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    EXPECT_TRUE(lock.try_lock_for(10s));
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_free();
}

TEST_P(State, ItEndsWithTheLeaseThatWasGiven) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L");
    lock.lock(60s);
    expect_held(alice, 1, 60s);
    EXPECT_TRUE(lock.unlock());
    EXPECT_TRUE(lock.try_lock_for(10s, 7s));
    expect_held(alice, 1, 7s);
    EXPECT_TRUE(lock.unlock());
    expect_free();
}

TEST_P(State, EntriesAreCountedOnTheServerByAJvmAlone) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L");
    lock.lock();
    lock.lock();
    EXPECT_TRUE(lock.try_lock());
    expect_held(alice, 3, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_held(alice, 2, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_free();
    EXPECT_FALSE(lock.unlock());
}

TEST_P(State, ALongerEntryExtendsTheLeaseAndAShorterOneCutsOnlyAJvms) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L");
    lock.lock(20s);
    lock.lock(60s);
    expect_held(alice, 2, 60s);
    lock.lock(10s);
    expect_held(alice, 3, first().is_jvm() ? 10s : 60s);
    for (int entry = 0; entry < 3; ++entry)
        EXPECT_TRUE(lock.unlock());
    expect_free();
}

TEST_P(State, ABusyAnswerChangesNothing) {
    const remote_thread alice = first().thread("alice");
    remote_lock held = alice.lock("L"), wanted = second().thread("bob").lock("L");
    held.lock(60s);
    EXPECT_FALSE(wanted.try_lock());
    EXPECT_FALSE(wanted.try_lock_for(5ms));
    EXPECT_FALSE(wanted.try_lock_for(5ms, 90s));
    EXPECT_FALSE(wanted.async().try_lock());
    EXPECT_FALSE(wanted.unlock());
    expect_held(alice, 1, 60s);
    EXPECT_TRUE(held.unlock());
    expect_free();
}

TEST_P(State, TheAsynchronousCallsLeaveTheSame) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L").async();
    lock.lock();
    expect_held(alice, 1, default_lease);
    lock.lock();
    expect_held(alice, 2, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_free();
    EXPECT_TRUE(lock.try_lock_for(10s, 7s));
    expect_held(alice, 1, 7s);
    EXPECT_TRUE(lock.unlock());
    EXPECT_FALSE(lock.unlock());
    expect_free();
}

TEST_P(State, ForceUnlockLeavesNothing) {
    remote_lock held = first().thread("alice").lock("L");
    remote_lock other = second().thread("bob").lock("L");
    EXPECT_FALSE(other.force_unlock());
    held.lock();
    EXPECT_TRUE(other.force_unlock());
    expect_free();
    EXPECT_FALSE(other.force_unlock());
    EXPECT_FALSE(held.unlock());
    expect_free();
}

TEST_P(State, EachSideTellsTheTruthAboutTheOthersHolds) {
    remote_lock held = first().thread("alice").lock("L");
    remote_lock beside = first().thread("anne").lock("L");
    remote_lock across = second().thread("bob").lock("L");
    const auto expect_all = [&](bool locked) {
        for (remote_lock* asking : {&held, &beside, &across}) {
            EXPECT_EQ(asking->is_locked(), locked);
            EXPECT_EQ(asking->async().is_locked(), locked);
        }
        EXPECT_FALSE(beside.is_held() || across.is_held());
        EXPECT_EQ(beside.hold_count() + across.hold_count(), 0);
    };
    expect_all(false);
    EXPECT_EQ(across.remaining(), -2ms);
    held.lock(60s);
    expect_all(true);
    EXPECT_TRUE(held.is_held());
    held.lock(60s);
    EXPECT_EQ(held.hold_count(), 2);
    const duration seen_by_holder = held.remaining(), seen_across = across.remaining();
    EXPECT_LE(seen_across, seen_by_holder);
    EXPECT_GT(seen_across, 50s);
    server().command({"PERSIST", "L"});
    EXPECT_EQ(held.remaining(), -1ms);
    EXPECT_EQ(across.remaining(), -1ms);
    EXPECT_TRUE(held.unlock());
    expect_all(true);
    EXPECT_TRUE(held.unlock());
    expect_all(false);
    EXPECT_FALSE(held.is_held());
    EXPECT_EQ(held.hold_count(), 0);
}

TEST_P(State, AnyNameThatCanBeLockedIsTheSameLockAndChannel) {
    for (const char* name : {"plain", "order:42", "a{b}c", "{a}{b}", "}a{b}", "a{b}{", "two words",
                             "quoted \"name\"", "k\xc3\xbchl", "\xf0\x9f\x94\x92", "*", "a\nb"}) {
        SCOPED_TRACE(name);
        remote_lock held = first().thread("alice").lock(name);
        remote_lock wanted = second().thread("bob").lock(name);
        held.lock();
        ongoing waiting = wanted.begin_lock();
        ASSERT_TRUE(eventually([&] { return waiters(name) == 1; }));
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_THAT(state_of(server()), UnorderedElementsAre(Pair(name, testing::_)));
        EXPECT_TRUE(wanted.unlock());
    }
}

} // namespace
} // namespace holdfast::interop
