// SPDX-License-Identifier: Apache-2.0
// A blocking connection, on which the calling thread itself writes and reads.
#include "blocking_connection_fixture.hpp"
#include "node_fixture.hpp"
#include "redis/client/blocking_connections.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <optional>
#include <thread>

#include <linux/sockios.h>
#include <sys/ioctl.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

class BlockingConnection : public on_lane {};

TEST_F(BlockingConnection, AsksAndReadsTheAnswer) {
    say(":7\r\n");
    EXPECT_EQ(ask().integer, 7);
    EXPECT_TRUE(heard().starts_with("*4\r\n$7\r\nEVALSHA\r\n"));
    EXPECT_TRUE(line_->alive());
}

TEST_F(BlockingConnection, SendsTheTextOfAScriptThatTheServerDoesNotKnow) {
    say("-NOSCRIPT No matching script.\r\n");
    std::thread server = answering("$4\r\nEVAL\r\n", ":1\r\n");
    EXPECT_EQ(failure_of_asking(), error_code{});
    server.join();
}

TEST_F(BlockingConnection, AnErrorIsTheServersOwnAndNoHarmToTheLane) {
    say("-OOM command not allowed\r\n");
    EXPECT_EQ(failure_of_asking(), store_errc::out_of_memory);
    EXPECT_FALSE(line_->broken());
    say(":1\r\n");
    EXPECT_EQ(ask().integer, 1);
}

TEST_F(BlockingConnection, WithoutAnAnswerInTimeNobodyKnowsAndTheLaneIsOfNoMoreUse) {
    open(10ms);
    EXPECT_EQ(failure_of_asking(), errc::outcome_unknown);
    EXPECT_TRUE(line_->broken());
}

TEST_F(BlockingConnection, AServerThatHangsUpLeavesNobodyKnowing) {
    ::shutdown(server_end_, SHUT_WR);
    EXPECT_FALSE(line_->alive());
    EXPECT_EQ(failure_of_asking(), errc::outcome_unknown);
    EXPECT_TRUE(line_->broken());
}

TEST_F(BlockingConnection, AnEarlierAnswerIsNoAnswerToWhatCouldNotBeSent) {
    say(":1\r\n");
    EXPECT_EQ(ask().integer, 1);
    ::shutdown(server_end_, SHUT_RDWR);
    EXPECT_EQ(failure_of_asking(), errc::outcome_unknown);
}

TEST_F(BlockingConnection, AnswersThatAreOwedComeInTheOrderOfSending) {
    owed first{*this}, second{*this};
    say(":1\r\n:2\r\n:3\r\n");
    EXPECT_EQ(ask().integer, 3);
    EXPECT_EQ(first.asked.take_answer().integer, 1);
    EXPECT_EQ(second.asked.take_answer().integer, 2);
}

TEST_F(BlockingConnection, AnAnswerThatIsOwedIsReadByWhoAsksNext) {
    owed first{*this};
    EXPECT_TRUE(line_->owes());
    say(":1\r\n:2\r\n");
    EXPECT_TRUE(line_->alive());
    EXPECT_EQ(ask().integer, 2);
    EXPECT_TRUE(first.resumed);
    EXPECT_EQ(first.asked.take_answer().integer, 1);
    EXPECT_FALSE(line_->owes());
}

TEST_F(BlockingConnection, AnAnswerThatIsOwedIsCollectedWhenNobodyAsks) {
    say(":0\r\n");
    EXPECT_EQ(ask().integer, 0);
    owed first{*this};
    line_->collect();
    EXPECT_FALSE(first.resumed);
    EXPECT_FALSE(line_->broken()) << "the answer of before is nothing that nobody asked for";
    say(":1\r\n");
    line_->collect();
    EXPECT_TRUE(first.resumed);
    EXPECT_FALSE(line_->broken());
}

