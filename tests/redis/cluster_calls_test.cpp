// SPDX-License-Identifier: Apache-2.0
// Requests find the server that has their keys.
#include "cluster_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ClusterCalls = on_fake_cluster;

TEST_F(ClusterCalls, GoToTheServerThatHasTheirKeys) {
    ASSERT_LT(redis::key_slot(low_), half);
    ASSERT_GE(redis::key_slot(high_), half);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(ask(high_)->answer.integer, 1);
    EXPECT_EQ(ask(high_)->answer.integer, 1);
    EXPECT_EQ(calls_at(0), 1u);
    EXPECT_EQ(calls_at(1), 2u);
    EXPECT_EQ(questions(), 1u) << "the map is known";
}

TEST_F(ClusterCalls, FollowAMovedSlotAndRememberIt) {
    ask(low_);
    at(0).says["EVALSHA"] = moved(low_, 2);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 2u);
    EXPECT_EQ(calls_at(0), 2u) << "not asked again";
    pass(250ms);
    EXPECT_GE(questions(), 2u) << "more may have moved";
}

TEST_F(ClusterCalls, BelieveTheServerThatHadASlotMoreThanTheNodesThatWereAskedBefore) {
    ask(low_);
    for (fake_server* each : servers())
        each->says.erase("CLUSTER");
    at(0).says["EVALSHA"] = moved(low_, 2);
    ask(low_);
    pass(1ms); // the map is asked for; and then another slot moves
    ask(low_);
    EXPECT_EQ(calls_at(2), 2u);
}

TEST_F(ClusterCalls, AskWhereASlotGoesAndDoNotRememberIt) {
    ask(low_);
    at(0).says["EVALSHA"] = asked_at(low_, 1);
    const auto first = ask(low_);
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_TRUE(first->answer.moves);
    const fake_server::session& there = session_with(1, "ASKING");
    EXPECT_THAT(there.asked[0], ElementsAre("ASKING"));
    EXPECT_EQ(there.asked[1][0], "EVALSHA");
    EXPECT_EQ(there.bursts, 1u) << "in one write";
    at(0).says["EVALSHA"] = ":7\r\n";
    const auto second = ask(low_);
    EXPECT_EQ(second->answer.integer, 7);
    EXPECT_EQ(questions(), 1u) << "the map stays";
    EXPECT_FALSE(second->answer.moves);
}

TEST_F(ClusterCalls, SayAskingAgainWithTheTextOfAScript) {
    at(0).says["EVALSHA"] = asked_at(low_, 1);
    at(1).says["EVALSHA"] = "-NOSCRIPT No matching script.\r\n";
    at(1).says["EVAL"] = ":5\r\n";
    EXPECT_EQ(ask(low_)->answer.integer, 5);
    std::vector<std::string> words;
    for (const fake_server::words& each : session_with(1, "ASKING").asked)
        words.push_back(each[0]);
    EXPECT_THAT(words, ElementsAre("ASKING", "EVALSHA", "ASKING", "EVAL"));
}

TEST_F(ClusterCalls, SentInCirclesTheyEnd) {
    at(0).says["EVALSHA"] = moved(low_, 1);
    at(1).says["EVALSHA"] = moved(low_, 0);
    how_.command_timeout = 1min;
    const auto one = ask(low_);
    EXPECT_FALSE(one->done) << "they may agree after a while";
    pass(10s);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_LE(calls_at(0) + calls_at(1), 17u);
    EXPECT_GE(calls_at(0) + calls_at(1), 16u);
}

TEST_F(ClusterCalls, WaitForWhatIsInTheMidstOfAMove) {
    at(0).says["EVALSHA"] = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
    const auto one = ask(low_);
    pass(1s);
    EXPECT_FALSE(one->done);
    EXPECT_GE(calls_at(0), 4u);
    EXPECT_LE(calls_at(0), 21u);
    at(0).says["EVALSHA"] = ":1\r\n";
    pass(250ms);
    EXPECT_EQ(one->answer.integer, 1);
}

