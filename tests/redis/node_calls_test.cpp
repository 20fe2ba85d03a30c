// SPDX-License-Identifier: Apache-2.0
// Calls of scripts on a server that does what it should.
#include "node_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using redis::reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NodeCalls : public on_fake_server {};

TEST_F(NodeCalls, ConnectOnlyWhenFirstAsked) {
    node();
    settle();
    EXPECT_TRUE(server_.sessions.empty());
    const auto one = ask();
    EXPECT_TRUE(one->done);
    EXPECT_EQ(one->answer.integer, 1);
    ask();
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(NodeCalls, SendTheScriptsDigestItsKeysAndArguments) {
    const auto one = ask("some key");
    EXPECT_THAT(server_.last().asked,
                ElementsAre(ElementsAre("EVALSHA", std::string{script.sha1}, "1", "some key")));
}

TEST_F(NodeCalls, NothingPassesBeforeTheSetUpIsAnsweredWell) {
    how_.password = "secret";
    how_.database = 3;
    server_.says.erase("SELECT");
    const auto one = ask();
    EXPECT_FALSE(one->done);
    EXPECT_EQ(server_.set_up, 7u); // AUTH, SELECT, CLIENT SETNAME, ROLE, TIME, INFO (2) in one go
    EXPECT_TRUE(server_.last().asked.empty());
    server_.last().send("+OK\r\n+OK\r\n*1\r\n$6\r\nmaster\r\n");
    settle();
    EXPECT_TRUE(server_.last().asked.empty());
    server_.last().send("*2\r\n$1\r\n1\r\n$1\r\n2\r\n" + server_.infos());
    settle();
    EXPECT_EQ(server_.last().asked.size(), 1u);
    server_.last().send(":1\r\n");
    settle();
    EXPECT_TRUE(one->done);
}

TEST_F(NodeCalls, AreAnsweredInTheOrderOfAsking) {
    server_.says.erase("EVALSHA");
    const auto first = ask("a"), second = ask("b"), third = ask("c");
    server_.last().send(":1\r\n:2\r\n");
    settle();
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_EQ(second->answer.integer, 2);
    EXPECT_FALSE(third->done);
    server_.last().send(":3\r\n");
    settle();
    EXPECT_EQ(third->answer.integer, 3);
}

TEST_F(NodeCalls, ThatComeTogetherGoOutTogether) {
    ask();
    server_.last().bursts = 0;
    for (int i = 0; i < 100; ++i)
        begin();
    settle();
    EXPECT_EQ(server_.last().asked.size(), 101u);
    EXPECT_EQ(server_.last().bursts, 1u);
}

TEST_F(NodeCalls, ThatAnswersBringAboutGoOutTogetherToo) {
    ask();
    server_.says.erase("EVALSHA");
    server_.last().bursts = 0;
    // Each asks again as soon as it is answered.
    auto twice = [this]() -> asio::awaitable<void> {
        const std::string_view keys[] = {"again"};
        co_await node().call(script, keys, {});
        co_await node().call(script, keys, {});
    };
    for (int i = 0; i < 10; ++i)
        asio::co_spawn(io_, twice(), [](const std::exception_ptr&) {});
    settle();
    EXPECT_EQ(server_.last().bursts, 1u);
    std::string answers;
    for (int i = 0; i < 10; ++i)
        answers += ":1\r\n";
    server_.last().send(answers);
    settle();
    EXPECT_EQ(server_.last().asked.size(), 21u);
    EXPECT_EQ(server_.last().bursts, 2u);
}

TEST_F(NodeCalls, SendTheTextToAServerThatDoesNotKnowTheScript) {
    server_.says["EVALSHA"] = "-NOSCRIPT No matching script.\r\n";
    server_.says["EVAL"] = ":7\r\n";
    EXPECT_EQ(ask()->answer.integer, 7);
    EXPECT_THAT(server_.last().asked,
                ElementsAre(ElementsAre("EVALSHA", std::string{script.sha1}, "1", "k"),
                            ElementsAre("EVAL", std::string{script.text}, "1", "k")));
}

TEST_F(NodeCalls, AskForTheTextOnlyOnce) {
    server_.says["EVALSHA"] = server_.says["EVAL"] = "-NOSCRIPT No matching script.\r\n";
    const auto one = ask();
    EXPECT_EQ(one->code, make_error_code(store_errc::other));
    EXPECT_EQ(server_.last().asked.size(), 2u);
}

TEST_F(NodeCalls, ThatAreSentAgainHaveNoMoreTimeThanOthers) {
    server_.says.erase("EVALSHA");
    const auto one = ask();
    pass(2'999ms);
    server_.last().send("-NOSCRIPT No matching script.\r\n");
    settle();
    EXPECT_EQ(server_.count_asked("EVAL"), 1u);
    const auto later = ask();
    pass(1ms);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_FALSE(later->done);
    server_.last().send(":1\r\n:2\r\n");
    settle();
    EXPECT_EQ(later->answer.integer, 2);
}

TEST_F(NodeCalls, ThrowWhatTheServerSays) {
    server_.says["EVALSHA"] = "-WRONGTYPE Operation against a key\r\n";
    const auto one = ask();
    EXPECT_EQ(one->code, make_error_code(store_errc::wrong_type));
    EXPECT_EQ(one->code, errc::refused);
    EXPECT_THAT(one->text, HasSubstr("WRONGTYPE Operation against a key"));
}

TEST_F(NodeCalls, PassOnAnErrorInsideAnArray) {
    server_.says["EVALSHA"] = "*2\r\n:1\r\n-OOM no\r\n";
    const auto one = ask();
    EXPECT_EQ(one->answer.items.at(1).type, reply::kind::error);
}

TEST_F(NodeCalls, SayWhenTheyWereSentAndAnswered) {
    server_.says.erase("EVALSHA");
    const time_point asked_at = clock_.now();
    const auto one = ask();
    pass(250ms);
    server_.last().send(":1\r\n");
    settle();
    EXPECT_EQ(one->answer.sent_at, asked_at);
    EXPECT_EQ(one->answer.received_at, asked_at + 250ms);
}

TEST_F(NodeCalls, AreComposedWhenTheyAreSentAndNotWhenTheyQueue) {
    server_.says.erase("TIME");
    const time_point asked_at = clock_.now();
    auto with_deadline = [this](time_point at, reply& answer) -> asio::awaitable<void> {
        const redis::argument arguments[] = {redis::server_deadline{at}};
        answer = co_await node().call(script, {}, arguments);
    };
    reply answer;
    asio::co_spawn(io_, with_deadline(asked_at + 3s, answer),
                   [](const std::exception_ptr& failed) { EXPECT_FALSE(failed); });
    settle();
    pass(500ms); // the set-up takes so long, and only then the server's clock is known
    server_.last().muted = false;
    server_.last().send("*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n" + server_.infos());
    settle();
    ASSERT_EQ(server_.last().asked.size(), 1u);
    const auto deadline = answer.clock->no_later_than(asked_at + 3s);
    ASSERT_TRUE(deadline);
    EXPECT_EQ(server_.last().asked[0].at(3), std::to_string(deadline->count()));
    EXPECT_EQ(answer.sent_at, asked_at + 500ms);
}

TEST_F(NodeCalls, ForgetTheClockOfTheServerThatWasThereBefore) {
    EXPECT_TRUE(ask()->answer.clock->known());
    server_.drop_connections();
    server_.says["TIME"] = "-NOPERM no\r\n";
    settle();
    pass(2s);
    EXPECT_FALSE(ask()->answer.clock->known());
}

TEST_F(NodeCalls, MayBeOfAnySize) {
    const std::string big(3'000'000, 'x'); // more than any socket takes at once
    const auto first = ask(big), second = ask("small");
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_EQ(second->answer.integer, 1);
    ASSERT_EQ(server_.last().asked.size(), 2u);
    EXPECT_EQ(server_.last().asked[0].at(3), big);
    EXPECT_EQ(server_.last().asked[1].at(3), "small");
}

TEST_F(NodeCalls, ThatComeDuringALongWriteGoOutBehindIt) {
    ask();
    server_.says.erase("EVALSHA"); // no answer comes that would set things going again
    server_.last().deaf = true;
    ask("the last one it hears");
    ask(std::string(3'000'000, 'x'));
    ask("behind");
    EXPECT_EQ(server_.last().asked.size(), 2u);
    server_.last().hear_again();
    settle();
    ASSERT_EQ(server_.last().asked.size(), 4u);
    EXPECT_EQ(server_.last().asked.back().at(3), "behind");
}

TEST_F(NodeCalls, PutAnswersTogetherFromPieces) {
    server_.says.erase("EVALSHA");
    const auto one = ask();
    for (const char byte : std::string{"*2\r\n$5\r\nhello\r\n:4\r\n"}) {
        EXPECT_FALSE(one->done);
        server_.last().send({byte});
        settle();
    }
    EXPECT_EQ(one->answer.items.at(0).text, "hello");
    EXPECT_EQ(one->answer.items.at(1).integer, 4);
}

TEST_F(NodeCalls, AreNotMoreThanMayWait) {
    how_.requests_max = 3;
    server_.says.erase("EVALSHA");
    const auto a = ask(), b = ask(), c = ask(), too_many = ask();
    EXPECT_EQ(too_many->code, errc::overloaded);
    EXPECT_FALSE(a->done || b->done || c->done);
    server_.last().send(":1\r\n");
    settle();
    EXPECT_FALSE(ask()->done);
}

} // namespace
} // namespace holdfast
