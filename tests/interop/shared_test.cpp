// SPDX-License-Identifier: Apache-2.0
// Readers and writers of a JVM and of holdfast at one lock: stored state, and which of them may
// hold the lock together.
#include "interop/lock_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

MATCHER_P(IsFieldOf, owner, "") {
    return testing::Value(arg, StartsWith(owner)) && !testing::Value(arg, EndsWith(":write"));
}
MATCHER_P(IsWriteFieldOf, owner, "") {
    return testing::Value(arg, AllOf(StartsWith(owner), EndsWith(":write")));
}

class Shared : public shared_meeting {
protected:
    void SetUp() override {
        shared_meeting::SetUp();
        have_clients(without_polls());
    }

    /// A JVM before 3.44 does not tell that it released what nobody held.
    bool tells_of_absent() { return !first().is_jvm() || is_at_least(GetParam().redisson, 3, 44); }

    std::map<std::string, std::string> fields() { return state_of(server()).at("L").fields; }

    /// Beside the lock itself: what each read hold has of its own.
    std::vector<std::string> timers() {
        std::vector<std::string> all;
        for (const auto& [key, state] : state_of(server()))
            if (key != "L")
                all.push_back(key);
        return all;
    }
};
HOLDFAST_BOTH_WAYS_AT(Shared, "getReadWriteLock");

TEST_P(Shared, AWriteHoldIsAFieldOfItsOwnerAndExcludesAll) {
    const remote_thread alice = first().thread("alice");
    remote_lock held = writer(first(), "alice");
    for (const bool later : {false, true}) {
        remote_lock taking = later ? held.async() : held;
        taking.lock(60s);
        EXPECT_THAT(fields(), UnorderedElementsAre(Pair("mode", "write"),
                                                   Pair(IsWriteFieldOf(alice.owner()), "1")));
        EXPECT_TRUE(timers().empty());
        const duration left = state_of(server()).at("L").left.value();
        EXPECT_LE(left, 60s);
        EXPECT_GT(left, 50s);
        for (remote_client* side : {&first(), &second()}) {
            EXPECT_FALSE(reader(*side, "bob").try_lock());
            EXPECT_FALSE(writer(*side, "bob").try_lock());
            EXPECT_FALSE(reader(*side, "bob").try_lock_for(5ms, 90s));
            EXPECT_FALSE(writer(*side, "bob").try_lock_for(5ms, 90s));
            EXPECT_TRUE(writer(*side, "bob").is_locked());
            EXPECT_FALSE(reader(*side, "bob").is_locked());
            EXPECT_FALSE(writer(*side, "bob").unlock());
            EXPECT_FALSE(reader(*side, "bob").unlock());
        }
        EXPECT_LE(writer(second(), "bob").remaining(), 60s);
        EXPECT_TRUE(taking.unlock());
        EXPECT_TRUE(is_free());
        EXPECT_EQ(taking.unlock(), !tells_of_absent());
    }
}

TEST_P(Shared, AReadHoldIsAFieldWithATimerAndLetsReadersIn) {
    const remote_thread alice = first().thread("alice"), bob = second().thread("bob");
    for (const bool later : {false, true}) {
        remote_lock held = reader(first(), "alice"), across = reader(second(), "bob");
        if (later)
            held = held.async();
        held.lock(60s);
        EXPECT_THAT(fields(), UnorderedElementsAre(Pair("mode", "read"),
                                                   Pair(IsFieldOf(alice.owner()), "1")));
        EXPECT_THAT(timers(), ElementsAre(AllOf(StartsWith("{L}:" + alice.owner()),
                                                EndsWith(":rwlock_timeout:1"))));
        EXPECT_GT(state_of(server()).at(timers().at(0)).left.value(), 50s);
        EXPECT_TRUE(across.try_lock());
        EXPECT_THAT(fields(),
                    UnorderedElementsAre(Pair("mode", "read"), Pair(IsFieldOf(alice.owner()), "1"),
                                         Pair(IsFieldOf(bob.owner()), "1")));
        EXPECT_EQ(timers().size(), 2u);
        for (remote_client* side : {&first(), &second()}) {
            EXPECT_FALSE(writer(*side, "carol").try_lock());
            EXPECT_FALSE(writer(*side, "carol").try_lock_for(5ms));
            EXPECT_TRUE(reader(*side, "carol").is_locked());
            EXPECT_FALSE(writer(*side, "carol").is_locked());
            EXPECT_FALSE(reader(*side, "carol").unlock());
        }
        EXPECT_TRUE(held.unlock());
        EXPECT_FALSE(writer(second(), "carol").try_lock());
        EXPECT_TRUE(across.is_held());
        EXPECT_TRUE(across.unlock());
        EXPECT_TRUE(is_free());
        EXPECT_EQ(held.unlock(), !tells_of_absent());
    }
}

