// SPDX-License-Identifier: Apache-2.0
// Calls of scripts on a server that replies with errors, replies wrongly, or does not reply.
#include "node_fixture.hpp"

#include <boost/asio/post.hpp>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class NodeInTrouble : public on_fake_server {};

TEST_F(NodeInTrouble, ANoAnswerIsAnUnknownOutcomeAfterTheTimeout) {
    server_.says.erase("EVALSHA");
    const auto one = ask();
    pass(2'999ms);
    EXPECT_FALSE(one->done);
    pass(1ms);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_THAT(one->text, HasSubstr("did not answer within 3000 ms"));
}

TEST_F(NodeInTrouble, ALateAnswerIsNobodysAndTheConnectionStays) {
    server_.says.erase("EVALSHA");
    const auto late = ask();
    pass(3s);
    server_.last().send(":1\r\n");
    settle();
    const auto next = ask();
    server_.last().send(":2\r\n");
    settle();
    EXPECT_EQ(late->code, errc::outcome_unknown);
    EXPECT_EQ(next->answer.integer, 2);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(NodeInTrouble, ALaterCallIsNotKeptWaitingForAnEarlierOnesLimit) {
    server_.says.erase("TIME");
    ask();
    pass(1'900ms); // so much later than asked it is sent, and not answered
    server_.last().send("*2\r\n$1\r\n1\r\n$1\r\n2\r\n" + server_.infos());
    pass(1'100ms + 500ms);
    const auto later = ask(); // before the connection is given up
    pass(3s);
    EXPECT_EQ(later->code, errc::unreachable) << "over a new connection, whose set-up hangs";
}

TEST_F(NodeInTrouble, AServerThatIsSilentForTwiceTheTimeIsGivenUp) {
    server_.says.erase("EVALSHA");
    ask();
    pass(4s);
    const auto behind = ask();
    pass(1'999ms);
    EXPECT_TRUE(server_.sessions[0]->open);
    pass(1ms);
    EXPECT_FALSE(server_.sessions[0]->open);
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    server_.says["EVALSHA"] = ":1\r\n";
    pass(1s);
    EXPECT_EQ(behind->code, errc::outcome_unknown);
    EXPECT_EQ(ask()->answer.integer, 1);
}

TEST_F(NodeInTrouble, ASetUpThatIsNotAnsweredEndsInTime) {
    server_.says.erase("ROLE");
    const auto one = ask();
    pass(1'999ms);
    EXPECT_FALSE(one->done);
    pass(1ms);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, AllOf(HasSubstr(server_.path()), HasSubstr("not done within 2000 ms"),
                                 HasSubstr("the answer to ROLE")));
    EXPECT_FALSE(server_.last().open);
}

TEST_F(NodeInTrouble, WhatIsStillQueuedWhenItsTimeIsOverWasNeverSent) {
    how_.connect_timeout = 10s;
    server_.says.erase("ROLE");
    const auto one = ask();
    pass(3s);
    EXPECT_EQ(one->code, errc::unreachable);
    server_.last().send("*1\r\n$6\r\nmaster\r\n*2\r\n$1\r\n1\r\n$1\r\n2\r\n" + server_.infos());
    settle();
    EXPECT_TRUE(server_.last().asked.empty());
}

TEST_F(NodeInTrouble, NobodyThereIsUnreachableAndSaysWhereAndWhy) {
    server_.stop();
    const auto one = ask();
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, AllOf(HasSubstr("no connection to unix:" + server_.path()),
                                 HasSubstr("No such file or directory")));
    server_.start();
}

TEST_F(NodeInTrouble, ARefusedPasswordIsToldInTheServersWordsWithoutThePassword) {
    how_.user = "me";
    how_.password = "hunter2";
    server_.says["AUTH"] = "-WRONGPASS invalid username-password pair\r\n";
    const auto one = ask();
    EXPECT_EQ(one->code, make_error_code(store_errc::not_authenticated));
    EXPECT_EQ(one->code, errc::refused);
    EXPECT_THAT(one->text, AllOf(HasSubstr("WRONGPASS"), Not(HasSubstr("hunter2"))));
    EXPECT_TRUE(server_.last().asked.empty());
    EXPECT_FALSE(server_.last().open);
    EXPECT_EQ(told_.last(event_kind::disconnected)->code, errc::refused);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, Not(HasSubstr("hunter2")));
    pass(10min); // nobody asks: nobody tries again
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(NodeInTrouble, AReplicaIsUnreachable) {
    server_.says["ROLE"] = "*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n";
    const auto one = ask();
    EXPECT_EQ(one->code, make_error_code(store_errc::read_only));
    EXPECT_EQ(one->code, errc::unreachable);
}

TEST_F(NodeInTrouble, GarbageInTheSetUpIsUnreachableSinceNothingWasSent) {
    server_.says["CLIENT"] = "HTTP/1.1 400 Bad Request\r\n";
    const auto one = ask();
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, HasSubstr("not the Redis protocol"));
}

TEST_F(NodeInTrouble, GarbageInsteadOfAnAnswerEndsTheConnection) {
    server_.says["EVALSHA"] = "?what\r\n";
    const auto one = ask();
    EXPECT_EQ(one->code, make_error_code(store_errc::protocol));
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_FALSE(server_.last().open);
    server_.says["EVALSHA"] = ":1\r\n";
    pass(1s);
    EXPECT_TRUE(ask()->done);
    EXPECT_EQ(server_.sessions.size(), 2u);
}

TEST_F(NodeInTrouble, AnAnswerThatNobodyAskedForEndsTheConnection) {
    ask();
    server_.last().send(":1\r\n");
    settle();
    EXPECT_FALSE(server_.last().open);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("to no request"));
}

TEST_F(NodeInTrouble, AnAnswerWithoutEndEndsTheConnection) {
    how_.reply_bytes_max = 100'000;
    server_.says.erase("EVALSHA");
    const auto one = ask();
    server_.last().send("$2000000000\r\n" + std::string(50'000, 'x'));
    settle();
    EXPECT_FALSE(one->done);
    server_.last().send(std::string(50'001, 'x'));
    settle();
    EXPECT_EQ(one->code, make_error_code(store_errc::protocol));
    EXPECT_THAT(one->text, HasSubstr("more than 100000 bytes"));
}

TEST_F(NodeInTrouble, AConnectionLostBehindARequestIsAnUnknownOutcome) {
    server_.says.erase("EVALSHA");
    const auto sent = ask();
    server_.last().send("*2\r\n:1\r\n"); // half an answer is none
    settle();
    server_.drop_connections();
    settle();
    EXPECT_EQ(sent->code, errc::outcome_unknown);
    EXPECT_THAT(sent->text, HasSubstr("lost: closed by the server"));
}

TEST_F(NodeInTrouble, WhatWasNotYetWrittenGoesOutOnTheNextConnection) {
    const std::string big(3'000'000, 'x');
    ask();
    server_.last().deaf = true;
    ask("the last one it hears");
    const auto first = ask(big), second = ask("behind");
    EXPECT_FALSE(second->done);
    server_.drop_connections();
    settle();
    EXPECT_EQ(first->code, errc::outcome_unknown);
    EXPECT_FALSE(second->done);
    pass(1s);
    EXPECT_EQ(second->answer.integer, 1);
    ASSERT_EQ(server_.last().asked.size(), 1u);
    EXPECT_EQ(server_.last().asked[0].at(3), "behind");
}

TEST_F(NodeInTrouble, WhatIsFarBehindIsNotWrittenAndSoWasNeverSent) {
    ask();
    server_.last().deaf = true;
    ask("the last one it hears");
    std::vector<asked> many;
    while (many.size() < 1'000)
        many.push_back(begin(std::string(10'000, 'x')));
    pass(3s);
    EXPECT_EQ(many.front()->code, errc::outcome_unknown);
    EXPECT_EQ(many.back()->code, errc::unreachable);
}

TEST_F(NodeInTrouble, AServerThatHangsUpHasTheLastWord) {
    ask();
    server_.last().refuse_to_hear();
    const auto one = ask();
    server_.last().send("-OOM and now I go\r\n");
    server_.last().close();
    settle();
    EXPECT_EQ(one->code, make_error_code(store_errc::out_of_memory)) << one->text;
}

TEST_F(NodeInTrouble, AServerThatHearsNothingAndDoesNotHangUpIsGivenUp) {
    ask();
    server_.last().refuse_to_hear();
    const auto one = ask();
    EXPECT_FALSE(one->done);
    const auto two = ask();
    pass(3s);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_EQ(two->code, errc::unreachable);
    pass(1s);
    EXPECT_EQ(ask()->answer.integer, 1);
    EXPECT_EQ(server_.sessions.size(), 2u);
}

TEST_F(NodeInTrouble, ConnectionsAreNotTriedFasterThanTheBackoffAllows) {
    server_.says["CLIENT"] = "-LOADING Redis is loading the dataset in memory\r\n";
    const auto end = clock_.now() + 60s;
    while (clock_.now() < end) {
        const auto one = ask();
        pass(10ms);
    }
    EXPECT_GT(server_.sessions.size(), 25u);
    EXPECT_LT(server_.sessions.size(), 150u);
}

TEST_F(NodeInTrouble, AServerThatDropsEveryConnectionIsNotStormed) {
    const auto end = clock_.now() + 60s;
    while (clock_.now() < end) {
        ask();
        server_.drop_connections();
        pass(10ms);
    }
    EXPECT_GT(server_.sessions.size(), 25u);
    EXPECT_LT(server_.sessions.size(), 200u);
}

TEST_F(NodeInTrouble, AnOutageIsToldOnceAndItsEndToo) {
    ask();
    server_.stop();
    settle();
    for (int i = 0; i < 10; ++i) {
        ask();
        pass(1s);
    }
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    EXPECT_EQ(told_.last(event_kind::disconnected)->name, "unix:" + server_.path());
    EXPECT_EQ(told_.count(event_kind::reconnected), 0u);
    server_.start();
    const auto back = ask();
    pass(2s);
    EXPECT_EQ(back->answer.integer, 1);
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
    EXPECT_GE(told_.last(event_kind::reconnected)->length, 10s);
    EXPECT_LE(told_.last(event_kind::reconnected)->length, 12s);
}

TEST_F(NodeInTrouble, WhoIsCancelledBeforeWritingIsNeverSent) {
    server_.says.erase("ROLE");
    const auto one = ask("one"), two = ask("two");
    one->cancel.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_EQ(one->code, asio::error::operation_aborted);
    server_.last().muted = false;
    server_.last().send("*1\r\n$6\r\nmaster\r\n*2\r\n$1\r\n1\r\n$1\r\n2\r\n" + server_.infos());
    settle();
    EXPECT_EQ(two->answer.integer, 1);
    ASSERT_EQ(server_.last().asked.size(), 1u);
    EXPECT_EQ(server_.last().asked[0].at(3), "two");
}

TEST_F(NodeInTrouble, WhoIsCancelledLaterLeavesTheOthersTheirAnswers) {
    server_.says.erase("EVALSHA");
    const auto one = ask("one"), two = ask("two");
    one->cancel.emit(asio::cancellation_type::terminal);
    one->cancel.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_EQ(one->code, asio::error::operation_aborted);
    server_.last().send(":1\r\n:2\r\n");
    settle();
    EXPECT_EQ(two->answer.integer, 2);
    two->cancel.emit(asio::cancellation_type::terminal); // too late, and harmless
    settle();
}

TEST_F(NodeInTrouble, ClosingFailsWhoWaitsWherever) {
    server_.says.erase("EVALSHA");
    const auto written = ask();
    server_.stop();
    settle();
    EXPECT_EQ(written->code, errc::outcome_unknown);
    const auto queued = ask();
    asio::post(io_, [&] {
        node().close();
        EXPECT_FALSE(queued->done) << "within the call";
    });
    settle();
    EXPECT_EQ(queued->code, errc::closed);
    EXPECT_EQ(ask()->code, errc::closed);
    node().close(); // again
    server_.start();
}

TEST_F(NodeInTrouble, TheNodeMayGoAsSoonAsItIsClosed) {
    server_.says.erase("EVALSHA");
    const auto written = ask(), another = ask();
    close();
    another->cancel.emit(asio::cancellation_type::terminal); // on its way already
    settle();
    EXPECT_EQ(written->code, errc::closed);
    EXPECT_EQ(another->code, errc::closed);
}

TEST_F(NodeInTrouble, TheNodeMayGoWhileItConnects) {
    server_.says.erase("ROLE");
    const auto one = ask();
    close();
    settle();
    EXPECT_EQ(one->code, errc::closed);
}

TEST_F(NodeInTrouble, TheNodeMayGoBetweenTwoAttempts) {
    server_.stop();
    ask();
    const auto one = ask(); // waits for the next attempt
    close();
    settle();
    EXPECT_EQ(one->code, errc::closed);
    server_.start();
}

TEST_F(NodeInTrouble, WhoIsAnsweredMayCloseAndDestroyTheNode) {
    server_.says.erase("EVALSHA");
    auto end_it = [this]() -> asio::awaitable<void> {
        co_await node().call(script, {}, {});
        close();
    };
    bool ended = false;
    asio::co_spawn(io_, end_it(), [&](const std::exception_ptr& failed) {
        ended = true;
        EXPECT_FALSE(failed);
    });
    const auto behind = ask();
    server_.last().send(":1\r\n:2\r\n");
    settle();
    EXPECT_TRUE(ended);
    EXPECT_EQ(behind->code, errc::closed);
}

TEST_F(NodeInTrouble, AHandlerThatThrowsComesOutOfTheExecutorAndEndsNoLoop) {
    server_.says.erase("EVALSHA");
    auto call = [this]() -> asio::awaitable<void> { co_await node().call(script, {}, {}); };
    asio::co_spawn(io_, call(),
                   [](const std::exception_ptr&) { throw std::runtime_error{"mine"}; });
    const auto behind = ask();
    server_.last().send(":1\r\n:2\r\n");
    EXPECT_THROW(settle(), std::runtime_error);
    settle();
    EXPECT_EQ(behind->answer.integer, 2);
}

TEST(NodeTornDown, LeavesNothingBehindWhoeverStillWaits) {
    sim::sim_clock* keep = nullptr;
    auto io = std::make_unique<asio::io_context>();
    sim::sim_clock clock{*io};
    keep = &clock;
    fake_server server{*io};
    redis::options how;
    how.unix_socket = server.path();
    store_context context{io->get_executor(), *keep, [] { return 1u; }, {}, {}, {}, {}};
    auto node = redis::make_node(how, context);
    bool resumed = false;
    auto call = [&]() -> asio::awaitable<void> {
        co_await node->call(script, {}, {});
        resumed = true;
    };
    asio::co_spawn(*io, call(), [](const std::exception_ptr&) {});
    clock.run_until(clock.now());
    EXPECT_EQ(server.count_asked("EVALSHA"), 1u);
    node.reset();
    EXPECT_FALSE(resumed);
}

} // namespace
} // namespace holdfast
