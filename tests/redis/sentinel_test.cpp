// SPDX-License-Identifier: Apache-2.0
// Tests of the watch on Sentinels, with fake Sentinels.
#include "node_fixture.hpp"
#include "support/eventually.hpp"
#include "support/host_names.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {

/// A node with three Sentinels and two servers, of which each says what the test says. In simulated
/// time; but Sentinels are reached by TCP, where bytes may travel for a moment: so time goes on
/// when nothing has arrived for a while.
class on_fake_sentinels : public on_fake_server {
protected:
    /// What one of them knows.
    struct view {
        std::uint16_t primary = 0;
        std::optional<int> epoch = 0; ///< nothing: it does not tell
    };

    on_fake_sentinels() {
        how_.unix_socket.clear();
        how_.sentinel.emplace().service = "locks";
        for (std::size_t i = 0; i < sentinels_.size(); ++i) {
            how_.sentinel->addresses.push_back({"127.0.0.1", sentinels_[i]->port()});
            views_[i].primary = old_.port();
            sentinels_[i]->says["PING"] = "+PONG\r\n";
            sentinels_[i]->improvises = [this, i](const fake_server::words& said) {
                return answer_of(i, said);
            };
        }
        for (fake_server* const each : {&old_, &new_})
            each->says["EVALSHA"] = ":1\r\n";
    }
    ~on_fake_sentinels() override {
        close();
        for (const auto& each : sentinels_)
            each->stop();
        old_.stop();
        new_.stop();
        on_fake_sentinels::settle();
    }

    void settle() override {
        do {
            on_fake_server::settle();
            io_.restart();
        } while (io_.run_one_for(std::chrono::milliseconds{5}) != 0);
    }
    void pass(duration length) override {
        const time_point end = clock_.now() + length;
        do
            settle();
        while (clock_.jump_to_next(end));
        clock_.run_until(end);
        settle();
    }

    fake_server& sentinel(std::size_t which) { return *sentinels_.at(which); }

    /// All of them name that one from now on.
    void appoint(const fake_server& primary, std::optional<int> epoch) {
        views_.fill({primary.port(), epoch});
    }
    void demote(fake_server& server) {
        server.says["ROLE"] = "*3\r\n$5\r\nslave\r\n$1\r\nh\r\n:1\r\n";
        server.says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    }

    /// To who listens to that Sentinel.
    void tell_switch(std::size_t which, const fake_server& from, const fake_server& to) {
        const std::string message = "locks 127.0.0.1 " + std::to_string(from.port()) +
                                    " 127.0.0.1 " + std::to_string(to.port());
        for (const auto& each : sentinel(which).sessions)
            if (each->open && listens(*each))
                each->send("*3\r\n" + bulk("message") + bulk("+switch-master") + bulk(message));
        settle();
    }

    static bool listens(const fake_server::session& one) {
        return std::ranges::any_of(one.asked,
                                   [](const auto& words) { return words[0] == "SUBSCRIBE"; });
    }
    /// To how many Sentinels somebody listens.
    std::size_t listened_to() const {
        return static_cast<std::size_t>(std::ranges::count_if(sentinels_, [](const auto& each) {
            return std::ranges::any_of(each->sessions,
                                       [](const auto& one) { return one->open && listens(*one); });
        }));
    }

    /// How often that one was asked where the primary is.
    std::size_t questions(std::size_t which) const {
        std::size_t count = 0;
        for (const auto& each : sentinels_.at(which)->sessions)
            for (const auto& words : each->asked)
                count += words[0] == "SENTINEL" && words[1] == "GET-MASTER-ADDR-BY-NAME";
        return count;
    }
    /// For how long nobody asks it more often than so.
    duration until_asked_again(std::size_t which, duration most) {
        const std::size_t before = questions(which);
        const time_point began = clock_.now();
        while (questions(which) == before && clock_.now() < began + most)
            pass(std::min(most / 100, duration{100}));
        return clock_.now() - began;
    }

    /// To a question of where the primary is.
    static std::string answer_as(const view& known, const fake_server::words& said) {
        const std::string port = bulk(std::to_string(known.primary));
        if (said[1] == "GET-MASTER-ADDR-BY-NAME")
            return known.primary == 0 ? "*-1\r\n" : "*2\r\n" + bulk("127.0.0.1") + port;
        if (known.primary == 0)
            return "-ERR No such master with that name\r\n";
        if (!known.epoch)
            return "-NOPERM this user has no permissions to run the 'sentinel|master' command\r\n";
        return "*6\r\n" + bulk("ip") + bulk("127.0.0.1") + bulk("port") + port +
               bulk("config-epoch") + bulk(std::to_string(*known.epoch));
    }

