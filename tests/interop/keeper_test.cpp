// SPDX-License-Identifier: Apache-2.0
// Exclusive locks of Curator, kazoo and holdfast on the same path of a ZooKeeper server.
#include "interop/keeper_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

class WeExclude : public keeper_meeting {
protected:
    remote_lock of_first(const std::string& actor = "alice") { return lock_of(first(), actor); }
    remote_lock of_second(const std::string& actor = "bob") { return lock_of(second(), actor); }

    /// What a node's name ends with.
    static std::string ending(bool of_others) {
        const bool kazoos =
            of_others ? GetParam().neighbour == "kazoo" && GetParam().names != naming::curators
                      : GetParam().names == naming::kazoos;
        const std::string mark = kazoos                            ? "__lock__"
                                 : GetParam().getter == write_side ? "-__WRIT__"
                                                                   : "-lock-";
        return ".*" + mark + "[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]";
    }
};
INSTANTIATE_TEST_SUITE_P(CuratorAnd, WeExclude,
                         ::testing::ValuesIn(with_curator({"getLock", write_side})),
                         name_of_keeper_setting);
INSTANTIATE_TEST_SUITE_P(KazooAnd, WeExclude,
                         ::testing::ValuesIn(with_kazoo({"getLock", write_side})),
                         name_of_keeper_setting);

TEST_P(WeExclude, AHeldLockIsBusyToTheOtherSideUntilItsRelease) {
    remote_lock held = of_first(), across = of_second();
    held.lock();
    EXPECT_THAT(nodes(), ElementsAre(MatchesRegex(ending(others_are_first()))));
    EXPECT_FALSE(across.try_lock());
    EXPECT_FALSE(across.try_lock_for(20ms));
    EXPECT_FALSE(across.unlock());
    EXPECT_TRUE(come_to(1)) << "whoever gave up left something";
    EXPECT_TRUE(across.is_locked());
    EXPECT_TRUE(held.unlock());
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_FALSE(across.is_locked());
    EXPECT_TRUE(across.try_lock());
    EXPECT_FALSE(held.try_lock());
    EXPECT_TRUE(across.unlock());
    EXPECT_TRUE(held.try_lock_for(10s));
    EXPECT_TRUE(held.unlock());
    EXPECT_THAT(nodes(), IsEmpty());
}

TEST_P(WeExclude, AReleaseWakesTheOtherSidesWaiter) {
    remote_lock held = of_first(), wanted = of_second();
    for (int round = 0; round < 3; ++round) {
        held.lock();
        ongoing waiting = in_line([&] { return wanted.begin_lock(); });
        EXPECT_FALSE(support::is_ready(waiting.answer));
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer)); // nobody looks again by himself
        EXPECT_FALSE(of_first().try_lock());
        EXPECT_TRUE(wanted.unlock());
    }
}

TEST_P(WeExclude, AllAreServedInTheOrderInWhichTheyCame) {
    const std::unique_ptr<remote_client> third = another(others_are_first()),
                                         fourth = another(!others_are_first());
    remote_lock held = of_first();
    std::vector<remote_lock> queue{of_second(), lock_of(*third, "carol"), lock_of(*fourth, "dave")};
    held.lock();
    std::vector<ongoing> waiting;
    for (remote_lock& each : queue)
        waiting.push_back(in_line([&] { return each.begin_lock(); }));
    EXPECT_TRUE(held.unlock());
    for (std::size_t i = 0; i < queue.size(); ++i) {
        (void)soon(std::move(waiting[i].answer));
        for (std::size_t behind = i + 1; behind < queue.size(); ++behind)
            EXPECT_FALSE(support::is_ready(waiting[behind].answer));
        EXPECT_TRUE(queue[i].unlock());
    }
}

