// SPDX-License-Identifier: Apache-2.0
#include "redis/sentinel/sentinel_choice.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using verdict = sentinel_choice::verdict;

server_address at(const std::string& host) {
    return {host, 6379};
}
sentinel_answer names(const std::string& host, std::optional<std::uint64_t> epoch = {}) {
    return {.primary = at(host), .epoch = epoch};
}
const sentinel_answer knows_none{};

/// Three Sentinels; each question is a second after the one before.
class SentinelChoice : public ::testing::Test {
protected:
    verdict ask(const std::vector<sentinel_answer>& answers, duration later = 1s) {
        now_ += later;
        return choice_.decide(answers, 3, now_);
    }
    bool hear(const std::string& from, const std::string& to) {
        return choice_.hear({at(from), at(to)});
    }
    std::string primary() const { return choice_.primary() ? choice_.primary()->host : ""; }

    time_point now_{1s};
    sentinel_choice choice_;
};

TEST_F(SentinelChoice, TakesTheFirstThatIsNamed) {
    EXPECT_EQ(primary(), "");
    EXPECT_EQ(ask({names("a", 0)}), verdict::moves);
    EXPECT_EQ(primary(), "a");
    EXPECT_EQ(ask({names("a", 0), names("a", 0), names("a", 0)}), verdict::stays);
}

TEST_F(SentinelChoice, StaysWhereNobodyKnowsBetter) {
    EXPECT_EQ(ask({}), verdict::nobody_answers);
    EXPECT_EQ(ask({knows_none, knows_none}), verdict::unknown_service);
    ask({names("a", 1)});
    EXPECT_EQ(ask({}), verdict::nobody_answers);
    EXPECT_EQ(ask({knows_none}), verdict::unknown_service);
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, WhoKnowsNoSuchServiceHasNoVote) {
    EXPECT_EQ(ask({knows_none, names("a", 1), knows_none}), verdict::moves);
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, TheGreatestEpochCountsAgainstAnyMajority) {
    EXPECT_EQ(ask({names("a", 4), names("b", 5), names("a", 4)}), verdict::moves);
    EXPECT_EQ(primary(), "b");
    EXPECT_EQ(ask({names("b", 5), names("c", 6), names("b", 5)}), verdict::moves);
    EXPECT_EQ(primary(), "c");
}

TEST_F(SentinelChoice, OfTheGreatestEpochTheOneThatMostName) {
    ask({names("a", 5), names("b", 5), names("b", 5)});
    EXPECT_EQ(primary(), "b");
    EXPECT_EQ(ask({names("a", 5), names("b", 5)}), verdict::stays);
    EXPECT_EQ(ask({names("b", 5), names("a", 5)}), verdict::stays);
}

