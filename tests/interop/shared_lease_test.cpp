// SPDX-License-Identifier: Apache-2.0
// How long readers' and writers' holds last beside those of the other side: renewed, with leases of
// their own, and after their process was killed.
#include "interop/shared_meeting.hpp"

namespace holdfast::interop {
namespace {

constexpr duration shared_lease = 2s;

class SharedLease : public shared_meeting {
protected:
    void SetUp() override {
        shared_meeting::SetUp();
        have_clients({.lease_time = shared_lease, .poll_bound = 1h});
    }

    /// Whether both clients' holds are there all that time, by the server's clock.
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
