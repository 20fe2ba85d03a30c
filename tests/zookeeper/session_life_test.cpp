// SPDX-License-Identifier: Apache-2.0
// What keeps a session alive, and what a client believes of it.
#include "session_fixture.hpp"

#include <holdfast/error.hpp>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr duration granted = 6000ms;
constexpr duration drift = 62ms;

class SessionLife : public on_fake_zookeeper {};

TEST_F(SessionLife, BeginsWithTheOpening) {
    open();
    EXPECT_EQ(left(), granted - drift);
}

TEST_F(SessionLife, IsKeptByWritesWhileItIsInUse) {
    use();
    settle();
    ASSERT_NE(id(), 0);
    pass(10s);
    EXPECT_EQ(server_.count(opcode::multi), 10u) << "each sixth of the timeout";
    for (int i = 0; i < 60; ++i) {
        EXPECT_GE(left(), granted / 4 - drift);
        pass(100ms);
    }
    EXPECT_EQ(news_, std::vector{session_news::opened});
}

TEST_F(SessionLife, IsKeptByPingsWhileItIsNot) {
    open();
    pass(30s);
    EXPECT_EQ(server_.count(opcode::multi), 0u);
    EXPECT_EQ(server_.last().pings, 30u) << "each sixth of the timeout";
    EXPECT_LT(left(), 0ms) << "pings prove nothing";
    EXPECT_NE(id(), 0);
}

TEST_F(SessionLife, IsProvedAtOnceWhenItIsUsedAgain) {
    open();
    pass(30s);
    use();
    settle();
    EXPECT_EQ(server_.count(opcode::multi), 1u);
    EXPECT_GE(left(), granted / 4 - drift);
    pass(20s);
    EXPECT_EQ(news_, std::vector{session_news::opened});
}

// Whoever is granted something holds it for as long as that is sure, which must be some time.
TEST_F(SessionLife, IsSureBehindTheFirstWriteHoweverLongNobodyUsedIt) {
    open();
    for (const duration busy : {10ms, 600ms, 2500ms})
        for (duration idle = 0ms; idle < 12s; idle += 130ms) {
            for (duration spent = 0ms; spent < busy; spent += 100ms) {
                use();
                ASSERT_TRUE(create()->answer);
                use_.reset();
                pass(100ms);
            }
            pass(idle);
            use();
            ASSERT_TRUE(create()->answer);
            ASSERT_GT(left(), granted * 3 / 10)
                << "used for " << busy.count() << " ms, not used for " << idle.count();
            use_.reset();
        }
}

TEST_F(SessionLife, IsClosedWhenNobodyNeedsItForLong) {
    open();
    pass(59s);
    EXPECT_EQ(server_.count(opcode::close_session), 0u);
    pass(1s);
    EXPECT_EQ(server_.count(opcode::close_session), 1u);
    EXPECT_EQ(id(), 0);
    EXPECT_FALSE(server_.last().open);
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u) << "nothing went wrong";
    open();
    EXPECT_NE(id(), 0);
}

TEST_F(SessionLife, AnyWriteProvesAsMuchAsAHeartbeat) {
    open();
    pass(4s);
    EXPECT_EQ(left(), 2000ms - drift);
    create();
    EXPECT_EQ(left(), granted - 3000ms - drift) << "the ping of 1 s counts";
    pass(1s);
    create();
    EXPECT_EQ(left(), granted - 3000ms - drift) << "the ping of 2 s counts";
}

TEST_F(SessionLife, AWriteThatIsRefusedByOneServerProvesNothing) {
    open();
    pass(5s);
    server_.says[opcode::create2] = {-127, ""}; // throttled
    create();
    EXPECT_EQ(left(), granted - 5000ms - drift);
}

TEST_F(SessionLife, GoesOnOverAnotherConnection) {
    use();
    settle();
    const std::int64_t before = id();
    pass(5s);
    lose_connection();
    pass(how_.backoff_max);
    EXPECT_EQ(id(), before);
    EXPECT_EQ(server_.last().greeting->id, before);
    EXPECT_EQ(server_.last().greeting->password, std::string(16, 'p'));
    EXPECT_GT(server_.last().greeting->last_zxid, 100);
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::suspended, session_news::resumed));
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
}

TEST_F(SessionLife, ResumingProvesNothingBeforeAWriteIsAnswered) {
    open();
    pass(5s);
    const time_point believed = session().state().alive_until;
    lose_connection();
    pass(500ms);
    open(); // by a read
    EXPECT_EQ(news_.back(), session_news::resumed);
    EXPECT_EQ(session().state().alive_until, believed);
    create();
    EXPECT_EQ(left(), granted - drift);
}

TEST_F(SessionLife, ThatIsNotKnownAnyMoreIsLost) {
    use();
    settle();
    const std::int64_t before = id();
    server_.sessions.clear();
    lose_connection();
    pass(how_.backoff_max);
    EXPECT_NE(id(), before);
    EXPECT_NE(id(), 0);
    EXPECT_THAT(news_, ElementsAre(session_news::opened, session_news::suspended,
                                   session_news::ended, session_news::opened));
}

