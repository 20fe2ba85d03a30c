// SPDX-License-Identifier: Apache-2.0
// Replicas confirm what a connection has written: one WAIT for each batch, over a connection where
// nothing else is asked.
#include "node_fixture.hpp"

#include <algorithm>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using words = fake_server::words;

class Confirmed : public on_fake_server {
protected:
    static redis::call_wishes by(std::uint8_t replicas, duration within = 900ms) {
        return {.replicas = replicas, .replicas_within = within};
    }

    /// The replicas are slow: WAIT is answered when the test says so.
    void be_slow() { server_.says.erase("WAIT"); }

    /// The connection made as the so-manyth answers what it has not answered yet.
    void answer(const std::string& with, std::size_t which = 0) {
        server_.sessions.at(which)->muted = false;
        server_.sessions.at(which)->send(with);
        settle();
    }

    std::vector<std::string> asked_of(std::size_t which) const {
        std::vector<std::string> all;
        for (const words& each : server_.sessions.at(which)->asked)
            all.push_back(each.front());
        return all;
    }
    const words& last_words() const { return server_.sessions.back()->asked.back(); }
};

TEST_F(Confirmed, AnAnswerSaysHowManyReplicasHaveIt) {
    server_.says["WAIT"] = ":2\r\n";
    const asked enough = ask("k", by(2));
    EXPECT_EQ(enough->answer.integer, 1);
    EXPECT_EQ(enough->answer.confirmed, 2);
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "2", "900"));
    server_.says["WAIT"] = ":1\r\n";
    EXPECT_EQ(ask("k", by(2))->answer.confirmed, 1);
    EXPECT_EQ(ask()->answer.confirmed, 0) << "nobody was asked";
    EXPECT_EQ(server_.count_asked("WAIT"), 2u);
}

TEST_F(Confirmed, ItIsGivenWhenTheReplicasHaveAnswered) {
    be_slow();
    const asked one = ask("k", by(1));
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "WAIT"));
    EXPECT_FALSE(one->done);
    answer(":1\r\n");
    EXPECT_EQ(one->answer.confirmed, 1);
}

TEST_F(Confirmed, OneWaitStandsForAllThatGoesOutTogether) {
    be_slow();
    std::vector<asked> all;
    while (all.size() < 3)
        all.push_back(begin("k", by(1)));
    settle();
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "EVALSHA", "EVALSHA", "WAIT"));
    EXPECT_EQ(server_.last().bursts, 1u);
    answer(":1\r\n");
    for (const asked& each : all)
        EXPECT_EQ(each->answer.confirmed, 1);
}

TEST_F(Confirmed, NothingIsWrittenBehindAWaitAndSoTheNextBatchForms) {
    be_slow();
    ask("k", by(1));
    const asked second = ask("k", by(1)), third = ask("k", by(1));
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "WAIT"));
    answer(":1\r\n");
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "WAIT", "EVALSHA", "EVALSHA", "WAIT"));
    EXPECT_FALSE(second->done);
    answer(":0\r\n");
    EXPECT_EQ(third->answer.confirmed, 0);
    EXPECT_TRUE(second->done);
}

TEST_F(Confirmed, WhatNeedsNoReplicaIsNotBehindASlowOne) {
    be_slow();
    ask("k", by(1));
    EXPECT_EQ(ask()->answer.integer, 1);
    EXPECT_THAT(asked_of(1), ElementsAre("EVALSHA"));
}

TEST_F(Confirmed, EachNumberOfReplicasIsWaitedForApart) {
    be_slow();
    const asked one = ask("k", by(1)), two = ask("k", by(2));
    ASSERT_EQ(server_.sessions.size(), 2u);
    answer(":1\r\n");
    EXPECT_TRUE(one->done);
    EXPECT_FALSE(two->done);
    EXPECT_EQ(last_words().at(1), "2");
    answer(":1\r\n", 1);
    EXPECT_EQ(two->answer.confirmed, 1);
}

TEST_F(Confirmed, AScriptThatTheServerForgotIsConfirmedByTheNextWait) {
    server_.says["EVALSHA"] = "-NOSCRIPT No matching script.\r\n";
    server_.says["EVAL"] = ":7\r\n";
    int waits = 0;
    server_.improvises = [&](const words& said) -> std::optional<std::string> {
        if (said.front() != "WAIT")
            return std::nullopt;
        return ++waits == 1 ? ":9\r\n" : ":1\r\n"; // of what was before
    };
    const asked one = ask("k", by(1));
    EXPECT_EQ(one->answer.integer, 7);
    EXPECT_EQ(one->answer.confirmed, 1);
    EXPECT_THAT(asked_of(0), ElementsAre("EVALSHA", "WAIT", "EVAL", "WAIT"));
}

TEST_F(Confirmed, ARefusalIsToldAtOnce) {
    be_slow();
    server_.says["EVALSHA"] = "-OOM command not allowed\r\n";
    EXPECT_EQ(ask("k", by(1))->code, make_error_code(store_errc::out_of_memory));
    answer(":0\r\n");
    server_.says["WAIT"] = ":1\r\n";
    server_.says["EVALSHA"] = ":1\r\n";
    EXPECT_EQ(ask("k", by(1))->answer.confirmed, 1);
}