TEST_F(SentinelChoice, NeverGoesBackToASmallerEpoch) {
    ask({names("b", 5)});
    for (int question = 0; question < 20; ++question)
        EXPECT_EQ(ask({names("a", 4), names("a", 4)}), verdict::stays); // the third is cut off
    EXPECT_EQ(primary(), "b");
    EXPECT_EQ(ask({names("a", 6)}), verdict::moves);
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, SentinelsThatAreAllSetUpAnewAreBelievedAfterAWhile) {
    ask({names("b", 5)});
    const std::vector anew{names("a", 0), names("a", 0), names("a", 0)};
    EXPECT_EQ(ask(anew), verdict::stays);
    EXPECT_EQ(ask({}), verdict::nobody_answers);
    EXPECT_EQ(ask({names("a", 0)}), verdict::stays);
    EXPECT_EQ(ask(anew, 7'999ms), verdict::stays);
    EXPECT_EQ(ask(anew, 1ms), verdict::moves);
    EXPECT_EQ(primary(), "a");
    EXPECT_EQ(ask({names("b", 1)}), verdict::moves); // from here on their epochs count
}

TEST_F(SentinelChoice, SentinelsThatAreSetUpAnewAreBelievedAboutTheSamePrimaryToo) {
    ask({names("a", 5)});
    const std::vector anew{names("a", 0), names("a", 0), names("a", 0)};
    EXPECT_EQ(ask(anew), verdict::stays);
    EXPECT_EQ(ask(anew, 10s), verdict::stays);
    EXPECT_EQ(ask({names("b", 1)}), verdict::moves); // at once
}

TEST_F(SentinelChoice, AnAnswerThatAgreesWithUsEndsTheDoubt) {
    ask({names("b", 5)});
    const std::vector anew{names("a", 0), names("a", 0), names("a", 0)};
    EXPECT_EQ(ask(anew), verdict::stays);
    EXPECT_EQ(ask({names("a", 0), names("b", 5), names("a", 0)}), verdict::stays);
    EXPECT_EQ(ask(anew, 10s), verdict::stays);
    const std::vector other{names("c", 0), names("c", 0), names("c", 0)};
    EXPECT_EQ(ask(other, 9s), verdict::stays); // something else than what was said before
    EXPECT_EQ(ask(other, 9s), verdict::stays);
    EXPECT_EQ(ask(other, 1s), verdict::moves);
}

TEST_F(SentinelChoice, NewsCountAtOnce) {
    ask({names("a", 5)});
    EXPECT_TRUE(hear("a", "b"));
    EXPECT_EQ(primary(), "b");
    EXPECT_EQ(ask({names("b", 6), names("a", 5)}), verdict::stays);
    EXPECT_TRUE(hear("b", "a")); // and back again
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, NewsBeforeAnyAnswerCountToo) {
    EXPECT_TRUE(hear("a", "b"));
    EXPECT_EQ(primary(), "b");
}

TEST_F(SentinelChoice, NewsOfAnotherPrimaryThanOursAreOnlyAReasonToAsk) {
    ask({names("b", 5)});
    EXPECT_FALSE(hear("z", "a")); // a Sentinel that catches up
    EXPECT_FALSE(hear("a", "b"));
    EXPECT_FALSE(hear("b", "b"));
    EXPECT_EQ(primary(), "b");
}

TEST_F(SentinelChoice, DoesNotGoBackToWhatNewsHaveLeftBeforeTwoQuestionsAgree) {
    ask({names("a", 5)});
    hear("a", "b");
    EXPECT_EQ(ask({names("a", 5)}), verdict::stays);
    EXPECT_EQ(ask({}), verdict::nobody_answers);
    EXPECT_EQ(ask({names("a", 5), names("a", 5)}, 8s), verdict::stays);
    EXPECT_EQ(primary(), "b");
    EXPECT_EQ(ask({names("a", 5)}, 1s), verdict::moves);
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, NewsEndADoubt) {
    ask({names("a")});
    hear("a", "b");
    EXPECT_EQ(ask({names("a")}), verdict::stays);
    hear("b", "c");
    EXPECT_EQ(ask({names("a")}, 10s), verdict::stays);
    EXPECT_EQ(ask({names("a")}, 10s), verdict::moves);
}

TEST_F(SentinelChoice, AnEpochCountsEvenIfItsAddressIsNotBelieved) {
    hear("a", "b");
    hear("b", "c");
    EXPECT_EQ(ask({names("b", 5)}), verdict::stays); // which was left
    EXPECT_EQ(ask({names("d", 4)}), verdict::stays);
    EXPECT_EQ(primary(), "c");
}

TEST_F(SentinelChoice, AGreaterEpochLeadsBackAtOnce) {
    ask({names("a", 5)});
    hear("a", "b");
    EXPECT_EQ(ask({names("a", 7)}), verdict::moves);
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, WithoutEpochsMostOfThoseThatAnswerDecide) {
    EXPECT_EQ(ask({names("b"), names("a"), names("a")}), verdict::moves);
    EXPECT_EQ(primary(), "a");
    EXPECT_EQ(ask({names("b"), names("a")}), verdict::stays);
    EXPECT_EQ(ask({names("b"), names("b"), names("a")}), verdict::moves);
    EXPECT_EQ(primary(), "b");
}

TEST_F(SentinelChoice, WithoutEpochsTheOldPrimaryIsNotTakenAgainAtOnce) {
    ask({names("a"), names("a"), names("a")});
    ask({names("b"), names("b"), names("a")});
    EXPECT_EQ(ask({names("a")}), verdict::stays); // the one that has not heard of it yet
    EXPECT_EQ(ask({names("b"), names("a"), names("b")}, 5s), verdict::stays);
    EXPECT_EQ(ask({names("a")}, 5s), verdict::stays); // another doubt
    EXPECT_EQ(ask({names("a")}, 10s), verdict::moves);
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, WhereSomeTellNoEpochMostDecideUnlessOneIsNewer) {
    ask({names("a", 5), names("a"), names("a")});
    EXPECT_EQ(primary(), "a");
    EXPECT_EQ(ask({names("a", 5), names("b"), names("b")}), verdict::moves);
    EXPECT_EQ(primary(), "b");
    EXPECT_EQ(ask({names("c", 6), names("b"), names("b")}), verdict::moves);
    EXPECT_EQ(primary(), "c");
    // An older one has no vote beside those that tell none, and does not make us forget the newest.
    EXPECT_EQ(ask({names("d", 5), names("d", 5), names("c")}), verdict::stays);
    EXPECT_EQ(ask({names("d", 5)}), verdict::stays);
    EXPECT_EQ(primary(), "c");
}

TEST_F(SentinelChoice, RemembersOnlyTheLatestThatWereLeft) {
    ask({names("n0")});
    for (int i = 0; i < 1000; ++i)
        EXPECT_TRUE(hear("n" + std::to_string(i), "n" + std::to_string(i + 1)));
    EXPECT_EQ(ask({names("n999")}), verdict::stays);
    EXPECT_EQ(ask({names("n992")}), verdict::stays);
    EXPECT_EQ(ask({names("n991")}), verdict::moves);
}

TEST_F(SentinelChoice, GoingToAndFroDoesNotMakeItForgetTheOthers) {
    ask({names("z")});
    hear("z", "a");
    for (int i = 0; i < 10; ++i) {
        hear("a", "b");
        hear("b", "a");
    }
    EXPECT_EQ(ask({names("z")}), verdict::stays);
}

} // namespace
} // namespace holdfast::redis