TEST_P(WeExclude, WhoeverGivesUpIsPassedBy) {
    const std::unique_ptr<remote_client> third = another(others_are_first());
    remote_lock held = of_first(), impatient = of_second(), behind = lock_of(*third, "carol");
    held.lock();
    ongoing gives_up = in_line([&] { return impatient.begin_try_lock_for(300ms); });
    ongoing waiting = in_line([&] { return behind.begin_lock(); });
    EXPECT_FALSE(soon(std::move(gives_up.answer)).as_bool());
    EXPECT_TRUE(come_to(2)); // of who holds it and who waits
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(behind.unlock());
}

class WeExcludeCurators : public WeExclude {};
HOLDFAST_AT_KEEPER(WeExcludeCurators, with_curator({"getLock", write_side}));

TEST_P(WeExcludeCurators, AHolderEntersAgainWithoutANode) {
    remote_lock held = of_first(), across = of_second();
    held.lock();
    held.lock();
    EXPECT_EQ(held.hold_count(), 2);
    EXPECT_THAT(nodes(), SizeIs(1));
    EXPECT_TRUE(held.unlock());
    EXPECT_FALSE(across.try_lock());
    EXPECT_TRUE(held.unlock());
    EXPECT_TRUE(across.try_lock());
    EXPECT_TRUE(across.unlock());
}

class CuratorsBelief : public WeExclude {};
HOLDFAST_AT_KEEPER(CuratorsBelief, only_others_first(with_curator({"getLock"})));

/// For operators: `holdfast unlock --force` frees the lock, and Curator's holder is not told.
TEST_P(CuratorsBelief, OutlivesItsNode) {
    remote_lock at_curator = lock_of(others(), "alice"), at_us = lock_of(ours(), "bob");
    at_curator.lock();
    EXPECT_TRUE(at_us.force_unlock());
    EXPECT_THAT(nodes(), IsEmpty());
    EXPECT_TRUE(at_us.try_lock());
    EXPECT_TRUE(at_curator.is_held());
    EXPECT_TRUE(at_curator.unlock());
    EXPECT_TRUE(at_us.is_held()) << "it had nothing to release";
    EXPECT_THAT(nodes(), SizeIs(1));
    EXPECT_TRUE(at_us.unlock());
}

// Readers and writers of Curator, kazoo and holdfast on the same path of a ZooKeeper server.

class WeShare : public keeper_meeting {
protected:
    static remote_lock reader(remote_client& whose, const std::string& actor) {
        return side(whose, actor, read_side);
    }
    static remote_lock writer(remote_client& whose, const std::string& actor) {
        return side(whose, actor, write_side);
    }
};
INSTANTIATE_TEST_SUITE_P(CuratorAnd, WeShare, ::testing::ValuesIn(with_curator({read_side})),
                         name_of_keeper_setting);
INSTANTIATE_TEST_SUITE_P(KazooAnd, WeShare, ::testing::ValuesIn(with_kazoo({read_side})),
                         name_of_keeper_setting);

TEST_P(WeShare, ReadersMeetAndWritersAreAlone) {
    remote_lock alice = reader(first(), "alice"), bob = reader(second(), "bob"),
                carol = writer(second(), "carol");
    alice.lock();
    EXPECT_TRUE(bob.try_lock());
    EXPECT_THAT(nodes(), SizeIs(2));
    EXPECT_FALSE(carol.try_lock());
    EXPECT_TRUE(bob.unlock());
    EXPECT_FALSE(carol.try_lock()) << "the other side still reads";
    EXPECT_TRUE(alice.unlock());
    EXPECT_TRUE(carol.try_lock());
    EXPECT_FALSE(alice.try_lock());
    EXPECT_FALSE(writer(first(), "dave").try_lock());
    EXPECT_TRUE(carol.unlock());
    EXPECT_THAT(nodes(), IsEmpty());
}

