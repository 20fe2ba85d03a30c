// SPDX-License-Identifier: Apache-2.0
// Whom of the Sentinels a client asks and hears, and when.
#include "sentinel_fixture.hpp"
#include "support/eventually.hpp"
#include "support/host_names.hpp"

#include <utility>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SentinelWatch : public on_fake_sentinels {};

TEST_F(SentinelWatch, AsksAllAtOnceWhenAConnectionIsWantedAndNotBefore) {
    node();
    pass(1min);
    EXPECT_EQ(questions(0) + questions(1) + questions(2), 0u);
    EXPECT_EQ(ask()->answer.integer, 1);
    for (const std::size_t each : {0u, 1u, 2u})
        EXPECT_EQ(questions(each), 1u);
    EXPECT_EQ(old_.count_asked("EVALSHA"), 1u);
    EXPECT_EQ(told_.count(event_kind::moved), 0u) << "it has only been found";
}

TEST_F(SentinelWatch, DoesNotWaitForOneThatIsSilent) {
    sentinel(1).improvises = nullptr;
    const asked one = ask();
    EXPECT_FALSE(one->done) << "it might know better";
    pass(300ms);
    EXPECT_EQ(one->answer.integer, 1);
}

TEST_F(SentinelWatch, DoesNotWaitForOneThatIsNotThere) {
    sentinel(0).stop();
    EXPECT_EQ(ask()->answer.integer, 1);
}

TEST_F(SentinelWatch, AsksAgainAndAgainUntilOneAnswers) {
    for (const auto& each : sentinels_)
        each->stop();
    const asked one = ask();
    pass(1s);
    EXPECT_FALSE(one->done);
    sentinel(2).start();
    pass(1s);
    EXPECT_EQ(one->answer.integer, 1);
}

TEST_F(SentinelWatch, SaysWhatIsWrongWithEachOfThem) {
    sentinel(0).stop();
    sentinel(1).says["SENTINEL"] = "-NOAUTH Authentication required.\r\n";
    sentinel(2).says["SENTINEL"] = "+what\r\n";
    const asked one = ask();
    pass(how_.command_timeout);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, AllOf(HasSubstr("no Sentinel answers"), HasSubstr("refused"),
                                 HasSubstr("NOAUTH"), HasSubstr("tells of no host")));
}

TEST_F(SentinelWatch, SaysThatNoneKnowsTheService) {
    views_.fill({});
    const asked one = ask();
    pass(how_.command_timeout);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, AllOf(HasSubstr("the Sentinels know no service 'locks'"),
                                 HasSubstr("SENTINEL MASTERS")));
    appoint(old_, 1);
    const asked later = ask();
    pass(1s);
    EXPECT_EQ(later->answer.integer, 1) << "somebody has told them meanwhile";
}

TEST_F(SentinelWatch, SurvivesWhatMakesNoSense) {
    sentinel(0).says["SENTINEL"] = "HTTP/1.1 400 Bad Request\r\n";
    sentinel(1).says["SENTINEL"] = "*2\r\n$3\r\n???\r\n$1\r\n0\r\n";
    EXPECT_EQ(ask()->answer.integer, 1);
}

TEST_F(SentinelWatch, AsksNowAndThenWithoutTrouble) {
    ask();
    pass(1s);
    for (int i = 0; i < 3; ++i) {
        const duration pause = until_asked_again(0, 20s);
        EXPECT_GE(pause, 7s) << "10,000 clients would be felt";
        EXPECT_LE(pause, 10s);
    }
}

TEST_F(SentinelWatch, AsksSeveralTimesASecondWhileTheServerIsAway) {
    ask();
    pass(2s);
    old_.stop();
    ask();
    until_asked_again(0, 1s);
    for (int i = 0; i < 10; ++i) {
        const duration pause = until_asked_again(0, 1s);
        EXPECT_GE(pause, 90ms);
        EXPECT_LE(pause, 260ms);
        ask(); // or nobody would want to know
    }
}

TEST_F(SentinelWatch, ListensToTwoOfThem) {
    ask();
    pass(1s);
    EXPECT_EQ(listened_to(), 2u);
}