TEST_F(BlockingConnection, WhoIsOwedAnAnswerHearsThatTheLaneEnded) {
    owed first{*this};
    ::shutdown(server_end_, SHUT_WR);
    line_->collect();
    EXPECT_TRUE(line_->broken());
    close();
    EXPECT_FALSE(first.resumed) << "within the end of the connection";
    settle();
    ASSERT_TRUE(first.resumed);
    EXPECT_THROW((void)first.asked.take_answer(), net::failure);
}

TEST_F(BlockingConnection, WhatIsNotTheProtocolBreaksIt) {
    say("GET / HTTP/1.1\r\n");
    EXPECT_FALSE(line_->alive()) << "it speaks unasked";
    EXPECT_EQ(failure_of_asking(), store_errc::protocol);
    EXPECT_TRUE(line_->broken());
}

TEST_F(BlockingConnection, AServerThatWasDemotedIsLeftByAllConnections) {
    std::string why;
    known_->leave_server = [&](const net::failure& told) { why = told.text(); };
    say("-READONLY You can't write against a read only replica.\r\n");
    EXPECT_EQ(failure_of_asking(), store_errc::read_only);
    EXPECT_THAT(why, ::testing::HasSubstr("READONLY"));
    why.clear();
    owed first{*this};
    say("-MASTERDOWN Link with MASTER is down\r\n");
    line_->collect();
    EXPECT_TRUE(first.resumed);
    EXPECT_THAT(why, ::testing::HasSubstr("MASTERDOWN"));
}

TEST_F(BlockingConnection, HasTheClockOfItsOwnServer) {
    say(":7\r\n");
    const reply said = ask();
    EXPECT_EQ(said.clock, server_clock_);
    EXPECT_TRUE(line_->gave(said));
    EXPECT_FALSE(line_->gave(reply{}));
}

TEST_F(BlockingConnection, BelievesNothingMoreOnceItIsCondemned) {
    owed first{*this};
    say(":1\r\n:7\r\n");
    line_->condemn({errc::outcome_unknown, "it was lost"});
    EXPECT_FALSE(line_->alive());
    EXPECT_EQ(failure_of_asking(), errc::outcome_unknown);
    EXPECT_TRUE(line_->broken());
    close();
    settle();
    ASSERT_TRUE(first.resumed);
    EXPECT_THROW((void)first.asked.take_answer(), net::failure);
}

