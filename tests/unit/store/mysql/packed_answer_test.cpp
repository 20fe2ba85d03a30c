// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/packed_answer.hpp"

#include <gtest/gtest.h>

namespace holdfast::mysql {
namespace {

using remote::verdict;

constexpr std::uint64_t at_ms = 1'795'618'292'688;

std::uint64_t refusal(std::uint64_t reason) {
    return refused_bit + (at_ms << reason_bits) + reason;
}

TEST(PackedAnswer, OfNoRowIsNoGrant) {
    const packed_answer told = taken_apart(0);
    EXPECT_TRUE(told.no_row);
    EXPECT_EQ(told.said, verdict::busy);
}

TEST(PackedAnswer, BelowTheBellsBitIsTheLastToken) {
    for (const std::uint64_t token :
         {std::uint64_t{1}, std::uint64_t{1'795'618'292'687'665}, bell_bit - 1}) {
        const packed_answer told = taken_apart(token);
        EXPECT_EQ(told.said, verdict::granted);
        EXPECT_EQ(told.last_token, token);
        EXPECT_FALSE(told.no_row);
        EXPECT_EQ(told.server_now.count(), 0) << "a grant does not tell the time";
    }
}

TEST(PackedAnswer, TellsTheServersClockWithEachRefusal) {
    for (const std::uint64_t reason :
         {late_reason, std::uint64_t{1}, longest_left, conflict_reason, unfounded_reason})
        EXPECT_EQ(taken_apart(refusal(reason)).server_now, std::chrono::milliseconds{at_ms});
}

TEST(PackedAnswer, OfABusyLockTellsWhatIsLeft) {
    const packed_answer told = taken_apart(refusal(29'999));
    EXPECT_EQ(told.said, verdict::busy);
    EXPECT_EQ(told.left, duration{29'999});
    EXPECT_EQ(taken_apart(refusal(1)).left, duration{1});
}

TEST(PackedAnswer, DoesNotTellWhatIsLeftWhereThatIsTooLong) {
    const packed_answer told = taken_apart(refusal(longest_left));
    EXPECT_EQ(told.said, verdict::busy);
    EXPECT_FALSE(told.left);
}

TEST(PackedAnswer, TellsOtherReasonsApart) {
    EXPECT_EQ(taken_apart(refusal(late_reason)).said, verdict::late);
    EXPECT_EQ(taken_apart(refusal(conflict_reason)).said, verdict::conflict);
    EXPECT_EQ(taken_apart(refusal(unfounded_reason)).said, verdict::unfounded);
}

TEST(PackedAnswer, OfAGrantTellsOfTheBell) {
    const packed_answer told = taken_apart(1'795'618'060'000'000 + bell_bit);
    EXPECT_EQ(told.said, verdict::granted);
    EXPECT_EQ(told.last_token, 1'795'618'060'000'000U);
    EXPECT_TRUE(told.has_bell);
    EXPECT_FALSE(taken_apart(1'795'618'060'000'000).has_bell);
    EXPECT_FALSE(taken_apart(refusal(29'999)).has_bell);
}

} // namespace
} // namespace holdfast::mysql