TEST_P(WeShare, TheLastReadersReleaseWakesAWriterAndAWritersReleaseAllReaders) {
    const std::unique_ptr<remote_client> third = another(!others_are_first());
    remote_lock alice = reader(first(), "alice"), dave = reader(first(), "dave"),
                bob = writer(second(), "bob"), carol = reader(*third, "carol");
    alice.lock();
    carol.lock();
    ongoing writes = in_line([&] { return bob.begin_lock(); });
    EXPECT_TRUE(alice.unlock());
    EXPECT_FALSE(support::is_ready(writes.answer));
    EXPECT_TRUE(carol.unlock());
    (void)soon(std::move(writes.answer));

    ongoing one = in_line([&] { return dave.begin_lock(); });
    ongoing other = in_line([&] { return carol.begin_lock(); });
    EXPECT_FALSE(support::is_ready(one.answer));
    EXPECT_TRUE(bob.unlock());
    (void)soon(std::move(one.answer));
    (void)soon(std::move(other.answer)); // beside it
    EXPECT_TRUE(dave.unlock());
    EXPECT_TRUE(carol.unlock());
}

TEST_P(WeShare, AReaderDoesNotPassAWriterWhoWaits) {
    const std::unique_ptr<remote_client> third = another(others_are_first());
    remote_lock alice = reader(first(), "alice"), bob = writer(second(), "bob"),
                carol = reader(*third, "carol");
    alice.lock();
    ongoing writes = in_line([&] { return bob.begin_lock(); });
    EXPECT_FALSE(carol.try_lock());
    ongoing reads = in_line([&] { return carol.begin_lock(); });
    EXPECT_TRUE(alice.unlock());
    (void)soon(std::move(writes.answer));
    EXPECT_FALSE(support::is_ready(reads.answer));
    EXPECT_TRUE(bob.unlock());
    (void)soon(std::move(reads.answer));
    EXPECT_TRUE(carol.unlock());
}

class WeShareWithCurator : public WeShare {};
HOLDFAST_AT_KEEPER(WeShareWithCurator, with_curator({read_side}));

TEST_P(WeShareWithCurator, AWriterReadsBesideItsOwnHoldAndGoesOnAsAReader) {
    remote_lock writes = writer(first(), "alice"), reads = reader(first(), "alice"),
                bob = reader(second(), "bob"), carol = writer(second(), "carol");
    writes.lock();
    reads.lock();
    EXPECT_FALSE(bob.try_lock()) << "it still writes";
    ongoing lets_in = in_line([&] { return bob.begin_lock(); });
    EXPECT_TRUE(writes.unlock());
    (void)soon(std::move(lets_in.answer));
    EXPECT_FALSE(carol.try_lock());
    EXPECT_TRUE(bob.unlock());
    EXPECT_FALSE(carol.try_lock()) << "it still reads";
    EXPECT_TRUE(reads.unlock());
    EXPECT_TRUE(carol.try_lock());
    EXPECT_TRUE(carol.unlock());
    EXPECT_THAT(nodes(), IsEmpty());
}

/// It is behind whoever wants to write and came before, and before whoever came after.
TEST_P(WeShareWithCurator, WhoGoesOnAsAReaderKeepsItsPlace) {
    remote_lock writes = writer(first(), "alice"), reads = reader(first(), "alice"),
                bob = writer(second(), "bob");
    writes.lock();
    ongoing waits = in_line([&] { return bob.begin_lock(); });
    reads.lock(); // past the writer who waits, since it has the lock
    EXPECT_TRUE(writes.unlock());
    EXPECT_FALSE(support::is_ready(waits.answer));
    EXPECT_FALSE(writer(second(), "carol").try_lock());
    EXPECT_TRUE(reads.unlock());
    (void)soon(std::move(waits.answer));
    EXPECT_TRUE(bob.unlock());
}

// Curator's InterProcessSemaphoreV2 and our leased_semaphore, at one path of a ZooKeeper server.

class WeShareOut : public keeper_meeting {
protected:
    static constexpr int there_are = 2;

    void SetUp() override {
        keeper_meeting::SetUp();
        if (!numbers_are_shared())
            tell_both("permits", there_are); // Curator's clients have a number each
    }
    /// Whether Curator's clients take it from where ours left it.
    virtual bool numbers_are_shared() const { return false; }