TEST_F(ClusterCalls, WaitForASlotToBeServedNoLongerThanOneCallMayTake) {
    for (const char* words : {"-CLUSTERDOWN Hash slot not served\r\n", "-LOADING it loads\r\n",
                              "-MASTERDOWN Link with MASTER is down\r\n"}) {
        at(0).says["EVALSHA"] = words;
        const auto one = ask(low_);
        pass(3s);
        ASSERT_TRUE(one->done);
        EXPECT_EQ(one->code, errc::unreachable) << words;
        EXPECT_THAT(one->text, HasSubstr(std::string{words}.substr(1, 7)));
    }
}

TEST_F(ClusterCalls, WithATimeOfTheirOwnEndThen) {
    at(0).says["EVALSHA"] = "-CLUSTERDOWN The cluster is down\r\n";
    const auto one = ask(low_, {.answer_by = clock_.now() + 400ms});
    pass(400ms);
    EXPECT_EQ(one->code, errc::unreachable);
}

TEST_F(ClusterCalls, AreCancelledWhileTheyWait) {
    at(0).says["EVALSHA"] = "-CLUSTERDOWN The cluster is down\r\n";
    const auto one = ask(low_);
    one->cancel.emit(asio::cancellation_type::terminal);
    pass(250ms);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, asio::error::operation_aborted);
}

TEST_F(ClusterCalls, LeaveAPrimaryThatBecameAReplica) {
    ask(low_);
    share({2, 1});
    at(0).says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    const auto one = ask(low_);
    pass(500ms);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
    EXPECT_FALSE(session_with(0, "EVALSHA").open);
}

TEST_F(ClusterCalls, WhatMetAKeyThatIsElsewhereMayBeHalfDone) {
    at(0).says["EVALSHA"] =
        "-ERR Script attempted to access a non local key in a cluster node script: x\r\n";
    const auto one = ask(low_);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_EQ(calls_at(0), 1u);
}

TEST_F(ClusterCalls, ThatCanBeDividedAreToldAtOnceThatTheirKeysAreApart) {
    at(0).says["EVALSHA"] = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
    error_code failed;
    const auto run = [](redis::node& on, bool divisible) -> asio::awaitable<void> {
        const std::string_view keys[] = {"{low1}1", "{low1}2"};
        co_await on.call(script, keys, {}, {.divisible = divisible});
    };
    int ended = 0;
    for (const bool divisible : {false, true})
        asio::co_spawn(io_, run(node(), divisible), [&](const std::exception_ptr& why) {
            ++ended;
            EXPECT_TRUE(why);
        });
    settle();
    EXPECT_EQ(ended, 1);
    pass(3s);
    EXPECT_EQ(ended, 2);
}

TEST_F(ClusterCalls, OfAServerThatIsLeftAreUnknownOrGoToTheNext) {
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto written = ask(low_);
    at(0).stop(); // and then it takes no connections
    settle();
    EXPECT_EQ(written->code, errc::outcome_unknown);
    const auto unsent = ask(low_);
    EXPECT_FALSE(unsent->done);
    share({2, 1});
    pass(500ms);
    EXPECT_EQ(unsent->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterCalls, ThatWereWrittenToAServerWithoutSlotsAreNotWaitedFor) {
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto written = ask(low_);
    share({2, 1});
    pass(1100ms);
    ASSERT_TRUE(written->done);
    EXPECT_EQ(written->code, errc::outcome_unknown);
    EXPECT_THAT(written->text, HasSubstr("has no part of the cluster any more"));
    EXPECT_EQ(told_.last(event_kind::moved)->name, text_of(2));
}

TEST_F(ClusterCalls, EndWhenTheClientIsClosed) {
    at(0).says["EVALSHA"] = "-CLUSTERDOWN The cluster is down\r\n";
    const auto one = ask(low_);
    node().close();
    pass(250ms);
    EXPECT_EQ(one->code, errc::closed);
}

} // namespace
} // namespace holdfast