// Between its answer's arrival and the moment at which the thread that waited for it is back
// inside.
TEST_F(BlockingConnection, WhatHadArrivedWhenItWasCondemnedIsNotBelievedEither) {
    owed first{*this};
    (void)heard();
    error_code told;
    std::thread asks{[&] { told = failure_of_asking(); }};
    pollfd question{.fd = server_end_, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&question, 1, 10'000), 1);
    {
        const runtime::inline_call here{entrance_};
        say(":1\r\n:7\r\n");
        const auto unread = [this] {
            int bytes = 0;
            EXPECT_EQ(::ioctl(server_end_, SIOCOUTQ, &bytes), 0);
            return bytes;
        };
        EXPECT_TRUE(support::eventually([&] { return unread() == 0; }));
        line_->condemn({errc::outcome_unknown, "it was lost"});
    }
    asks.join();
    EXPECT_EQ(told, errc::outcome_unknown);
    EXPECT_FALSE(first.resumed) << "with an answer that belongs to nobody knows whom";
    close();
    settle();
    ASSERT_TRUE(first.resumed);
    EXPECT_THROW((void)first.asked.take_answer(), net::failure);
}

TEST_F(BlockingConnection, WhoWaitsIsNotKeptWaitingWhenItIsCondemned) {
    std::string told;
    std::thread asks{[&] { told = words_of_failure(time_point::max()); }};
    pollfd question{.fd = server_end_, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&question, 1, 10'000), 1);
    {
        const runtime::inline_call here{entrance_};
        line_->condemn({errc::outcome_unknown, "it was lost"});
    }
    asks.join();
    EXPECT_THAT(told, ::testing::HasSubstr("lost")) << "and not after the usual time";
}

TEST_F(BlockingConnection, AnAnswerTooManyBreaksIt) {
    owed first{*this};
    say(":1\r\n:2\r\n");
    line_->collect();
    EXPECT_TRUE(first.resumed);
    EXPECT_TRUE(line_->broken());
}

TEST_F(BlockingConnection, WhatCannotBeSentBreaksIt) {
    ::shutdown(server_end_, SHUT_RDWR);
    const owed first{*this};
    EXPECT_TRUE(line_->broken());
    close();
    settle();
    EXPECT_TRUE(first.resumed);
}

TEST_F(BlockingConnection, AnAnswerThatIsOwedForTooLongBreaksIt) {
    owed first{*this};
    pass(10s - 1ms);
    line_->collect();
    EXPECT_FALSE(line_->broken());
    pass(1ms);
    line_->collect();
    EXPECT_TRUE(line_->broken());
    close();
    settle();
}

TEST_F(BlockingConnection, WaitsNoLongerThanTheRequestsOwnLimit) {
    EXPECT_THAT(words_of_failure(clock_.now() + 10ms), ::testing::HasSubstr("within 10 ms"));
    EXPECT_THAT(words_of_failure(clock_.now()), ::testing::HasSubstr("not sent"));
    open(10ms);
    EXPECT_THAT(words_of_failure(clock_.now() + 1s), ::testing::HasSubstr("within 10 ms"));
}

// All blocking connections of a client: made, lent and closed.

class BlockingConnections : public on_fake_server {
protected:
    BlockingConnections() { entrance_.welcome(1); }
    ~BlockingConnections() override { all()->close(); }

    const std::shared_ptr<blocking_connections>& all() {
        if (!all_) {
            const auto known = std::make_shared<node_context>(how_, context());
            if (others_know_)
                known->in_trouble = [this] { ++questions_; };
            all_ = std::make_shared<blocking_connections>(known);
        }
        return all_;
    }
    bool wish() {
        const blocking_connections::borrowed_connection mine{*all()};
        settle();
        return static_cast<bool>(mine);
    }
    std::size_t connections() const {
        return static_cast<std::size_t>(std::count_if(server_.sessions.begin(),
                                                      server_.sessions.end(),
                                                      [](const auto& each) { return each->open; }));
    }
    void wish_until_there_is_one() {
        for (int i = 0; i < 10 && !wish(); ++i) {
        }
    }

    /// A request that was sent there, and whose answer somebody reads later.
    struct owed {
        owed(BlockingConnections& by, const blocking_connections::borrowed_connection& where) {
            request::waiter{[this] { resumed = true; }}.swap(asked.resume);
            runtime::inline_call here{by.entrance_};
            where->send_off(here, asked);
        }
        const std::string_view keys[1] = {"k"};
        request asked{holdfast::script, keys, {}};
        bool resumed = false;
    };

    runtime::monitor entrance_{io_};
    bool others_know_ = false; ///< which server it is
    int questions_ = 0;        ///< to them

private:
    std::shared_ptr<blocking_connections> all_;
};

TEST_F(BlockingConnections, OneIsMadeForWhoAsksAgainAndAgain) {
    EXPECT_FALSE(wish());
    EXPECT_EQ(connections(), 0u) << "for one call there is the shared connection";
    wish_until_there_is_one();
    EXPECT_EQ(connections(), 1u);
    EXPECT_TRUE(wish());
}

TEST_F(BlockingConnections, OneIsLentToOneCallAtATime) {
    wish_until_there_is_one();
    const blocking_connections::borrowed_connection mine{*all()};
    EXPECT_TRUE(mine);
    EXPECT_FALSE(wish());
}

TEST_F(BlockingConnections, ThereAreAsManyAsAllowed) {
    how_.blocking_connections_max = 1;
    wish_until_there_is_one();
    const blocking_connections::borrowed_connection mine{*all()};
    for (int i = 0; i < 20; ++i)
        EXPECT_FALSE(wish());
    EXPECT_EQ(connections(), 1u);
}

TEST_F(BlockingConnections, WhatNobodyUsesForTenSecondsIsClosed) {
    wish_until_there_is_one();
    pass(9s);
    ASSERT_TRUE(wish());
    pass(9s);
    EXPECT_EQ(connections(), 1u) << "used since";
    pass(20s);
    EXPECT_EQ(connections(), 0u);
}

TEST_F(BlockingConnections, ThoseToAServerThatWasLeftEndAsSoonAsNobodyUsesThem) {
    how_.blocking_connections_max = 2;
    wish_until_there_is_one();
    {
        const blocking_connections::borrowed_connection mine{*all()};
        wish_until_there_is_one();
        ASSERT_EQ(connections(), 2u);
        all()->cut({store_errc::read_only, "READONLY"});
        settle();
        EXPECT_EQ(connections(), 1u);
    }
    settle();
    EXPECT_EQ(connections(), 0u);
}

TEST_F(BlockingConnections, WhileOneIsNotAnsweredForAQuarterOfTheTimeOthersAreAsked) {
    others_know_ = true;
    wish_until_there_is_one();
    {
        const blocking_connections::borrowed_connection mine{*all()};
        pass(749ms);
        EXPECT_EQ(questions_, 0);
        pass(1ms);
        EXPECT_EQ(questions_, 1);
        pass(249ms);
        EXPECT_EQ(questions_, 1);
        pass(1ms);
        EXPECT_EQ(questions_, 2) << "from then on more often";
    }
    pass(5s);
    EXPECT_EQ(questions_, 2);
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(wish());
        pass(600ms);
    }
    EXPECT_EQ(questions_, 2) << "each was answered in time";
}

TEST_F(BlockingConnections, WhileOneOwesAnAnswerForThatLongOthersAreAsked) {
    others_know_ = true;
    wish_until_there_is_one();
    server_.says.erase("EVALSHA");
    std::optional<blocking_connections::borrowed_connection> mine{*all()};
    owed sent{*this, *mine};
    mine.reset();
    all()->collect_soon();
    pass(750ms);
    EXPECT_EQ(questions_, 1);
    pass(3s);
    EXPECT_TRUE(sent.resumed);
    const int by_then = questions_;
    pass(3s);
    EXPECT_EQ(questions_, by_then);
}

TEST_F(BlockingConnections, OneThatIsLentForLongIsNotIdle) {
    wish_until_there_is_one();
    const blocking_connections::borrowed_connection mine{*all()};
    pass(1min);
    EXPECT_EQ(connections(), 1u);
    EXPECT_TRUE(mine->alive());
}

TEST_F(BlockingConnections, OneIsEnoughForOneCallAfterAnother) {
    how_.blocking_connections_max = 2;
    wish_until_there_is_one();
    {
        const blocking_connections::borrowed_connection mine{*all()};
        wish_until_there_is_one();
    }
    ASSERT_EQ(connections(), 2u);
    for (int i = 0; i < 30; ++i) {
        EXPECT_TRUE(wish());
        pass(1s);
    }
    EXPECT_EQ(connections(), 1u) << "the other one was idle";
}

TEST_F(BlockingConnections, OneThatTheServerClosedIsNotLentAndAnotherIsMade) {
    wish_until_there_is_one();
    server_.drop_connections();
    settle();
    EXPECT_FALSE(wish());
    wish_until_there_is_one();
    EXPECT_EQ(connections(), 1u);
}

TEST_F(BlockingConnections, OneThatWasLeftIsNotLentEvenAMomentLater) {
    wish_until_there_is_one();
    all()->cut({store_errc::read_only, "READONLY"});
    const blocking_connections::borrowed_connection mine{*all()};
    EXPECT_FALSE(mine);
}

TEST_F(BlockingConnections, OneThatIsBeingMadeEndsWithTheServerThatIsLeft) {
    server_.says.erase("ROLE");
    for (int i = 0; i < 20; ++i)
        EXPECT_FALSE(wish());
    EXPECT_EQ(connections(), 1u) << "one at a time";
    all()->cut({store_errc::read_only, "READONLY"});
    settle();
    EXPECT_EQ(connections(), 0u);
}

TEST_F(BlockingConnections, OneThatIsBeingMadeEndsWithTheClient) {
    server_.says.erase("ROLE");
    while (connections() == 0)
        (void)wish();
    all()->close();
    settle();
    EXPECT_EQ(connections(), 0u);
}

TEST_F(BlockingConnections, WhoWaitsAtOneIsNotKeptWaitingByTheEndOfTheClient) {
    server_.says.erase("EVALSHA");
    wish_until_there_is_one();
    const blocking_connections::borrowed_connection mine{*all()};
    std::string told;
    std::thread asks{[&] {
        const std::string_view keys[] = {"k"};
        request one{holdfast::script, keys, {}};
        runtime::inline_call here{entrance_};
        try {
            (void)mine->ask(here, one);
        } catch (const boost::system::system_error& why) {
            told = why.what();
        }
    }};
    EXPECT_TRUE(support::eventually([this] {
        io_.restart();
        io_.poll(); // the clock is read over there
        return !server_.last().asked.empty();
    }));
    {
        const runtime::inline_call here{entrance_};
        all()->close();
    }
    asks.join();
    EXPECT_THAT(told, ::testing::HasSubstr("lost")) << "and not after the usual time";
}

TEST_F(BlockingConnections, OneThatIsBrokenIsClosedAsSoonAsItIsGivenBack) {
    wish_until_there_is_one();
    {
        const blocking_connections::borrowed_connection mine{*all()};
        ASSERT_TRUE(mine);
        server_.last().send("HTTP/1.1 400 Bad Request\r\n");
        mine->collect();
    }
    settle();
    EXPECT_EQ(connections(), 0u);
}

TEST_F(BlockingConnections, AServerThatRefusesThemIsNotStormed) {
    server_.says["CLIENT"] = "-ERR max number of clients reached\r\n";
    for (int i = 0; i < 6'000; ++i) {
        EXPECT_FALSE(wish());
        pass(10ms);
    }
    EXPECT_GT(server_.sessions.size(), 25u);
    EXPECT_LT(server_.sessions.size(), 150u);
}

TEST_F(BlockingConnections, WhatOneOwesIsNotCollectedWhileItIsLent) {
    wish_until_there_is_one();
    std::optional<blocking_connections::borrowed_connection> mine{std::in_place, *all()};
    const owed sent{*this, *mine};
    all()->collect_soon();
    pass(10ms);
    EXPECT_FALSE(sent.resumed) << "another thread may be reading there";
    mine.reset();
    pass(1ms);
    EXPECT_TRUE(sent.resumed);
}

TEST_F(BlockingConnections, OneWhoseAnswerMadeNoSenseIsCondemnedAndNoOther) {
    how_.blocking_connections_max = 2;
    wish_until_there_is_one();
    std::optional<blocking_connections::borrowed_connection> mine{std::in_place, *all()};
    wish_until_there_is_one();
    ASSERT_EQ(connections(), 2u);
    owed sent{*this, *mine};
    settle();
    (*mine)->collect();
    ASSERT_TRUE(sent.resumed);
    all()->distrust(sent.asked.take_answer());
    settle();
    EXPECT_FALSE((*mine)->alive());
    EXPECT_EQ(connections(), 1u) << "at once, though it is lent";
    mine.reset();
    EXPECT_TRUE(wish());
}

} // namespace
} // namespace holdfast::redis