TEST_F(SentinelWatch, ListensToAnotherWhereOneIsLost) {
    ask();
    pass(1s);
    std::size_t lost = 0;
    while (!std::ranges::any_of(sentinel(lost).sessions,
                                [](const auto& one) { return one->open && listens(*one); }))
        ++lost;
    sentinel(lost).stop();
    pass(2s);
    EXPECT_EQ(listened_to(), 2u) << "of those that are left";
}

TEST_F(SentinelWatch, LeavesAListenedOneThatFellSilent) {
    ask();
    pass(1s);
    std::vector<std::shared_ptr<fake_server::session>> heard;
    for (const auto& each : sentinels_)
        for (const auto& one : each->sessions)
            if (one->open && listens(*one)) {
                one->muted = true;
                heard.push_back(one);
            }
    ASSERT_EQ(heard.size(), 2u);
    pass(15s);
    EXPECT_TRUE(heard[0]->open) << "an idle one is asked first";
    pass(10s);
    EXPECT_FALSE(heard[0]->open);
    EXPECT_FALSE(heard[1]->open);
    EXPECT_EQ(listened_to(), 2u);
}

TEST_F(SentinelWatch, GoesWhereNewsLeadsAndAsksWhetherTheOthersKnowMore) {
    ask();
    pass(2s);
    appoint(new_, 1);
    const std::size_t before = questions(0);
    for (const std::size_t each : {0u, 1u, 2u})
        tell_switch(each, old_, new_);
    EXPECT_EQ(told_.count(event_kind::moved), 1u) << "once, whoever tells it";
    EXPECT_THAT(told_.last(event_kind::moved)->name, HasSubstr(std::to_string(new_.port())));
    EXPECT_EQ(ask()->answer.integer, 1);
    EXPECT_EQ(new_.count_asked("EVALSHA"), 1u);
    pass(300ms);
    EXPECT_GT(questions(0), before);
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
}

TEST_F(SentinelWatch, NewsOfAnotherServiceOrOfNoSenseIsNone) {
    ask();
    pass(2s);
    const std::string to = "127.0.0.1 " + std::to_string(new_.port());
    for (const std::string& text : {"other 127.0.0.1 " + std::to_string(old_.port()) + " " + to,
                                    std::string{"locks"}, "locks 127.0.0.1 x " + to, std::string{}})
        for (const auto& each : sentinels_)
            for (const auto& one : each->sessions)
                if (one->open && listens(*one))
                    one->send("*3\r\n" + bulk("message") + bulk("+switch-master") + bulk(text));
    pass(1s);
    EXPECT_EQ(told_.count(event_kind::moved), 0u);
    EXPECT_EQ(listened_to(), 2u);
}

TEST_F(SentinelWatch, WhatIsUnderWayEndsAtOnceWhenAnotherIsAppointed) {
    ask();
    pass(2s);
    old_.says.erase("EVALSHA"); // it hangs
    const asked one = ask();
    appoint(new_, 1);
    tell_switch(0, old_, new_);
    tell_switch(1, old_, new_);
    tell_switch(2, old_, new_);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_THAT(one->text, AllOf(HasSubstr("is the primary now"), HasSubstr("a Sentinel said")));
    EXPECT_EQ(ask()->answer.integer, 1);
}

TEST_F(SentinelWatch, AServerThatRefusesToWriteIsLeftForTheOneThatIsAppointed) {
    ask();
    demote(old_);
    appoint(new_, 1);
    const asked one = ask();
    pass(1s);
    EXPECT_EQ(one->answer.integer, 1) << "it was not carried out there, and so it was asked here";
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_THAT(told_.last(event_kind::moved)->text, HasSubstr("the Sentinels"));
}

TEST_F(SentinelWatch, AReplicaThatTheyNameIsNotAskedForLocks) {
    demote(old_);
    const asked one = ask();
    pass(how_.command_timeout);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, HasSubstr("replica"));
    EXPECT_EQ(old_.count_asked("EVALSHA"), 0u);
}

TEST_F(SentinelWatch, LocksGoOnWhereAllSentinelsAreLost) {
    ask();
    for (const auto& each : sentinels_)
        each->stop();
    for (int i = 0; i < 10; ++i) {
        pass(5s);
        EXPECT_EQ(ask()->answer.integer, 1);
    }
    old_.drop_connections();
    const asked one = ask();
    pass(1s);
    EXPECT_EQ(one->answer.integer, 1) << "it is where it was";
}

