// SPDX-License-Identifier: Apache-2.0
// Replicas confirm what a lane has written: script and WAIT go out together, and have an answer
// each.
#include "lane_fixture.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

class ConfirmedLane : public on_lane {
protected:
    reply ask_confirmed(std::uint8_t replicas = 1) {
        const std::string_view keys[] = {"k"};
        runtime::visit here{entrance_};
        request one{holdfast::script, keys, {}, {.replicas = replicas, .replicas_within = 900ms}};
        return line_->ask(here, one);
    }
    error_code code_of_asking_confirmed() {
        try {
            (void)ask_confirmed();
        } catch (const boost::system::system_error& why) {
            return why.code();
        }
        return {};
    }
};

TEST_F(ConfirmedLane, AsksTheReplicasInTheSameWriteAndReadsBothAnswers) {
    say(":7\r\n:2\r\n");
    const reply said = ask_confirmed(2);
    EXPECT_EQ(said.integer, 7);
    EXPECT_EQ(said.confirmed, 2);
    EXPECT_TRUE(heard().ends_with("*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$3\r\n900\r\n"));
    say(":3\r\n");
    EXPECT_EQ(ask().integer, 3) << "the next one's answer is its own";
}

TEST_F(ConfirmedLane, WaitsForTheSecondAnswerToo) {
    say(":7\r\n");
    std::thread replicas = answering("WAIT", ":1\r\n");
    EXPECT_EQ(ask_confirmed().confirmed, 1);
    replicas.join();
}

TEST_F(ConfirmedLane, AScriptThatTheServerForgotIsConfirmedByTheNextWait) {
    say("-NOSCRIPT No matching script.\r\n:9\r\n");
    std::thread server = answering("$4\r\nEVAL\r\n", ":7\r\n:1\r\n");
    const reply said = ask_confirmed();
    server.join();
    EXPECT_EQ(said.integer, 7);
    EXPECT_EQ(said.confirmed, 1);
}

TEST_F(ConfirmedLane, WhatIsOwedComesBeforeBothAnswers) {
    owed first{*this};
    say(":1\r\n:7\r\n:2\r\n");
    const reply said = ask_confirmed();
    EXPECT_EQ(said.integer, 7);
    EXPECT_EQ(said.confirmed, 2);
    EXPECT_EQ(first.asked.take_answer().integer, 1);
}

TEST_F(ConfirmedLane, WithoutTheSecondAnswerNobodyKnows) {
    open(10ms);
    say(":7\r\n");
    EXPECT_EQ(code_of_asking_confirmed(), errc::outcome_unknown);
    EXPECT_TRUE(line_->broken());
}

TEST_F(ConfirmedLane, ADeniedWaitIsToldWithTheAnswer) {
    say(":7\r\n-NOPERM no\r\n");
    const reply said = ask_confirmed();
    EXPECT_EQ(said.integer, 7);
    EXPECT_EQ(said.confirmation_refused, "NOPERM no");
    EXPECT_FALSE(line_->broken());
}

TEST_F(ConfirmedLane, ARefusalOfTheScriptIsNoMatterOfReplicas) {
    say("-OOM command not allowed\r\n:0\r\n");
    EXPECT_EQ(code_of_asking_confirmed(), store_errc::out_of_memory);
    say(":1\r\n");
    EXPECT_EQ(ask().integer, 1);
}

TEST_F(ConfirmedLane, AServerThatIsDemotedMeanwhileIsLeft) {
    std::string why;
    known_->leave_server = [&](const net::failure& told) { why = told.text(); };
    say(":7\r\n-UNBLOCKED force unblock, instance state changed\r\n");
    EXPECT_EQ(ask_confirmed().integer, 7);
    EXPECT_THAT(why, ::testing::HasSubstr("UNBLOCKED"));
}

TEST_F(ConfirmedLane, AnAnswerThatWaitDoesNotGiveBreaksIt) {
    say(":7\r\n+OK\r\n");
    EXPECT_EQ(code_of_asking_confirmed(), store_errc::protocol);
    EXPECT_TRUE(line_->broken());
}

} // namespace
} // namespace holdfast::redis
