// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/clauses.hpp"
#include "store/mysql/names.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::mysql {
namespace {

TEST(MysqlNames, ValuesAreDigitsWhateverTheirBytesAre) {
    EXPECT_EQ(hex("lock"), "X'6c6f636b'");
    EXPECT_EQ(hex(""), "X''");
    EXPECT_EQ(hex(std::string{"\0'\\\xff", 4}), "X'00275cff'");
}

TEST(MysqlNames, TablesAreQuotedAndBeginWithTheFirst) {
    const tables named{"my`locks"};
    EXPECT_EQ(named.locks, "`my``locks`");
    EXPECT_EQ(named.holds, "`my``locks_hold`");
    EXPECT_EQ(named.identity, "`my``locks_identity`");
}

TEST(MysqlNames, ABellIsWhatEveryServerTakesForAUserLock) {
    const std::string bell = bell_of("shop", "holdfast_lock", {"Stock"});
    EXPECT_EQ(bell.size(), 43U);
    EXPECT_THAT(bell, testing::MatchesRegex("hf:[0-9a-f]{40}"));
}

TEST(MysqlNames, BellsDifferBySchemaTableNameAndCase) {
    const std::set<std::string> all{bell_of("a", "t", {"n"}), bell_of("A", "t", {"n"}),
                                    bell_of("a", "u", {"n"}), bell_of("a", "t", {"N"}),
                                    bell_of("", "at", {"n"}), bell_of("a", "t", {"n "})};
    EXPECT_EQ(all.size(), 6U);
}

TEST(MysqlDeadlines, OfAnUnknownClockAreOverSoTheAnswerTellsTheTime) {
    EXPECT_EQ(late_after(runtime::remote_clock{}, time_point{duration{5000}}), "0");
}

TEST(MysqlDeadlines, AreOnTheServersClockAndNeverLaterThanOurs) {
    runtime::remote_clock clock;
    const time_point sent{duration{1000}}, received{duration{1010}};
    clock.learn(sent, received, std::chrono::seconds{1'700'000'000});
    const std::int64_t late = std::stoll(late_after(clock, time_point{duration{2000}}));
    const std::int64_t shown = 1'700'000'000'000'000;
    EXPECT_LE(late, shown + 990'000);
    EXPECT_GT(late, shown + 900'000);
}

TEST(MysqlDeadlines, TooFarAwayToBeSaidAreNone) {
    runtime::remote_clock clock;
    clock.learn(time_point{duration{1}}, time_point{duration{2}}, std::chrono::seconds{1});
    EXPECT_EQ(late_after(clock, time_point::max()), "9223372036854775807");
}

} // namespace
} // namespace holdfast::mysql