    static std::string bulk(const std::string& text) {
        return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    }

    std::array<std::unique_ptr<fake_server>, 3> sentinels_{made(), made(), made()};
    std::array<view, 3> views_;
    fake_server old_{io_, fake_server::place{}}, new_{io_, fake_server::place{}};

private:
    std::unique_ptr<fake_server> made() {
        return std::make_unique<fake_server>(io_, fake_server::place{});
    }

    std::optional<std::string> answer_of(std::size_t which, const fake_server::words& said) const {
        if (said[0] != "SENTINEL" || sentinels_[which]->says.contains("SENTINEL"))
            return std::nullopt;
        return answer_as(views_[which], said);
    }
};

namespace {

// Whom of the Sentinels a client asks and hears, and when.

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

TEST_F(SentinelWatch, RequestIsNotRepeatedAfterItsServerDeadline) {
    for (const auto& each : sentinels_)
        each->stop();
    const asked one = ask("k", {}, {redis::server_deadline{clock_.now() + 700ms}});
    pass(700ms);
    EXPECT_EQ(one->code, errc::unreachable);
}

TEST_F(SentinelWatch, SaysWhatIsWrongWithEachOfThem) {
    sentinel(0).stop();
    sentinel(1).says["SENTINEL"] = "-NOAUTH Authentication required.\r\n";
    sentinel(2).says["SENTINEL"] = "+what\r\n";
    const asked one = ask();
    pass(how_.command_timeout);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text,
                AllOf(HasSubstr("no Sentinel returned its address"), HasSubstr("refused"),
                      HasSubstr("NOAUTH"), HasSubstr("returned no host")));
}

