// SPDX-License-Identifier: Apache-2.0
// Curator's and kazoo's readers and writers and ours, at one path of a ZooKeeper server.
#include "interop/keeper_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

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

} // namespace
} // namespace holdfast::interop