TEST_F(Confirmed, WaitHasTheShortestTimeThatAnyoneInItsBatchGivesIt) {
    server_.says["WAIT"] = ":1\r\n";
    begin("k", by(1, 700ms));
    begin("k", by(1, 30ms));
    ask("k", by(1, 800ms));
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "1", "30"));
    ask("k", by(1, 800ms));
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "1", "800")) << "that was the other batch";
    ask("k", by(1, 0ms));
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "1", "1")) << "zero would be for ever";
}

TEST_F(Confirmed, WaitNeverHasMoreTimeThanReplicasHave) {
    how_.replica_timeout = 250ms;
    server_.says["WAIT"] = ":1\r\n";
    ask("k", by(1, 10s));
    EXPECT_THAT(last_words(), ElementsAre("WAIT", "1", "250"));
}

TEST_F(Confirmed, WhatWasNotConfirmedBeforeTheConnectionEndedIsUnknown) {
    be_slow();
    const asked one = ask("k", by(1));
    server_.last().close();
    settle();
    EXPECT_EQ(one->code, errc::outcome_unknown);
    server_.says["WAIT"] = ":1\r\n";
    const asked next = ask("k", by(1));
    pass(1s);
    EXPECT_EQ(next->answer.confirmed, 1);
    EXPECT_THAT(asked_of(1), ElementsAre("EVALSHA", "WAIT"));
}

TEST_F(Confirmed, WhoIsCancelledMeanwhileIsToldAtOnceAndTheOthersLater) {
    be_slow();
    const asked mine = begin("k", by(1)), other = ask("k", by(1));
    mine->cancel.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_EQ(mine->code, asio::error::operation_aborted);
    EXPECT_FALSE(other->done);
    answer(":1\r\n");
    EXPECT_EQ(other->answer.confirmed, 1);
}

TEST_F(Confirmed, WhoseTimeIsOverMeanwhileDoesNotKnow) {
    be_slow();
    redis::call_wishes hurried = by(1);
    hurried.answer_by = clock_.now() + 100ms;
    const asked mine = ask("k", hurried), next = ask("k", by(1));
    pass(100ms);
    EXPECT_EQ(mine->code, errc::outcome_unknown);
    EXPECT_FALSE(next->done);
    server_.says["WAIT"] = ":1\r\n";
    answer(":1\r\n");
    EXPECT_EQ(next->answer.confirmed, 1);
}

TEST_F(Confirmed, AServerThatConfirmsNothingInTimeIsLeft) {
    be_slow();
    const asked one = ask("k", by(1));
    pass(how_.command_timeout);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_TRUE(server_.last().open);
    pass(how_.command_timeout);
    EXPECT_FALSE(server_.last().open);
}

TEST_F(Confirmed, TheEndOfTheClientEndsWhoWaitsForIt) {
    be_slow();
    const asked one = ask("k", by(1));
    node().close();
    settle();
    EXPECT_EQ(one->code, errc::closed);
    EXPECT_EQ(ask("k", by(1))->code, errc::closed);
}

// What is said of the connection, and of the server.

TEST_F(Confirmed, ADeniedWaitIsToldWithTheAnswer) {
    server_.says["WAIT"] = "-NOPERM this user has no permissions to run the 'wait' command\r\n";
    const asked one = ask("k", by(1));
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(one->answer.confirmed, 0);
    EXPECT_THAT(one->answer.confirmation_refused, HasSubstr("NOPERM"));
    EXPECT_TRUE(server_.last().open);
}

TEST_F(Confirmed, AServerThatIsDemotedMeanwhileIsLeft) {
    ask();
    for (const char* const said :
         {"-UNBLOCKED force unblock from blocking operation, instance state changed\r\n",
          "-ERR WAIT cannot be used with replica instances. Please also note that\r\n"}) {
        server_.says["WAIT"] = said;
        const asked one = ask("k", by(1));
        pass(1s);
        EXPECT_TRUE(one->done) << said;
        EXPECT_EQ(one->answer.confirmed, 0);
        EXPECT_FALSE(one->answer.confirmation_refused.empty());
        EXPECT_TRUE(std::ranges::none_of(server_.sessions, [](const auto& s) { return s->open; }));
        ask();
        pass(1s);
    }
}

TEST_F(Confirmed, AnAnswerThatWaitDoesNotGiveEndsTheConnection) {
    for (const char* const odd : {"+OK\r\n", "*0\r\n", ":-1\r\n"}) {
        server_.says["WAIT"] = odd;
        const asked one = ask("k", by(1));
        pass(1s);
        EXPECT_EQ(one->code, make_error_code(store_errc::protocol)) << odd;
        EXPECT_FALSE(server_.last().open);
    }
}

} // namespace
} // namespace holdfast
