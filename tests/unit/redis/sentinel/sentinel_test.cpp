// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "redis/topology/report.hpp"
#include "redis/topology/sentinel.hpp"
#include "support/made_reply.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
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

TEST_F(SentinelChoice, OneSentinelNeverLeadsBackToASmallerEpoch) {
    ask({names("b", 5)});
    for (int question = 0; question < 20; ++question)
        EXPECT_EQ(ask({names("a", 4)}), verdict::stays); // the others do not answer
    EXPECT_EQ(primary(), "b");
    EXPECT_EQ(ask({names("a", 6)}), verdict::moves);
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, MostSentinelsLeadToASmallerEpochAfterAWhileThoughOneDoesNotAnswer) {
    ask({names("b", 50)});
    const std::vector anew{names("a", 1), names("a", 1)};
    EXPECT_EQ(ask(anew), verdict::stays);
    EXPECT_EQ(ask(anew, 9'999ms), verdict::stays);
    EXPECT_EQ(ask(anew, 1ms), verdict::moves);
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

TEST_F(SentinelChoice, NewsBeforeAnyAnswerAreOnlyAReasonToAsk) {
    EXPECT_FALSE(hear("x", "y")) << "this Sentinel may watch another service of the same name";
    EXPECT_EQ(primary(), "");
    EXPECT_EQ(ask({names("b", 6)}), verdict::moves);
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
    EXPECT_EQ(ask({names("a", 5), names("a", 5)}), verdict::stays);
    EXPECT_EQ(ask({}), verdict::nobody_answers);
    EXPECT_EQ(ask({names("a", 5), names("a", 5)}, 8s), verdict::stays);
    EXPECT_EQ(primary(), "b");
    EXPECT_EQ(ask({names("a", 5)}, 10s), verdict::stays); // one alone of three
    EXPECT_EQ(ask({names("a", 5), names("a", 5)}, 1s), verdict::moves);
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, NewsEndADoubt) {
    ask({names("a")});
    hear("a", "b");
    const std::vector back{names("a"), names("a")};
    EXPECT_EQ(ask(back), verdict::stays);
    hear("b", "c");
    EXPECT_EQ(ask(back, 10s), verdict::stays);
    EXPECT_EQ(ask(back, 10s), verdict::moves);
}

TEST_F(SentinelChoice, AnEpochCountsEvenIfItsAddressIsNotBelieved) {
    ask({names("a")});
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
    EXPECT_EQ(ask({names("a"), names("a")}, 5s), verdict::stays); // another doubt
    EXPECT_EQ(ask({names("a")}, 10s), verdict::stays);            // one alone of three
    EXPECT_EQ(ask({names("a"), names("a")}, 10s), verdict::moves);
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
    EXPECT_EQ(ask({names("n999"), names("n999")}), verdict::stays);
    EXPECT_EQ(ask({names("n992"), names("n992")}), verdict::stays);
    EXPECT_EQ(ask({names("n991"), names("n991")}), verdict::moves);
}

TEST_F(SentinelChoice, WithTheSameEpochOneSentinelAloneChangesNothing) {
    ask({names("a", 5), names("a", 5), names("a", 5)});
    EXPECT_EQ(ask({names("b", 5)}), verdict::stays);
    EXPECT_EQ(ask({names("b", 5)}, 20s), verdict::stays);
    EXPECT_EQ(ask({names("b", 5), names("b", 5)}), verdict::moves);
}

// Services of other people: names like `mymaster` are used everywhere, and addresses again.

sentinel_answer of_service(const std::string& host, std::optional<std::uint64_t> epoch,
                           const std::vector<std::string>& replicas) {
    sentinel_answer one = names(host, epoch);
    one.replicas.emplace();
    for (const std::string& each : replicas)
        one.replicas->push_back(at(each));
    return one;
}

TEST_F(SentinelChoice, ASentinelOfAnotherServiceHasNoVoteWhateverItsEpoch) {
    const sentinel_answer ours = of_service("a", 5, {"b"}), strange = of_service("x", 90, {"y"});
    EXPECT_EQ(ask({strange, ours, ours}), verdict::moves);
    EXPECT_EQ(primary(), "a");
    EXPECT_EQ(ask({strange, ours, ours}), verdict::stays);
    EXPECT_EQ(ask({strange, ours}), verdict::stays);
    for (int question = 0; question < 20; ++question)
        EXPECT_EQ(ask({strange}), verdict::stays);
    EXPECT_EQ(ask({strange, of_service("b", 6, {"a"}), ours}), verdict::moves);
    EXPECT_EQ(primary(), "b");
}

TEST_F(SentinelChoice, FirstReplyOfAnotherServiceIsCorrectedByMostSentinelsAtOnce) {
    const sentinel_answer ours = of_service("a", 5, {"b"}), strange = of_service("x", 90, {"y"});
    EXPECT_EQ(ask({strange}), verdict::moves) << "nothing is known yet";
    EXPECT_EQ(ask({strange, ours}), verdict::stays) << "one of three against one of three";
    EXPECT_EQ(ask({strange, ours, ours}), verdict::moves);
    EXPECT_EQ(primary(), "a");
    for (int question = 0; question < 20; ++question)
        EXPECT_EQ(ask({strange}), verdict::stays);
    EXPECT_EQ(primary(), "a");
}

TEST_F(SentinelChoice, FirstReplyOfAStaleSentinelIsCorrectedByANewerOne) {
    EXPECT_EQ(ask({of_service("a", 3, {"b"})}), verdict::moves);
    EXPECT_EQ(ask({of_service("a", 3, {"b"}), of_service("b", 4, {"a"})}), verdict::moves);
    EXPECT_EQ(primary(), "b");
    const std::vector stale{of_service("a", 3, {"b"}), of_service("a", 3, {"b"})};
    EXPECT_EQ(ask(stale), verdict::stays) << "they are of our service, and older";
}

TEST_F(SentinelChoice, SentinelWithoutAListOfReplicasHasNoVoteForAStrangeServer) {
    const sentinel_answer ours = of_service("a", 5, {"b"}), strange = names("x", 90);
    EXPECT_EQ(ask({ours, ours, ours}), verdict::moves);
    EXPECT_EQ(ask({strange, ours, ours}), verdict::stays);
    for (int question = 0; question < 20; ++question)
        EXPECT_EQ(ask({strange}), verdict::stays);
    EXPECT_EQ(primary(), "a");
    EXPECT_EQ(ask({names("b", 6), ours}), verdict::moves) << "this one names our replica";
    EXPECT_EQ(primary(), "b");
}

TEST_F(SentinelChoice, ReusedAddressOfAReplicaGivesAnotherServiceNoVote) {
    const sentinel_answer ours = of_service("a", 5, {"b", "c"});
    const sentinel_answer strange = of_service("x", 90, {"b", "y"});
    ask({ours, ours, ours});
    EXPECT_EQ(ask({strange, ours, ours}), verdict::stays);
    for (int question = 0; question < 20; ++question)
        EXPECT_EQ(ask({strange}), verdict::stays);
    EXPECT_FALSE(hear("a", "x"));
    EXPECT_EQ(primary(), "a");
    EXPECT_EQ(ask({strange, of_service("b", 6, {"a", "c"}), ours}), verdict::moves);
    EXPECT_EQ(primary(), "b");
}

TEST_F(SentinelChoice, AReplicaThatWasAddedLatelyIsBelievedWhenMostSentinelsNameIt) {
    const sentinel_answer before = of_service("a", 5, {"b"}), after = of_service("d", 6, {"b"});
    ask({before, before, before});
    EXPECT_EQ(ask({after, before, before}), verdict::stays);
    EXPECT_EQ(ask({after, after, before}), verdict::moves) << "at once";
    EXPECT_EQ(primary(), "d");
}

TEST_F(SentinelChoice, OneForgottenSentinelDoesNotHoldUpMostThatWatchAnotherService) {
    const sentinel_answer old = of_service("a", 5, {"b"}), now = of_service("x", 1, {"y"});
    ask({old, old, old});
    EXPECT_EQ(ask({old, now, now}), verdict::stays);
    EXPECT_EQ(ask({old, now, now}, 9s), verdict::stays);
    EXPECT_EQ(ask({now, old, now}, 1s), verdict::moves);
    EXPECT_EQ(primary(), "x");
    EXPECT_EQ(ask({old, now, now}), verdict::stays);
}

TEST_F(SentinelChoice, AServiceThatMostSentinelsWatchNowIsBelievedAfterAWhile) {
    ask({of_service("a", 5, {"b"}), of_service("a", 5, {"b"})});
    const std::vector moved{of_service("x", 9, {}), of_service("x", 9, {})};
    EXPECT_EQ(ask(moved), verdict::stays);
    EXPECT_EQ(ask(moved, 9'999ms), verdict::stays);
    EXPECT_EQ(ask(moved, 1ms), verdict::moves);
    EXPECT_EQ(primary(), "x");
    EXPECT_EQ(ask({of_service("a", 5, {"b"})}), verdict::stays) << "that is the strange one now";
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

using ::testing::HasSubstr;

/// Returns a reply of redis 7.0, shortened.
reply service(std::string port, std::string epoch, std::string flags = "master") {
    return made::texts({"name", "orders", "ip", "10.0.0.1", "port", std::move(port), "flags",
                        std::move(flags), "down-after-milliseconds", "500", "config-epoch",
                        std::move(epoch), "num-slaves", "2", "num-other-sentinels", "4", "quorum",
                        "3"});
}
const reply at_6379 = made::texts({"10.0.0.1", "6379"});
const reply denied =
    made::error("NOPERM this user has no permissions to run the 'sentinel|master'");

net::failure refusal_of(const reply& address) {
    try {
        (void)read_sentinel(denied, address);
    } catch (const net::failure& why) {
        return why;
    }
    return {errc::closed, "taken"};
}

TEST(SentinelWords, AskForTheEpochBeforeTheAddress) {
    std::string out;
    ask_sentinel(composer{out}, "my master");
    EXPECT_EQ(out, "*3\r\n$8\r\nSENTINEL\r\n$6\r\nMASTER\r\n$9\r\nmy master\r\n"
                   "*3\r\n$8\r\nSENTINEL\r\n$23\r\nGET-MASTER-ADDR-BY-NAME\r\n$9\r\nmy master\r\n"
                   "*3\r\n$8\r\nSENTINEL\r\n$8\r\nREPLICAS\r\n$9\r\nmy master\r\n");
}

TEST(SentinelWords, HearOfSwitches) {
    std::string out;
    hear_of_switches(composer{out});
    EXPECT_EQ(out, "*2\r\n$9\r\nSUBSCRIBE\r\n$14\r\n+switch-master\r\n");
}

TEST(SentinelWords, AnAnswerIsAnAddressAndAnEpoch) {
    const sentinel_answer told = read_sentinel(service("6379", "7"), at_6379);
    EXPECT_EQ(told.primary, (server_address{"10.0.0.1", 6379}));
    EXPECT_EQ(told.epoch, 7u);
    EXPECT_FALSE(told.down);
    EXPECT_EQ(read_sentinel(denied, made::texts({"fd00::1", "1"})).primary,
              (server_address{"fd00::1", 1}));
}

TEST(SentinelWords, TheSentinelThatLeadsAFailoverTellsTheNewAddressWithTheOldFlags) {
    const sentinel_answer told =
        read_sentinel(service("6380", "8", "s_down,o_down,master,failover_in_progress"), at_6379);
    EXPECT_EQ(told.primary, (server_address{"10.0.0.1", 6379}));
    EXPECT_EQ(told.epoch, 8u);
    EXPECT_FALSE(told.down);
}

TEST(SentinelWords, APrimaryMayBeDown) {
    EXPECT_TRUE(read_sentinel(service("6379", "0", "s_down,master"), at_6379).down);
    EXPECT_TRUE(read_sentinel(service("6379", "0", "master,o_down"), at_6379).down);
    EXPECT_FALSE(read_sentinel(service("6379", "0", "master,not_s_down"), at_6379).down);
}

TEST(SentinelWords, WithoutTheRightThereIsNoEpoch) {
    for (const reply& said :
         {denied, made::nil(), made::list({}), made::texts({"config-epoch", "1"}),
          service("6379", "-1"), service("6379", "x"), service("6379", "7x"), service("6379", ""),
          service("6379", "18446744073709551616"), service("no port", "1")}) {
        const sentinel_answer told = read_sentinel(said, at_6379);
        EXPECT_EQ(told.primary, (server_address{"10.0.0.1", 6379}));
        EXPECT_FALSE(told.epoch);
    }
}

TEST(SentinelWords, AnUnknownServiceHasNoAddress) {
    const sentinel_answer told =
        read_sentinel(made::error("ERR No such master with that name"), made::nil());
    EXPECT_FALSE(told.primary);
    EXPECT_FALSE(told.epoch);
}

TEST(SentinelWords, WhatIsRefusedHasItsWords) {
    EXPECT_EQ(refusal_of(made::error("NOAUTH Authentication required.")).code(),
              store_errc::not_authenticated);
    const net::failure why =
        refusal_of(made::error("ERR unknown command 'SENTINEL', with args beginning with:"));
    EXPECT_EQ(why.code(), errc::refused);
    EXPECT_THAT(why.text(), HasSubstr("the server there is not a Sentinel"));
}

TEST(SentinelWords, AnAddressThatMakesNoSenseIsNone) {
    for (const reply& said : {made::number(1), made::text("10.0.0.1"), made::list({}),
                              made::texts({"10.0.0.1"}), made::texts({"10.0.0.1", "6379", "more"}),
                              made::texts({"", "6379"}), made::texts({"a b", "6379"}),
                              made::texts({"/tmp/socket", "6379"}), made::texts({"10.0.0.1", "0"}),
                              made::texts({"10.0.0.1", "65536"}), made::texts({"10.0.0.1", "-1"}),
                              made::list({made::text("10.0.0.1"), made::number(6379)})})
        EXPECT_EQ(refusal_of(said).code(), store_errc::protocol);
}

TEST(SentinelWords, AServiceIsDescribed) {
    const auto told = read_service(service("6379", "3", "master,failover_in_progress"));
    ASSERT_TRUE(told);
    EXPECT_EQ(told->primary, (server_address{"10.0.0.1", 6379}));
    EXPECT_TRUE(told->failover_in_progress);
    EXPECT_EQ(told->down_after, 500ms);
    EXPECT_EQ(told->replicas, 2u);
    EXPECT_EQ(told->other_sentinels, 4u);
    EXPECT_EQ(told->quorum, 3u);
    const auto longest = read_service(
        made::texts({"ip", "a", "port", "1", "down-after-milliseconds", "18446744073709551615"}));
    EXPECT_EQ(longest->down_after, duration::max());
}

TEST(SentinelWords, ReplicasAndServicesAreNoPathsOfLocalSockets) {
    const auto replica = [](const char* host) {
        return made::texts({"ip", host, "port", "6380", "flags", "slave"});
    };
    EXPECT_THAT(read_sentinel(denied, at_6379, made::list({replica("10.0.0.2")})).replicas,
                ::testing::Optional(::testing::SizeIs(1)));
    EXPECT_THAT(read_sentinel(denied, at_6379, made::list({replica("/tmp/socket")})).replicas,
                ::testing::Optional(::testing::IsEmpty()));
    EXPECT_FALSE(read_service(made::texts({"ip", "/tmp/socket", "port", "6379"})));
    EXPECT_THAT(replicas_in("slave0:ip=/tmp/socket,port=6380,state=online\r\n"),
                ::testing::IsEmpty());
}

TEST(SentinelWords, ASwitchIsOfOneService) {
    const auto told = read_switch("orders 10.0.0.1 6379 fd00::2 6380", "orders");
    ASSERT_TRUE(told);
    EXPECT_EQ(told->from, (server_address{"10.0.0.1", 6379}));
    EXPECT_EQ(told->to, (server_address{"fd00::2", 6380}));
    EXPECT_TRUE(read_switch("my orders a 1 b 2", "my orders"));
    for (const char* message :
         {"", " ", "orders", "orders a 1 b", "orders a 1 b x", "orders a 0 b 2", "orders a 1  2",
          "orders a 1 /tmp/socket 2", "orders /tmp/socket 1 b 2", "other a 1 b 2",
          "my orders a 1 b 2", "orders a 1 b 2 ", "a 1 b 2", " a 1 b 2"})
        EXPECT_FALSE(read_switch(message, "orders")) << message;
}

} // namespace
} // namespace holdfast::redis