TEST_P(Shared, AWritersReleaseLetsTheOthersReadersIn) {
    remote_lock held = writer(first(), "alice");
    remote_lock reads = reader(second(), "bob"), reads_too = reader(second(), "carol");
    held.lock();
    ongoing one = parked(second(), reads);
    // A JVM wakes only who is asleep; of ours the two may share one wait.
    ongoing other = second().is_jvm() ? parked(second(), reads_too) : reads_too.begin_lock();
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(one.answer));
    (void)soon(std::move(other.answer));
    EXPECT_TRUE(reads.unlock());
    EXPECT_TRUE(reads_too.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(Shared, AWritersReleaseLetsTheOthersWriterIn) {
    remote_lock held = writer(first(), "alice"), wanted = writer(second(), "bob");
    held.lock();
    ongoing waiting = parked(second(), wanted);
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_FALSE(held.try_lock());
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(Shared, TheLastReadersReleaseLetsTheOthersWriterIn) {
    remote_lock reads = reader(first(), "alice"), reads_too = reader(first(), "anne");
    remote_lock wanted = writer(second(), "bob");
    reads.lock();
    reads_too.lock();
    ongoing waiting = parked(second(), wanted);
    EXPECT_TRUE(reads.unlock());
    EXPECT_FALSE(writer(first(), "carol").try_lock());
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(reads_too.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_FALSE(reads.try_lock());
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(Shared, AWriterWaitsForReadersOfBothSides) {
    const std::unique_ptr<remote_client> third = another(second().is_jvm());
    remote_lock reads = reader(first(), "alice"), reads_too = reader(*third, "anne");
    remote_lock wanted = writer(second(), "bob");
    for (const bool first_leaves_first : {false, true}) {
        reads.lock();
        reads_too.lock();
        ongoing waiting = parked(second(), wanted);
        EXPECT_TRUE((first_leaves_first ? reads : reads_too).unlock());
        EXPECT_FALSE(writer(first(), "carol").try_lock());
        EXPECT_TRUE((first_leaves_first ? reads_too : reads).unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_TRUE(wanted.unlock());
        EXPECT_TRUE(is_free());
    }
}

TEST_P(Shared, AWriterOfOursThatWaitsKeepsOurNewReadersAwayAndNoJvms) {
    // Behind a reader of its own client it would ask nobody yet.
    const std::unique_ptr<remote_client> another_one = another(first().is_jvm());
    remote_lock reads = reader(*another_one, "alice"), wanted = writer(ours(), "bob");
    remote_lock of_jvm = reader(jvm(), "carol");
    reads.lock();
    ongoing waiting = parked(ours(), wanted);
    EXPECT_TRUE(of_jvm.try_lock());
    const std::unique_ptr<remote_client> third = another(false);
    EXPECT_FALSE(reader(*third, "dave").try_lock());
    EXPECT_TRUE(of_jvm.unlock());
    EXPECT_TRUE(reads.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(Shared, AWriterThatGoesOnReadingLetsReadersInAndNoWriter) {
    // A JVM publishes no message when a writer leaves. Waiters of holdfast find out by polling.
    have_clients({.lease_time = 10min, .poll_bound = first().is_jvm() ? duration{300} : 1h});
    remote_lock writes = writer(first(), "alice"), reads = reader(first(), "alice");
    remote_lock across = reader(second(), "bob");
    writes.lock();
    reads.lock();
    EXPECT_THAT(fields(),
                UnorderedElementsAre(Pair("mode", "write"),
                                     Pair(IsFieldOf(first().thread("alice").owner()), "1"),
                                     Pair(IsWriteFieldOf(first().thread("alice").owner()), "1")));
    EXPECT_FALSE(across.try_lock());
    ongoing waiting = parked(second(), across);
    EXPECT_TRUE(writes.unlock());
    EXPECT_EQ(fields().at("mode"), "read");
    (void)soon(std::move(waiting.answer));
    EXPECT_FALSE(writer(second(), "carol").try_lock());
    EXPECT_TRUE(across.unlock());
    EXPECT_FALSE(writer(second(), "carol").try_lock());
    EXPECT_TRUE(reads.is_held());
    EXPECT_TRUE(reads.unlock());
    EXPECT_TRUE(writer(second(), "carol").try_lock());
    EXPECT_TRUE(writer(second(), "carol").unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(Shared, AReadHoldThatEndsUnderAWriteHoldLeavesIt) {
    remote_lock writes = writer(first(), "alice"), reads = reader(first(), "alice");
    writes.lock();
    reads.lock();
    EXPECT_TRUE(reads.unlock());
    EXPECT_EQ(fields().at("mode"), "write");
    EXPECT_FALSE(reader(second(), "bob").try_lock());
    EXPECT_TRUE(writes.unlock());
    EXPECT_TRUE(reader(second(), "bob").try_lock());
    EXPECT_TRUE(reader(second(), "bob").unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(Shared, EachSideIsEnteredAgainAndLeftAsOften) {
    for (const bool alone : {false, true}) {
        remote_lock held = alone ? writer(first(), "alice") : reader(first(), "alice");
        for (const int count : {1, 2, 3}) {
            held.lock();
            EXPECT_EQ(held.hold_count(), count);
        }
        for (const int count : {2, 1, 0}) {
            EXPECT_FALSE(writer(second(), "bob").try_lock());
            EXPECT_TRUE(held.unlock());
            EXPECT_EQ(held.hold_count(), count);
        }
        EXPECT_TRUE(writer(second(), "bob").try_lock());
        EXPECT_TRUE(writer(second(), "bob").unlock());
        EXPECT_TRUE(is_free());
    }
}

TEST_P(Shared, ForceEndsTheHoldsOfItsOwnSideAlone) {
    // A third client holds the lock, because waiters of holdfast need no subscription while their
    // own client holds it.
    const std::unique_ptr<remote_client> third = another(first().is_jvm());
    remote_lock writes = writer(first(), "alice"), reads = reader(*third, "anne");
    const auto force = [this](bool alone) {
        return (alone ? writer(second(), "bob") : reader(second(), "bob")).force_unlock();
    };
    EXPECT_FALSE(force(true));
    EXPECT_FALSE(force(false));
    writes.lock();
    EXPECT_FALSE(force(false));
    ongoing waiting = parked(*third, reads);
    EXPECT_TRUE(force(true));
    (void)soon(std::move(waiting.answer));
    EXPECT_FALSE(writes.unlock());
    EXPECT_FALSE(force(true));
    ongoing waiting_too = parked(first(), writes);
    EXPECT_TRUE(force(false));
    (void)soon(std::move(waiting_too.answer));
    EXPECT_FALSE(reads.unlock());
    EXPECT_TRUE(writes.unlock());
}

// How long readers' and writers' holds last beside those of the other side: renewed, with leases of
// their own, and after their process was killed.

constexpr duration shared_lease = 2s;

class SharedLease : public shared_meeting {
protected:
    void SetUp() override {
        shared_meeting::SetUp();
        have_clients({.lease_time = shared_lease, .poll_bound = 1h});
    }

    /// Returns whether the holds of both clients last for the whole time, by the server's clock.
    bool both_stay(duration length) {
        const auto end = time_of(server()) + length;
        bool gone = false;
        const bool ended = eventually([&] {
            for (const remote_client* each : {&jvm(), &ours()}) {
                const auto state = state_of(server());
                const auto lock = state.find("L");
                gone = gone || lock == state.end() ||
                       std::ranges::none_of(lock->second.fields, [&](const auto& field) {
                           return field.first.starts_with(each->id());
                       });
            }
            return gone || time_of(server()) > end;
        });
        return ended && !gone;
    }
};
HOLDFAST_BOTH_WAYS_IN_TURN(SharedLease, "getReadWriteLock");

TEST_P(SharedLease, ReadersOfBothSidesKeepTheirHoldsAliveBesideEachOther) {
    remote_lock reads = reader(first(), "alice"), reads_too = reader(second(), "bob");
    reads.lock();
    reads_too.lock();
    EXPECT_TRUE(both_stay(2 * shared_lease));
    EXPECT_FALSE(writer(second(), "carol").try_lock());
    EXPECT_TRUE(reads.unlock());
    const auto end = time_of(server()) + 2 * shared_lease;
    EXPECT_TRUE(eventually([&] { return time_of(server()) > end || !reads_too.is_held(); }));
    EXPECT_TRUE(reads_too.is_held());
    EXPECT_FALSE(writer(first(), "carol").try_lock());
    EXPECT_TRUE(reads_too.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(SharedLease, AReadersLongLeaseOutlivesARenewedOneOfTheOtherSide) {
    remote_lock reads = reader(first(), "alice"), renewed = reader(second(), "bob");
    reads.lock(1min);
    renewed.lock();
    EXPECT_TRUE(both_stay(2 * shared_lease));
    EXPECT_TRUE(renewed.unlock());
    EXPECT_FALSE(writer(second(), "carol").try_lock());
    EXPECT_TRUE(reads.is_held());
    EXPECT_TRUE(reads.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(SharedLease, AReadersShortLeaseEndsThoughAnotherCameAndLeft) {
    remote_lock left_alone = reader(first(), "alice"), passing = reader(second(), "bob");
    const auto began = time_of(server());
    left_alone.lock(1s);
    passing.lock(1min);
    EXPECT_GT(state_of(server()).at("L").left.value(), 50s);
    EXPECT_TRUE(passing.unlock());
    remote_lock wanted = writer(second(), "carol");
    EXPECT_TRUE(wanted.try_lock_for(20s)) << "it waited for the lease of who has left";
    EXPECT_GE(time_of(server()), began + 900ms) << "ours is given back a little before its end";
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(SharedLease, AWritersShorterEntryCutsNothing) {
    remote_lock writes = writer(first(), "alice"), across = writer(second(), "bob");
    writes.lock(1min);
    writes.lock(20s);
    EXPECT_GT(across.remaining(), 50s);
    EXPECT_FALSE(across.try_lock());
    EXPECT_TRUE(writes.unlock());
    // A JVM that leaves one of its entries begins the last lease anew.
    EXPECT_EQ(across.remaining() > 50s, !first().is_jvm());
    EXPECT_FALSE(across.try_lock());
    EXPECT_TRUE(writes.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(SharedLease, AWritersHoldIsRenewedAndGoesOnAsAReaders) {
    remote_lock writes = writer(first(), "alice"), reads = reader(first(), "alice");
    writes.lock();
    const auto stays = [&](remote_lock& held) {
        const auto end = time_of(server()) + 2 * shared_lease;
        return eventually([&] { return time_of(server()) > end || !held.is_held(); }) &&
               held.is_held();
    };
    EXPECT_TRUE(stays(writes));
    EXPECT_FALSE(reader(second(), "bob").try_lock());
    reads.lock();
    EXPECT_TRUE(writes.unlock());
    // Before 3.17.1 a JVM's read hold was not renewed after that (#4217).
    if (!first().is_jvm() || is_at_least(GetParam().redisson, 3, 18)) {
        EXPECT_TRUE(stays(reads));
        EXPECT_FALSE(writer(second(), "bob").try_lock());
    }
    (void)reads.unlock();
    EXPECT_TRUE(is_free());
}

TEST_P(SharedLease, AKilledHoldersLockIsTheOthersWhenItsLeaseEnds) {
    const std::unique_ptr<peer> doomed = new_process(first().is_jvm());
    const std::unique_ptr<remote_client> its = client_of(*doomed, first().is_jvm());
    reader(*its, "alice").lock();
    writer(*its, "anne").begin_lock(); // who dies waiting, and keeps nobody away for long
    remote_lock wanted = writer(second(), "bob");
    ongoing waiting = parked(second(), wanted);
    const microseconds end = end_after_death(*doomed, "L");
    (void)soon(std::move(waiting.answer));
    EXPECT_GE(time_of(server()), end);
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(reader(second(), "bob").try_lock());
    EXPECT_TRUE(reader(second(), "bob").unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(SharedLease, AKilledWritersLockIsTheOthersReadersWhenItsLeaseEnds) {
    const std::unique_ptr<peer> doomed = new_process(first().is_jvm());
    const std::unique_ptr<remote_client> its = client_of(*doomed, first().is_jvm());
    writer(*its, "alice").lock();
    remote_lock wanted = reader(second(), "bob");
    ongoing waiting = parked(second(), wanted);
    const microseconds end = end_after_death(*doomed, "L");
    (void)soon(std::move(waiting.answer));
    EXPECT_GE(time_of(server()), end);
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(SharedLease, AKilledReaderBesideALivingOneKeepsNoWriterAwayAfterThatOneLeaves) {
    const std::unique_ptr<peer> doomed = new_process(first().is_jvm());
    const std::unique_ptr<remote_client> its = client_of(*doomed, first().is_jvm());
    reader(*its, "alice").lock();
    remote_lock reads = reader(second(), "bob"), wanted = writer(first(), "carol");
    reads.lock();
    ongoing waiting = parked(first(), wanted);
    doomed->kill();
    const auto over = time_of(server()) + 2 * shared_lease;
    EXPECT_TRUE(eventually([&] { return time_of(server()) > over; }));
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(reads.is_held());
    EXPECT_TRUE(reads.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(is_free());
}

TEST_P(SharedLease, EndsWithoutRenewalAndItsUnlockIsTold) {
    for (const bool alone : {false, true}) {
        remote_lock held = alone ? writer(first(), "alice") : reader(first(), "alice");
        remote_lock wanted = writer(second(), "bob");
        held.lock(500ms);
        ongoing waiting = wanted.begin_lock();
        (void)soon(std::move(waiting.answer));
        EXPECT_FALSE(held.unlock());
        EXPECT_TRUE(wanted.is_held());
        EXPECT_TRUE(wanted.unlock());
        EXPECT_TRUE(is_free());
    }
}

} // namespace
} // namespace holdfast::interop