    remote_permits of(remote_client& whose, const std::string& actor) {
        return remote_permits{whose.thread(actor)};
    }
    void set_permits() { EXPECT_TRUE(of(ours(), "owner").try_set_permits(there_are)); }

    std::vector<std::string> leases() const {
        return nodes_below(shared_keeper(), path() + "/leases");
    }
    std::vector<std::string> queue() const {
        return nodes_below(shared_keeper(), path() + "/locks");
    }

    /// Returns when it waits, behind those who did before.
    ongoing waiting(remote_permits& whose) {
        const std::size_t before = queue().size();
        ongoing call = whose.begin_acquire();
        EXPECT_TRUE(eventually([&] { return queue().size() > before; }));
        return call;
    }
    static std::string id_in(ongoing served) {
        return json::value_to<std::string>(soon(std::move(served.answer)));
    }
};
INSTANTIATE_TEST_SUITE_P(CuratorAnd, WeShareOut, ::testing::ValuesIn(with_curator({permit_maker})),
                         name_of_keeper_setting);

TEST_P(WeShareOut, PermitsOfBothSidesAreCountedTogether) {
    set_permits();
    remote_permits alice = of(first(), "alice"), bob = of(second(), "bob");
    const std::string one = alice.acquire(), other = bob.acquire();
    EXPECT_THAT(leases(), ElementsAre(MatchesRegex("_c_.*-lease-[0-9]*"),
                                      MatchesRegex("_c_.*-lease-[0-9]*")));
    EXPECT_THAT(queue(), IsEmpty());
    for (remote_permits* each : {&alice, &bob})
        EXPECT_FALSE(each->try_acquire_for(20ms));
    EXPECT_TRUE(come_to(2, "/leases")) << "whoever gave up left something";
    EXPECT_TRUE(come_to(0, "/locks"));
    EXPECT_TRUE(alice.try_release(one));
    const std::optional<std::string> third = bob.try_acquire_for(10s);
    ASSERT_TRUE(third);
    EXPECT_FALSE(alice.try_acquire());
    EXPECT_TRUE(bob.try_release(other));
    EXPECT_TRUE(bob.try_release(*third));
    EXPECT_THAT(leases(), IsEmpty());
    EXPECT_THAT(queue(), IsEmpty());
}

TEST_P(WeShareOut, AReleaseWakesTheOtherSidesWaiters) {
    set_permits();
    const std::unique_ptr<remote_client> third = another(!others_are_first());
    remote_permits alice = of(first(), "alice"), bob = of(second(), "bob"),
                   carol = of(*third, "carol");
    const std::string one = alice.acquire(), other = alice.acquire();
    ongoing bobs = waiting(bob), carols = waiting(carol);
    // The first who waits has made its own already, if it is Curator.
    EXPECT_TRUE(come_to(others_are_first() ? 2 : 3, "/leases"));
    EXPECT_TRUE(alice.try_release(one));
    const std::string of_bob = id_in(std::move(bobs));
    EXPECT_FALSE(support::is_ready(carols.answer));
    EXPECT_TRUE(alice.try_release(other));
    const std::string of_carol = id_in(std::move(carols));
    EXPECT_TRUE(bob.try_release(of_bob));
    EXPECT_TRUE(carol.try_release(of_carol));
}

TEST_P(WeShareOut, AKilledHoldersPermitsComeBackWhenItsSessionHasEnded) {
    set_permits();
    const std::unique_ptr<peer> process = new_process(others_are_first());
    const std::unique_ptr<remote_client> doomed = doomed_client_of(*process, others_are_first());
    remote_permits dies = of(*doomed, "doomed"), bob = of(second(), "bob");
    const std::string kept = bob.acquire();
    (void)dies.acquire();
    ongoing waits = waiting(bob);
    process->kill();
    const std::string served = id_in(std::move(waits));
    EXPECT_THAT(leases(), SizeIs(2));
    EXPECT_TRUE(bob.try_release(served));
    EXPECT_TRUE(bob.try_release(kept));
}