TEST_F(SentinelWatch, SaysThatNoneKnowsTheService) {
    views_.fill({});
    const asked one = ask();
    pass(how_.command_timeout);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, AllOf(HasSubstr("the Sentinels do not know the service 'locks'"),
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
    EXPECT_THAT(one->text,
                AllOf(HasSubstr("is the primary now"), HasSubstr("a Sentinel reported")));
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

// Sentinels that know less than the others, are slow, or watch over another service by now.

class SentinelStrangers : public on_fake_sentinels {
protected:
    /// This one answers nothing any more, until answer_late().
    void make_slow(std::size_t which) { sentinel(which).improvises = nullptr; }
    void answer_late(std::size_t which, const view& knows) {
        const std::string text = answer_as(knows, {"SENTINEL", "MASTER"}) +
                                 answer_as(knows, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME"}) +
                                 "-ERR unknown command\r\n";
        for (const auto& each : sentinel(which).sessions)
            if (each->open && each->muted && !listens(*each)) {
                each->muted = false;
                each->send(text);
            }
        settle();
    }
    /// This one watches over that server and replicas, and says so.
    void watches(std::size_t which, const view& knows, const std::vector<std::uint16_t>& replicas) {
        sentinel(which).improvises =
            [knows, replicas](const fake_server::words& said) -> std::optional<std::string> {
            if (said[0] != "SENTINEL")
                return std::nullopt;
            if (said[1] != "REPLICAS")
                return answer_as(knows, said);
            std::string all = "*" + std::to_string(replicas.size()) + "\r\n";
            for (const std::uint16_t each : replicas)
                all += "*4\r\n" + bulk("ip") + bulk("127.0.0.1") + bulk("port") +
                       bulk(std::to_string(each));
            return all;
        };
    }
    std::size_t calls_at(const fake_server& server) { return server.count_asked("EVALSHA"); }
};

TEST_F(SentinelStrangers, AStaleOneThatAnswersFirstDoesNotDecide) {
    views_[0] = {old_.port(), 3};
    make_slow(1);
    make_slow(2);
    const asked one = ask();
    pass(1500ms);
    EXPECT_EQ(calls_at(old_), 0u) << "one of three has answered";
    answer_late(1, {new_.port(), 4});
    answer_late(2, {new_.port(), 4});
    pass(100ms);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(new_), 1u);
    EXPECT_EQ(calls_at(old_), 0u);
}

TEST_F(SentinelStrangers, SentinelsThatAnswerLateInEachRoundCorrectTheFirstPrimary) {
    watches(0, {old_.port(), 3}, {});
    make_slow(1);
    make_slow(2);
    const asked first = ask();
    pass(2500ms);
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_EQ(calls_at(old_), 1u) << "no other Sentinel has replied";
    for (const std::size_t each : {1u, 2u}) {
        watches(each, {new_.port(), 1}, {1}); // another service
        sentinel(each).slow_word = "SENTINEL";
    }
    for (const time_point end = clock_.now() + 4s; clock_.now() < end; pass(50ms))
        for (const std::size_t each : {1u, 2u})
            sentinel(each).release_late(clock_.now(), 400ms);
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_EQ(ask()->answer.integer, 1);
    EXPECT_EQ(calls_at(new_), 1u);
    EXPECT_EQ(calls_at(old_), 1u);
}

TEST_F(SentinelStrangers, AnAnswerThatComesLateCountsWhenItComes) {
    make_slow(2);
    const asked one = ask();
    pass(300ms);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(old_), 1u);
    answer_late(2, {new_.port(), 1}); // which led the failover
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_EQ(ask()->answer.integer, 1);
    EXPECT_EQ(calls_at(new_), 1u);
}

TEST_F(SentinelStrangers, OnesThatAreSetUpAnewAreBelievedThoughOneIsGone) {
    appoint(old_, 50);
    ask();
    sentinel(2).stop();
    demote(old_);
    appoint(new_, 1);
    for (int i = 0; i < 4; ++i) {
        ask();
        pass(3s);
    }
    EXPECT_GE(told_.count(event_kind::moved), 1u);
    EXPECT_THAT(told_.last(event_kind::moved)->name,
                ::testing::HasSubstr(std::to_string(new_.port())));
    const std::size_t before = calls_at(new_);
    EXPECT_EQ(ask()->answer.integer, 1);
    EXPECT_EQ(calls_at(new_), before + 1);
}

TEST_F(SentinelStrangers, AnotherServiceOfTheSameNameHasNoVote) {
    fake_server theirs{io_, fake_server::place{}};
    theirs.says["EVALSHA"] = ":7\r\n";
    for (const std::size_t each : {1u, 2u})
        watches(each, {old_.port(), 3}, {new_.port()});
    watches(0, {theirs.port(), 90}, {1});
    EXPECT_EQ(ask()->answer.integer, 1);
    for (const std::size_t each : {1u, 2u})
        sentinel(each).stop(); // it is the only one that answers
    for (int i = 0; i < 10; ++i) {
        pass(6s);
        EXPECT_EQ(ask()->answer.integer, 1);
    }
    EXPECT_EQ(calls_at(theirs), 0u);
    EXPECT_EQ(told_.count(event_kind::moved), 0u);
    close();
    theirs.stop();
    settle();
}

TEST_F(SentinelStrangers, WithoutPasswordsBesideServersWithUsersAreAsked) {
    how_.user = "app";
    how_.password = secret{"its"};
    for (const auto& each : sentinels_)
        each->says["AUTH"] = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    EXPECT_EQ(ask()->answer.integer, 1);
    pass(1s);
    EXPECT_EQ(listened_to(), 2u);
}

TEST_F(SentinelStrangers, AnEmptyLoginOfTheirOwnIsNone) {
    how_.user = "app";
    how_.password = secret{"its"};
    how_.sentinel->own_login = true;
    for (const auto& each : sentinels_)
        each->says.erase("AUTH"); // and nothing behind it would be answered
    EXPECT_EQ(ask()->answer.integer, 1);
}

TEST_F(SentinelStrangers, ThatWantAPasswordOfTheirOwnSayWhichWasWrong) {
    how_.user = "app";
    how_.password = secret{"its"};
    for (const auto& each : sentinels_) {
        each->says["AUTH"] = "-WRONGPASS invalid username-password pair\r\n";
        each->says["SENTINEL"] = "-NOAUTH Authentication required.\r\n";
    }
    const asked one = ask();
    pass(how_.command_timeout);
    EXPECT_THAT(one->text, ::testing::AllOf(::testing::HasSubstr("AUTH: WRONGPASS"),
                                            ::testing::HasSubstr("sentinel_user")));
}

} // namespace
} // namespace holdfast
