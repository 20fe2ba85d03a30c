// SPDX-License-Identifier: Apache-2.0
// A server that is the primary no more, and one that answers what no script of ours does: whoever
// stays on such a connection is refused, or misled, for ever.
#include "node_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class NodeDemoted : public on_fake_server {
protected:
    static constexpr const char* readonly = "-READONLY You can't write against a replica.\r\n";

    void promote(bool primary) {
        server_.says["ROLE"] = primary ? "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"
                                       : "*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n";
    }
};

TEST_F(NodeDemoted, ARefusalToWriteEndsTheConnectionAndTheObserverIsTold) {
    ask();
    server_.says["EVALSHA"] = readonly;
    const auto refused = ask();
    EXPECT_EQ(refused->code, make_error_code(store_errc::read_only));
    EXPECT_EQ(refused->code, errc::unreachable) << "it was not carried out";
    EXPECT_FALSE(server_.last().open);
    ASSERT_EQ(told_.count(event_kind::disconnected), 1u);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text,
                AllOf(HasSubstr("lost: READONLY"), HasSubstr(server_.path())));
}

TEST_F(NodeDemoted, TheNextConnectionIsAskedForItsRoleBeforeAnythingElse) {
    ask();
    server_.says["EVALSHA"] = readonly;
    ask();
    promote(false);
    const auto still = ask();
    pass(1s);
    EXPECT_EQ(still->code, make_error_code(store_errc::read_only));
    EXPECT_THAT(still->text, HasSubstr("ROLE"));
    EXPECT_TRUE(server_.last().asked.empty());
    promote(true); // the name leads to the new primary by now
    server_.says["EVALSHA"] = ":1\r\n";
    const auto well = ask();
    pass(2s);
    EXPECT_EQ(well->answer.integer, 1);
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
}

TEST_F(NodeDemoted, SoDoesAReplicaWithoutItsPrimary) {
    server_.says["EVALSHA"] = "-MASTERDOWN Link with MASTER is down\r\n";
    EXPECT_EQ(ask()->code, make_error_code(store_errc::master_down));
    EXPECT_FALSE(server_.last().open);
}

TEST_F(NodeDemoted, SoDoesAServerBefore7WhichNamesTheScriptFirst) {
    server_.says["EVALSHA"] = "-ERR Error running script (call to f_1): @user_script:1: "
                              "@user_script: 1: -READONLY You can't write against a replica.\r\n";
    EXPECT_EQ(ask()->code, make_error_code(store_errc::read_only));
    EXPECT_FALSE(server_.last().open);
}

TEST_F(NodeDemoted, WhatWasUnblockedMayHaveBeenCarriedOut) {
    server_.says["EVALSHA"] = "-UNBLOCKED force unblock, instance state changed\r\n";
    EXPECT_EQ(ask()->code, errc::outcome_unknown);
    EXPECT_FALSE(server_.last().open);
}

TEST_F(NodeDemoted, AnswersToOthersThatComeTooLateTellItAsWell) {
    server_.says.erase("EVALSHA");
    ask();
    pass(3s);
    server_.last().send(readonly);
    settle();
    EXPECT_FALSE(server_.last().open);
}

TEST_F(NodeDemoted, WhatIsOpenBehindIsUnknownAndWhatIsQueuedWaitsForTheNext) {
    server_.says.erase("EVALSHA");
    const auto one = ask(), behind = ask();
    server_.last().send(readonly);
    settle();
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_EQ(behind->code, errc::outcome_unknown);
    server_.says["EVALSHA"] = ":1\r\n";
    const auto next = ask();
    pass(1s);
    EXPECT_EQ(next->answer.integer, 1);
}

TEST_F(NodeDemoted, WithoutLeaveToAskForTheRoleItIsNotStormed) {
    server_.says["ROLE"] = "-NOPERM no\r\n";
    server_.says["EVALSHA"] = readonly;
    const auto end = clock_.now() + 60s;
    while (clock_.now() < end) {
        ask();
        pass(10ms);
    }
    EXPECT_GT(server_.sessions.size(), 25u);
    EXPECT_LT(server_.sessions.size(), 200u);
}

class NodeDistrusted : public on_fake_server {};

TEST_F(NodeDistrusted, EndsTheConnectionOfThatAnswerAndWhatIsOpenThereIsUnknown) {
    const auto odd = ask();
    server_.says.erase("EVALSHA");
    const auto open = ask();
    node().distrust(odd->answer);
    settle();
    EXPECT_EQ(open->code, errc::outcome_unknown);
    EXPECT_FALSE(server_.last().open);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("does not give"));
    server_.says["EVALSHA"] = ":1\r\n";
    const auto next = ask();
    pass(1s);
    EXPECT_EQ(next->answer.integer, 1);
    node().distrust(odd->answer); // of a connection that is over
    settle();
    EXPECT_TRUE(server_.last().open);
}

TEST_F(NodeDistrusted, AnswersBehindItAreNobodysAnyMore) {
    server_.says.erase("EVALSHA");
    auto distrust = [this]() -> asio::awaitable<void> {
        node().distrust(co_await node().call(script, {}, {}));
    };
    asio::co_spawn(io_, distrust(), [](const std::exception_ptr& failed) { EXPECT_FALSE(failed); });
    const auto behind = ask();
    server_.last().send("+what\r\n:1\r\n"); // in one piece
    settle();
    EXPECT_EQ(behind->code, errc::outcome_unknown);
}

TEST_F(NodeDistrusted, AnAnswerOfNoConnectionHarmsNobody) {
    server_.says.erase("ROLE");
    const auto connects = ask();
    node().distrust(redis::reply{});
    settle();
    EXPECT_FALSE(connects->done);
    server_.last().muted = false;
    server_.last().send("*1\r\n$6\r\nmaster\r\n*2\r\n$1\r\n1\r\n$1\r\n2\r\n" + server_.infos());
    node().distrust(redis::reply{});
    settle();
    EXPECT_TRUE(server_.last().open);
}

} // namespace
} // namespace holdfast