TEST_P(WeShareOut, AKilledWaitersPlaceIsTakenByTheNext) {
    set_permits();
    const std::unique_ptr<peer> process = new_process(!others_are_first());
    const std::unique_ptr<remote_client> doomed = doomed_client_of(*process, !others_are_first());
    const std::unique_ptr<remote_client> third = another(others_are_first());
    remote_permits alice = of(first(), "alice"), dies = of(*doomed, "doomed"),
                   behind = of(*third, "carol");
    const std::string one = alice.acquire(), other = alice.acquire();
    ongoing lost = waiting(dies), waits = waiting(behind);
    process->kill();
    EXPECT_TRUE(alice.try_release(one));
    const std::string served = id_in(std::move(waits));
    EXPECT_TRUE(behind.try_release(served));
    EXPECT_TRUE(alice.try_release(other));
    EXPECT_THROW((void)soon(std::move(lost.answer)), peer_failure);
}

class WeShareOutACount : public WeShareOut {
    bool numbers_are_shared() const override { return true; }
};
HOLDFAST_AT_KEEPER(WeShareOutACount, with_curator({permit_maker}));

TEST_P(WeShareOutACount, WhichCuratorReadsWhereOursSetIt) {
    set_permits();
    remote_permits alice = of(first(), "alice"), bob = of(second(), "bob"),
                   carol = of(others(), "carol");
    const std::string one = alice.acquire(), other = bob.acquire();
    EXPECT_FALSE(carol.try_acquire_for(20ms));
    EXPECT_TRUE(alice.try_release(one));
    EXPECT_TRUE(carol.try_acquire_for(10s));
    EXPECT_TRUE(bob.try_release(other));
}

// Who at ZooKeeper does not see whom, so that operators are told nothing that is not so.

class Strangers : public keeper_meeting {
protected:
    void SetUp() override {
        keeper_meeting::SetUp();
        if (!IsSkipped() && !has_neighbour("curator"))
            GTEST_SKIP() << "these tests need curator: ./dev interop";
    }
    remote_client& curator() {
        if (!curator_)
            curator_ = std::make_unique<remote_client>(
                shared_neighbour("curator"), false, shared_keeper().url(),
                client_settings{.lease_time = duration{10s}, .root = root()});
        return *curator_;
    }

private:
    std::unique_ptr<remote_client> curator_;
};
HOLDFAST_AT_KEEPER(Strangers,
                   std::vector<keeper_setting>{{"kazoo", naming::own, false, "getLock"}});

TEST_P(Strangers, CuratorAndKazooBothHoldTheSameLockWhoeverComesFirst) {
    remote_lock at_curator = curator().thread("alice").lock("L"),
                at_kazoo = lock_of(others(), "bob");
    at_curator.lock();
    EXPECT_TRUE(at_kazoo.try_lock()) << "then docs/compatibility.md says too little";
    EXPECT_THAT(nodes(), testing::SizeIs(2));
    EXPECT_TRUE(at_curator.unlock());
    EXPECT_TRUE(at_curator.try_lock()) << "it sorts kazoo's node behind its own";
    EXPECT_TRUE(at_kazoo.unlock());
    EXPECT_TRUE(at_curator.unlock());
}

TEST_P(Strangers, OursWaitsForBoth) {
    remote_lock at_us = lock_of(ours(), "carol");
    for (remote_lock each : {curator().thread("alice").lock("L"), lock_of(others(), "bob")}) {
        each.lock();
        EXPECT_FALSE(at_us.try_lock());
        ongoing waits = in_line([&] { return at_us.begin_lock(); });
        EXPECT_TRUE(each.unlock());
        (void)soon(std::move(waits.answer));
        EXPECT_TRUE(at_us.unlock());
    }
}