// As ClickHouse Keeper does.
TEST_F(SessionLife, AChangedSessionIdIsLoss) {
    use();
    settle();
    std::string another;
    zookeeper::jute_writer{another}.number(0).number(6000).long_number(99).text("pw").flag(false);
    server_.welcomes_with = [&](const zookeeper::greeting& said) {
        return said.id ? std::optional{another} : std::nullopt;
    };
    lose_connection();
    pass(how_.backoff_max);
    EXPECT_THAT(news_, ElementsAre(session_news::opened, session_news::suspended,
                                   session_news::ended, session_news::opened));
    EXPECT_NE(id(), 99);
    EXPECT_EQ(server_.last().greeting->id, 0)
        << "nobody goes on in a session that was not asked for";
}

TEST_F(SessionLife, AnAnswerThatItHasExpiredIsLoss) {
    open();
    server_.says[opcode::get_children] = {-112, ""};
    const auto listed = list();
    EXPECT_EQ(listed->code, errc::unreachable);
    EXPECT_EQ(id(), 0);
    server_.says.clear();
    pass(how_.backoff_max);
    open();
    EXPECT_THAT(news_,
                ElementsAre(session_news::opened, session_news::ended, session_news::opened));
}

TEST_F(SessionLife, ADigestIsSentAgainAfterReconnect) {
    how_.user = "app";
    how_.password = "secret";
    open();
    lose_connection();
    pass(how_.backoff_max);
    open();
    ASSERT_EQ(server_.visits.size(), 2u);
    for (const auto& visit : server_.visits) {
        ASSERT_FALSE(visit->requests.empty());
        EXPECT_EQ(visit->requests.front().what, opcode::authenticate) << "before anything else";
        EXPECT_THAT(visit->requests.front().body, HasSubstr("app:secret"));
    }
}

TEST_F(SessionLife, CredentialsAreAskedForAtEachConnection) {
    int asked = 0;
    how_.credentials = [&] { return credentials{"app", std::to_string(++asked)}; };
    open();
    lose_connection();
    pass(how_.backoff_max);
    open();
    EXPECT_THAT(server_.last().requests.front().body, HasSubstr("app:2"));
}

TEST_F(SessionLife, ALoginThatIsRefusedIsToldToWhoAsks) {
    how_.user = "app";
    how_.password = "wrong";
    server_.login_error = -115;
    const auto listed = list();
    EXPECT_EQ(listed->code, store_errc::not_authenticated);
    EXPECT_EQ(server_.count(opcode::get_children), 0u);
}

TEST_F(SessionLife, ASilentServerIsLeftInTime) {
    use();
    settle();
    server_.answers = false;
    pass(5s);
    EXPECT_GE(server_.visits.size(), 2u);
    EXPECT_THAT(told_.last(event_kind::disconnected).value().text,
                HasSubstr("did not answer within"));
}

TEST_F(SessionLife, AServerThatAnswersReadsButNoWritesIsLeft) {
    use();
    settle();
    const time_point believed = session().state().alive_until;
    server_.answers_writes = false;
    for (int i = 0; i < 20; ++i) {
        list();
        pass(100ms);
    }
    EXPECT_EQ(session().state().alive_until, believed);
    pass(2s);
    EXPECT_GE(server_.visits.size(), 2u);
}

TEST_F(SessionLife, EndsByOurOwnClockWhenNobodyAnswersAnyMore) {
    use();
    settle();
    pass(10s);
    const time_point end = session().state().alive_until;
    server_.stop();
    clock_.run_until(end - 1ms);
    EXPECT_NE(id(), 0);
    EXPECT_EQ(news_.back(), session_news::suspended);
    clock_.run_until(end);
    EXPECT_EQ(id(), 0);
    EXPECT_EQ(news_.back(), session_news::ended);
}

TEST_F(SessionLife, WhatOurClockHasEndedIsClosedBeforeAnotherIsOpened) {
    use();
    settle();
    pass(10s);
    const std::int64_t before = id();
    server_.stop();
    pass(4s);
    ASSERT_EQ(news_.back(), session_news::ended);
    const std::size_t visits = server_.visits.size();
    server_.start(); // which has not ended it
    pass(how_.backoff_max);
    ASSERT_EQ(server_.visits.size(), visits + 2);
    EXPECT_EQ(server_.visits[visits]->greeting->id, before);
    EXPECT_EQ(server_.visits[visits]->greeting->last_zxid, 0);
    EXPECT_EQ(server_.visits[visits]->requests.front().what, opcode::close_session)
        << "else its nodes stay, and everybody waits behind them";
    EXPECT_EQ(server_.last().greeting->id, 0);
    EXPECT_EQ(news_.back(), session_news::opened);
}

TEST_F(SessionLife, ThatIsLongGoneIsNotResumed) {
    open();
    server_.stop();
    pass(12s);
    server_.start(); // without what it had, so that it would refuse our last number
    open();
    EXPECT_EQ(server_.last().greeting->id, 0);
    EXPECT_EQ(server_.last().greeting->last_zxid, 0);
}

} // namespace
} // namespace holdfast
