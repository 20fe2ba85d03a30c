// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/who.hpp"

#include <holdfast/store.hpp>

#include <gtest/gtest.h>

namespace holdfast::mysql {
namespace {

TEST(WhoHolds, IsReadAsItWasWritten) {
    const client_card card{"host-1", 4711, "worker", "orders", std::chrono::seconds{1'795'618'292}};
    const std::optional<client_card> read = card_in(written(card));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->host, card.host);
    EXPECT_EQ(read->pid, card.pid);
    EXPECT_EQ(read->program, card.program);
    EXPECT_EQ(read->label, card.label);
    EXPECT_EQ(read->since, card.since);
}

TEST(WhoHolds, FitsIntoItsColumn) {
    const std::string longest(300, 'x');
    const client_card card{longest, 1'000'000'000, longest, longest,
                           std::chrono::seconds{1} * 1'000'000'000'000};
    EXPECT_LE(written(card).size(), 255U);
    EXPECT_TRUE(card_in(written(card)));
}

TEST(WhoHolds, ATabInAWordSeparatesNothing) {
    const std::optional<client_card> read = card_in(written({"h", 1, "p", "a\tb", {}}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->label, "a b");
}

TEST(WhoHolds, IsUnknownWhereSomethingElseStands) {
    for (const char* const other :
         {"", "somebody", "h\tx\tp\tl\t1", "h\t1\tp\tl", "h\t1\tp\tl\t1\t2"})
        EXPECT_FALSE(card_in(other)) << other;
}

TEST(WhoHolds, OwnersOfOursHaveAMark) {
    EXPECT_TRUE(is_ours(to_string(owner_id{{0x87, 0x43, 0, 0, 0, 0, 0x8f, 0xd5}, 1})));
    EXPECT_FALSE(is_ours("8743c9c0-0795-4907-87fd-6c719a6b4586:1"));
    EXPECT_FALSE(is_ours("x"));
}

} // namespace
} // namespace holdfast::mysql