/// Ours counts the names of both; kazoo counts its own.
TEST_P(Strangers, KazooDoesNotWaitForOursWithCuratorsNamesAndOursWaitsForIt) {
    remote_lock at_us = lock_of(ours(), "alice"), at_kazoo = lock_of(others(), "bob");
    at_us.lock();
    EXPECT_TRUE(at_kazoo.try_lock());
    EXPECT_TRUE(at_us.unlock());
    EXPECT_FALSE(at_us.try_lock());
    EXPECT_TRUE(at_kazoo.unlock());
    EXPECT_TRUE(at_us.try_lock());
    EXPECT_TRUE(at_us.unlock());
}

TEST_P(Strangers, KazoosLockDoesNotWaitForKazoosReaders) {
    remote_lock reads = side(others(), "alice", read_side), alone = lock_of(others(), "bob"),
                writes = side(others(), "carol", write_side);
    reads.lock();
    EXPECT_FALSE(writes.try_lock());
    EXPECT_TRUE(alone.try_lock());
    EXPECT_TRUE(alone.unlock());
    EXPECT_TRUE(reads.unlock());
}

class StrangersInKazoosForm : public Strangers {};
HOLDFAST_AT_KEEPER(StrangersInKazoosForm,
                   std::vector<keeper_setting>{{"kazoo", naming::kazoos, false, "getLock"}});

TEST_P(StrangersInKazoosForm, OursWaitsForCuratorWhichDoesNotWaitForOurs) {
    remote_lock at_curator = curator().thread("alice").lock("L"), at_us = lock_of(ours(), "bob");
    at_curator.lock();
    EXPECT_FALSE(at_us.try_lock());
    EXPECT_TRUE(at_curator.unlock());
    at_us.lock();
    EXPECT_TRUE(at_curator.try_lock());
    EXPECT_TRUE(at_curator.unlock());
    EXPECT_TRUE(at_us.unlock());
}

// Processes of holdfast and of other libraries that die while they hold or wait for a lock on
// ZooKeeper.

using testing::Contains;
using testing::Not;

class Killed : public keeper_meeting {};
INSTANTIATE_TEST_SUITE_P(CuratorAnd, Killed,
                         ::testing::ValuesIn(with_curator({"getLock", write_side, read_side})),
                         name_of_keeper_setting);
INSTANTIATE_TEST_SUITE_P(KazooAnd, Killed,
                         ::testing::ValuesIn(with_kazoo({"getLock", write_side, read_side})),
                         name_of_keeper_setting);

TEST_P(Killed, AHoldersLockIsTheOthersWhenItsSessionHasEnded) {
    const bool alone = GetParam().getter == "getLock";
    remote_lock wanted = side(second(), "bob", alone ? "getLock" : write_side);
    (void)wanted.is_locked(); // so that it is connected
    die_holding(others_are_first());
    const std::vector<std::string> left = nodes();
    ASSERT_THAT(left, SizeIs(1));
    EXPECT_FALSE(wanted.try_lock());
    wanted.lock();
    EXPECT_THAT(nodes(), ElementsAre(testing::Ne(left.front())));
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(Killed, AWaiterIsPassedBy) {
    const std::string exclusive = GetParam().getter == "getLock" ? "getLock" : write_side;
    const std::unique_ptr<peer> process = new_process(!others_are_first());
    const std::unique_ptr<remote_client> doomed = doomed_client_of(*process, !others_are_first());
    const std::unique_ptr<remote_client> third = another(others_are_first());
    remote_lock held = side(first(), "alice", exclusive), dies = lock_of(*doomed, "doomed"),
                behind = side(*third, "carol", exclusive);
    held.lock();
    ongoing lost = in_line([&] { return dies.begin_lock(); });
    ongoing waiting = in_line([&] { return behind.begin_lock(); });
    process->kill();
    EXPECT_THROW((void)soon(std::move(lost.answer)), peer_failure);
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_THAT(nodes(), SizeIs(1));
    EXPECT_TRUE(behind.unlock());
}

} // namespace
} // namespace holdfast::interop