TEST_F(SentinelWatch, TheEndOfTheClientEndsAllThatIsAsked) {
    for (const auto& each : sentinels_)
        each->improvises = nullptr;
    const asked one = ask();
    close();
    settle();
    EXPECT_EQ(one->code, errc::closed);
    EXPECT_EQ(clock_.sleepers(), 0u);
}

// Sentinels that know less than others.

class SentinelsDiffer : public on_fake_sentinels {
protected:
    void switch_over() {
        ask();
        pass(2s);
        appoint(new_, 1);
        for (const std::size_t each : {0u, 1u, 2u})
            tell_switch(each, old_, new_);
        pass(2s);
        ASSERT_EQ(told_.count(event_kind::moved), 1u);
    }
    bool asks_new() {
        const std::size_t before = new_.count_asked("EVALSHA");
        const asked one = ask();
        pass(1s);
        return one->answer.integer == 1 && new_.count_asked("EVALSHA") == before + 1;
    }
};

TEST_F(SentinelsDiffer, TheNewestEpochIsBelievedThoughFewerNameIt) {
    views_ = {view{old_.port(), 1}, view{old_.port(), 1}, view{new_.port(), 2}};
    EXPECT_TRUE(asks_new());
}

TEST_F(SentinelsDiffer, OneThatIsCutOffFromTheOthersLeadsNobodyBack) {
    switch_over();
    views_[0] = {old_.port(), 0};
    sentinel(1).stop();
    sentinel(2).stop(); // it is the only one that answers
    pass(1min);
    EXPECT_TRUE(asks_new());
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
}

TEST_F(SentinelsDiffer, MostThatTellNoEpochLeadNobodyBackBeforeTheyHaveAgreedForAWhile) {
    views_.fill({old_.port(), std::nullopt});
    ask();
    pass(2s);
    views_.fill({new_.port(), std::nullopt});
    for (const std::size_t each : {0u, 1u, 2u})
        tell_switch(each, old_, new_);
    views_[0] = views_[1] = {old_.port(), std::nullopt}; // they have not heard of it yet
    new_.drop_connections();                             // which has them asked
    pass(5s);
    EXPECT_TRUE(asks_new());
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    pass(30s);
    EXPECT_EQ(told_.count(event_kind::moved), 2u) << "they insist";
}

TEST_F(SentinelsDiffer, AllThatWereSetUpAnewAreBelievedAfterAWhile) {
    appoint(old_, 7);
    ask();
    appoint(new_, 0);
    pass(5s);
    EXPECT_EQ(told_.count(event_kind::moved), 0u);
    pass(30s);
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_TRUE(asks_new());
}

TEST_F(SentinelsDiffer, OneThatAnswersLateIsHeardTheNextTime) {
    ask();
    pass(2s);
    appoint(old_, 0);
    views_[2] = {new_.port(), 1};
    demote(old_);
    const auto knowledge = std::exchange(sentinel(2).improvises, nullptr);
    const asked one = ask();
    pass(1s);
    EXPECT_FALSE(one->done);
    sentinel(2).improvises = knowledge;
    pass(1s);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(new_.count_asked("EVALSHA"), 1u);
}

TEST_F(SentinelsDiffer, OfOneNameAreAllAsked) {
    const std::string name = "sentinels.test";
    const std::uint16_t port = sentinel(0).port();
    fake_server newer{io_, fake_server::place{"127.0.0.2", port}};
    newer.improvises = [this](const fake_server::words& said) -> std::optional<std::string> {
        if (said[0] != "SENTINEL")
            return std::nullopt;
        return answer_as({new_.port(), 3}, said);
    };
    support::set_addresses(name, {"127.0.0.1", "127.0.0.2"});
    how_.sentinel->addresses = {{name, port}};
    const asked one = ask();
    ASSERT_TRUE(support::eventually([&] { // another thread looks names up
        settle();
        return one->done;
    }));
    EXPECT_EQ(new_.count_asked("EVALSHA"), 1u);
    EXPECT_EQ(questions(0), 1u);
    close();
    newer.stop();
    settle();
}

} // namespace
} // namespace holdfast
