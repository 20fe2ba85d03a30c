// SPDX-License-Identifier: Apache-2.0
// How the store asks for the two sides of a read-write lock: marks of writers, holds beside others.
#include "store_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Le;

class StoreShared : public on_scripted_node {
protected:
    ask wanted(lock_kind kind, std::uint64_t under = 0) const {
        ask made{lock_name{"L"}, alice_, kind};
        made.lease_time = 30s;
        made.give_up_at = time_point::max();
        made.under = under;
        return made;
    }
    std::unique_ptr<place> in_line(const ask& want) { return store_.line_up(want, *wake_); }
    answer look(place& spot, std::int64_t said, std::int64_t left = 0) {
        node_.will_answer({said, left, server_time});
        return complete(spot.look());
    }

    const std::string alice_text_ = to_string(alice_);
    const std::string client_ = alice_text_.substr(0, alice_text_.find(':') + 1);
};

TEST_F(StoreShared, RequestsHaveTheKeysOfRedissonAndTheMarks) {
    look(*in_line(wanted(lock_kind::read)), 1);
    EXPECT_EQ(node_.asked.back().script, "lock_read");
    EXPECT_THAT(
        node_.asked.back().keys,
        ElementsAre("L", "{L}:" + alice_text_ + ":rwlock_timeout:1", "holdfast_writers:{L}"));
    EXPECT_THAT(node_.asked.back().words, ElementsAre("30000", alice_text_, ""));
    look(*in_line(wanted(lock_kind::write)), 1);
    EXPECT_EQ(node_.asked.back().script, "lock_write");
    EXPECT_THAT(node_.asked.back().keys, ElementsAre("L", "holdfast_writers:{L}"));
    EXPECT_THAT(node_.asked.back().words,
                ElementsAre("30000", alice_text_, "", "{L}", "10000", "100"))
        << "a mark lasts for two poll bounds, the head start is the least";
}

TEST_F(StoreShared, AWriterThatWaitsHasAMarkToTakeAway) {
    const auto writer = in_line(wanted(lock_kind::write)),
               reader = in_line(wanted(lock_kind::read));
    EXPECT_FALSE(look(*writer, 0, 5'000).granted);
    EXPECT_TRUE(writer->must_leave());
    node_.will_answer({0, 0});
    complete(writer->leave());
    EXPECT_EQ(node_.asked.back().script, "release_write");
    EXPECT_FALSE(look(*reader, 0, 5'000).granted);
    EXPECT_FALSE(reader->must_leave()) << "readers leave no marks";
}

TEST_F(StoreShared, ASingleLookLeavesNoMark) {
    ask once = wanted(lock_kind::write);
    once.waits = false;
    const auto spot = in_line(once);
    look(*spot, 0, 5'000);
    EXPECT_EQ(node_.asked.back().words.at(4), "0");
    EXPECT_FALSE(spot->must_leave());
}

TEST_F(StoreShared, AHoldMayStandBesideAnother) {
    look(*in_line(wanted(lock_kind::write, 41)), 1);
    EXPECT_EQ(node_.asked.back().words.at(2), client_ + "41");
    look(*in_line(wanted(lock_kind::read, 42)), 1);
    EXPECT_EQ(node_.asked.back().words.at(2), client_ + "42:write");
}

TEST_F(StoreShared, AnUpgradeAsksFourTimesASecond) {
    const auto upgrade = in_line(wanted(lock_kind::write, 41));
    look(*upgrade, 0, 60'000);
    EXPECT_THAT(look(*upgrade, 0, 60'000).term, AllOf(Gt(0ms), Le(250ms)));
    const auto plain = in_line(wanted(lock_kind::write));
    look(*plain, 0, 60'000);
    EXPECT_THAT(look(*plain, 0, 60'000).term, Gt(900ms));
}

TEST_F(StoreShared, ConflictsAndLostHoldsAreFailures) {
    const auto upgrade = in_line(wanted(lock_kind::write, 41));
    node_.will_answer({3, 0, server_time});
    EXPECT_EQ(failure_of(upgrade->look()), errc::would_deadlock);
    node_.will_answer({4, 0, server_time});
    EXPECT_EQ(failure_of(upgrade->look()), errc::lease_lost);
}

} // namespace
} // namespace holdfast
