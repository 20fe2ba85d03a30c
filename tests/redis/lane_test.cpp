// SPDX-License-Identifier: Apache-2.0
// A lane: the calling thread itself writes and reads.
#include "lane_fixture.hpp"
#include "support/eventually.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

class Lane : public on_lane {};

TEST_F(Lane, AsksAndReadsTheAnswer) {
    say(":7\r\n");
    EXPECT_EQ(ask().integer, 7);
    EXPECT_TRUE(heard().starts_with("*4\r\n$7\r\nEVALSHA\r\n"));
    EXPECT_TRUE(line_->alive());
}

TEST_F(Lane, SendsTheTextOfAScriptThatTheServerDoesNotKnow) {
    say("-NOSCRIPT No matching script.\r\n");
    std::thread server = answering("$4\r\nEVAL\r\n", ":1\r\n");
    EXPECT_EQ(failure_of_asking(), error_code{});
    server.join();
}

TEST_F(Lane, AnErrorIsTheServersOwnAndNoHarmToTheLane) {
    say("-OOM command not allowed\r\n");
    EXPECT_EQ(failure_of_asking(), store_errc::out_of_memory);
    EXPECT_FALSE(line_->broken());
    say(":1\r\n");
    EXPECT_EQ(ask().integer, 1);
}

TEST_F(Lane, WithoutAnAnswerInTimeNobodyKnowsAndTheLaneIsOfNoMoreUse) {
    open(10ms);
    EXPECT_EQ(failure_of_asking(), errc::outcome_unknown);
    EXPECT_TRUE(line_->broken());
}

TEST_F(Lane, AServerThatHangsUpLeavesNobodyKnowing) {
    ::shutdown(server_end_, SHUT_WR);
    EXPECT_FALSE(line_->alive());
    EXPECT_EQ(failure_of_asking(), errc::outcome_unknown);
    EXPECT_TRUE(line_->broken());
}

TEST_F(Lane, AnEarlierAnswerIsNoAnswerToWhatCouldNotBeSent) {
    say(":1\r\n");
    EXPECT_EQ(ask().integer, 1);
    ::shutdown(server_end_, SHUT_RDWR);
    EXPECT_EQ(failure_of_asking(), errc::outcome_unknown);
}

TEST_F(Lane, AnswersThatAreOwedComeInTheOrderOfSending) {
    owed first{*this}, second{*this};
    say(":1\r\n:2\r\n:3\r\n");
    EXPECT_EQ(ask().integer, 3);
    EXPECT_EQ(first.asked.take_answer().integer, 1);
    EXPECT_EQ(second.asked.take_answer().integer, 2);
}

TEST_F(Lane, AnAnswerThatIsOwedIsReadByWhoAsksNext) {
    owed first{*this};
    EXPECT_TRUE(line_->owes());
    say(":1\r\n:2\r\n");
    EXPECT_TRUE(line_->alive());
    EXPECT_EQ(ask().integer, 2);
    EXPECT_TRUE(first.resumed);
    EXPECT_EQ(first.asked.take_answer().integer, 1);
    EXPECT_FALSE(line_->owes());
}

TEST_F(Lane, AnAnswerThatIsOwedIsCollectedWhenNobodyAsks) {
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

TEST_F(Lane, WhoIsOwedAnAnswerHearsThatTheLaneEnded) {
    owed first{*this};
    ::shutdown(server_end_, SHUT_WR);
    line_->collect();
    EXPECT_TRUE(line_->broken());
    close();
    EXPECT_FALSE(first.resumed) << "within the end of the lane";
    settle();
    ASSERT_TRUE(first.resumed);
    EXPECT_THROW((void)first.asked.take_answer(), net::failure);
}

TEST_F(Lane, WhatIsNotTheProtocolBreaksIt) {
    say("GET / HTTP/1.1\r\n");
    EXPECT_FALSE(line_->alive()) << "it speaks unasked";
    EXPECT_EQ(failure_of_asking(), store_errc::protocol);
    EXPECT_TRUE(line_->broken());
}

TEST_F(Lane, AServerThatWasDemotedIsLeftByAllConnections) {
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

TEST_F(Lane, HasTheClockOfItsOwnServer) {
    say(":7\r\n");
    const reply said = ask();
    EXPECT_EQ(said.clock, server_clock_);
    EXPECT_TRUE(line_->gave(said));
    EXPECT_FALSE(line_->gave(reply{}));
}

TEST_F(Lane, BelievesNothingMoreOnceItIsCondemned) {
    owed first{*this};
    say(":1\r\n:7\r\n");
    line_->condemn();
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
TEST_F(Lane, WhatHadArrivedWhenItWasCondemnedIsNotBelievedEither) {
    owed first{*this};
    (void)heard();
    error_code told;
    std::thread asks{[&] { told = failure_of_asking(); }};
    pollfd question{.fd = server_end_, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&question, 1, 10'000), 1);
    {
        const runtime::visit here{entrance_};
        say(":1\r\n:7\r\n");
        const auto unread = [this] {
            int bytes = 0;
            EXPECT_EQ(::ioctl(server_end_, SIOCOUTQ, &bytes), 0);
            return bytes;
        };
        EXPECT_TRUE(support::eventually([&] { return unread() == 0; }));
        line_->condemn();
    }
    asks.join();
    EXPECT_EQ(told, errc::outcome_unknown);
    EXPECT_FALSE(first.resumed) << "with an answer that belongs to nobody knows whom";
    close();
    settle();
    ASSERT_TRUE(first.resumed);
    EXPECT_THROW((void)first.asked.take_answer(), net::failure);
}

TEST_F(Lane, WhoWaitsIsNotKeptWaitingWhenItIsCondemned) {
    std::string told;
    std::thread asks{[&] { told = words_of_failure(time_point::max()); }};
    pollfd question{.fd = server_end_, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&question, 1, 10'000), 1);
    {
        const runtime::visit here{entrance_};
        line_->condemn();
    }
    asks.join();
    EXPECT_THAT(told, ::testing::HasSubstr("lost")) << "and not after the usual time";
}

TEST_F(Lane, AnAnswerTooManyBreaksIt) {
    owed first{*this};
    say(":1\r\n:2\r\n");
    line_->collect();
    EXPECT_TRUE(first.resumed);
    EXPECT_TRUE(line_->broken());
}

TEST_F(Lane, WhatCannotBeSentBreaksIt) {
    ::shutdown(server_end_, SHUT_RDWR);
    const owed first{*this};
    EXPECT_TRUE(line_->broken());
    close();
    settle();
    EXPECT_TRUE(first.resumed);
}

TEST_F(Lane, AnAnswerThatIsOwedForTooLongBreaksIt) {
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

TEST_F(Lane, WaitsNoLongerThanTheRequestsOwnLimit) {
    EXPECT_THAT(words_of_failure(clock_.now() + 10ms), ::testing::HasSubstr("within 10 ms"));
    EXPECT_THAT(words_of_failure(clock_.now()), ::testing::HasSubstr("not sent"));
    open(10ms);
    EXPECT_THAT(words_of_failure(clock_.now() + 1s), ::testing::HasSubstr("within 10 ms"));
}

} // namespace
} // namespace holdfast::redis
