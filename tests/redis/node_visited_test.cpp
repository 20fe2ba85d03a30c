// SPDX-License-Identifier: Apache-2.0
// Calls by threads that visit the client, and so go by blocking connections: what happens to the
// shared connection concerns the blocking connections, and the other way round.
#include "node_inline_call_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class NodeVisited : public on_visited_server {
protected:
    void lose_the_shared_connection() {
        server_.last().close();
        settle();
        pass(1s);
    }
};

TEST_F(NodeVisited, AnAnswerThatNobodyWaitsForIsReadInTheBackground) {
    visit_until_there_is_a_lane();
    const asked sent = visit();
    EXPECT_FALSE(sent->done);
    pass(1ms);
    EXPECT_EQ(sent->answer.integer, 1);
    EXPECT_EQ(blocking_connection().asked.size(), 2u);
}

// Lanes do not notice when the server goes, and cast no doubt on what is held.

TEST_F(NodeVisited, WhoUsesALaneBringsTheSharedConnectionBack) {
    visit_until_there_is_a_lane();
    shared().close();
    pass(1s);
    EXPECT_EQ(server_.sessions.size(), 2u) << "nobody asks";
    answered_visit();
    pass(1s);
    ASSERT_EQ(server_.sessions.size(), 3u);
    EXPECT_TRUE(server_.last().asked.empty());
    EXPECT_EQ(doubts_.size(), 1u);
}

TEST_F(NodeVisited, ItIsBroughtBackOnceForEachWhoAsks) {
    visit_until_there_is_a_lane();
    shared().close();
    settle();
    answered_visit();
    lose_the_shared_connection(); // which was not there before the pause was over
    ASSERT_EQ(server_.sessions.size(), 3u);
    lose_the_shared_connection();
    EXPECT_EQ(server_.sessions.size(), 3u);
    answered_visit();
    pass(2s);
    answered_visit(); // while it is there
    lose_the_shared_connection();
    EXPECT_EQ(server_.sessions.size(), 4u);
}

TEST_F(NodeVisited, AServerThatTakesNoConnectionsIsNotTriedForEverBecauseOfALane) {
    visit_until_there_is_a_lane();
    server_.says["CLIENT"] = "-LOADING Redis is loading the dataset in memory\r\n";
    shared().close();
    pass(1s);
    visit();
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), 3u);
}

TEST_F(NodeVisited, AServerThatWasDemotedIsLeftByItsLanesToo) {
    visit_until_there_is_a_lane();
    server_.says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    EXPECT_EQ(ask()->code, make_error_code(store_errc::read_only));
    EXPECT_FALSE(blocking_connection().open);
}

TEST_F(NodeVisited, ADemotionThatALaneHearsOfEndsTheSharedConnection) {
    visit_until_there_is_a_lane();
    server_.says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    EXPECT_EQ(answered_visit()->code, make_error_code(store_errc::read_only));
    settle();
    EXPECT_FALSE(shared().open);
    EXPECT_FALSE(blocking_connection().open);
}

TEST_F(NodeVisited, AnAnswerThatMakesNoSenseEndsTheLaneItCameBy) {
    visit_until_there_is_a_lane();
    const asked odd = answered_visit();
    node().distrust(odd->answer);
    settle();
    EXPECT_FALSE(blocking_connection().open);
    EXPECT_TRUE(shared().open);
}

TEST_F(NodeVisited, AScriptThatTheServerForgotIsSentAgainWithItsText) {
    visit_until_there_is_a_lane();
    server_.says["EVALSHA"] = "-NOSCRIPT No matching script.\r\n";
    server_.says["EVAL"] = ":7\r\n";
    EXPECT_EQ(answered_visit()->answer.integer, 7);
}

TEST_F(NodeVisited, AnAnswerThatIsOwedForTooLongEndsTheLane) {
    visit_until_there_is_a_lane();
    server_.says.erase("EVALSHA");
    const asked sent = visit();
    pass(how_.command_timeout - 1ms);
    EXPECT_FALSE(sent->done);
    pass(2ms);
    EXPECT_EQ(sent->code, errc::outcome_unknown);
    EXPECT_FALSE(blocking_connection().open);
}

TEST_F(NodeVisited, ALaneDoesNotOweAnswersWithoutEnd) {
    how_.blocking_connections_max = 100; // so many calls may be under way
    how_.command_timeout = 50ms;         // which a thread waits for in real time
    visit_until_there_is_a_lane();
    server_.says.erase("EVALSHA");
    std::vector<asked> sent;
    while (sent.size() < 64)
        sent.push_back(visit());
    EXPECT_FALSE(sent.back()->done);
    EXPECT_EQ(blocking_connection().asked.size(), 1u + 64);
    const asked too_many = visit();
    EXPECT_EQ(too_many->code, errc::outcome_unknown) << "it should have waited for its answer";
    EXPECT_THAT(too_many->text, HasSubstr("did not answer within 50 ms"));
}

TEST_F(NodeVisited, ARequestHasItsOwnLimitOnALaneToo) {
    how_.command_timeout = 50ms;
    visit_until_there_is_a_lane();
    EXPECT_EQ(visit({.answer_by = clock_.now()}, true)->code, errc::unreachable);
    EXPECT_EQ(blocking_connection().asked.size(), 1u);
}

} // namespace
} // namespace holdfast
