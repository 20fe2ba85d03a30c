// SPDX-License-Identifier: Apache-2.0
// Requests find the server that has their keys.
#include "channels_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ClusterCalls = on_fake_cluster;

TEST_F(ClusterCalls, GoToTheServerThatHasTheirKeys) {
    ASSERT_LT(redis::key_slot(low_), half);
    ASSERT_GE(redis::key_slot(high_), half);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(ask(high_)->answer.integer, 1);
    EXPECT_EQ(ask(high_)->answer.integer, 1);
    EXPECT_EQ(calls_at(0), 1u);
    EXPECT_EQ(calls_at(1), 2u);
    EXPECT_EQ(questions(), 2u) << "the seed, and a node that it named; then the map is known";
}

TEST_F(ClusterCalls, FollowAMovedSlotAndRememberIt) {
    ask(low_);
    at(0).says["EVALSHA"] = moved(low_, 2);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 2u);
    EXPECT_EQ(calls_at(0), 2u) << "not asked again";
    const std::size_t before = questions();
    pass(250ms);
    EXPECT_GT(questions(), before) << "more may have moved";
}

TEST_F(ClusterCalls, ServerThatARedirectionNamesIsReportedOnce) {
    ask(low_);
    share({2, 1});
    at(0).improvises = [this](const fake_server::words& said) {
        constexpr std::size_t key = 3; // after the script and the number of keys
        return said[0] == "EVALSHA" ? std::optional{moved(said[key], 2)} : std::nullopt;
    };
    for (std::size_t i = 0, count = 0; count < 3; ++i) {
        const std::string name = "k" + std::to_string(i);
        if (redis::key_slot(name) >= half)
            continue;
        EXPECT_EQ(ask(name)->answer.integer, 1);
        ++count;
    }
    ASSERT_EQ(at(0).count_asked("EVALSHA"), 4u) << "each of these slots was redirected";
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    pass(1s);
    EXPECT_GE(questions(), 3u) << "a map names the new owner of the other slots";
    EXPECT_EQ(told_.count(event_kind::moved), 1u);

    at(0).improvises = nullptr;
    share({0, 1});
    at(2).says["EVALSHA"] = moved(low_, 0);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(told_.count(event_kind::moved), 2u) << "the slots have moved back";
}

TEST_F(ClusterCalls, BelieveTheServerThatHadASlotMoreThanTheNodesThatWereAskedBefore) {
    ask(low_);
    for (const std::size_t each : {0u, 1u})
        at(each).says.erase("CLUSTER");
    at(0).says["EVALSHA"] = moved(low_, 2);
    ask(low_);
    pass(1ms); // the map is asked for; and then another slot moves
    ask(low_);
    EXPECT_EQ(calls_at(2), 2u);
}

TEST_F(ClusterCalls, AskWhereASlotGoesAndDoNotRememberIt) {
    ask(low_);
    const std::size_t before = questions();
    at(0).says["EVALSHA"] = asked_at(low_, 1);
    const auto first = ask(low_);
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_TRUE(first->answer.moves);
    const fake_server::session& there = session_with(1, "ASKING");
    EXPECT_THAT(there.asked[0], ElementsAre("ASKING"));
    EXPECT_EQ(there.asked[1][0], "EVALSHA");
    EXPECT_EQ(there.bursts, 1u) << "in one write";
    at(0).says["EVALSHA"] = ":7\r\n";
    const auto second = ask(low_);
    EXPECT_EQ(second->answer.integer, 7);
    EXPECT_EQ(questions(), before) << "the map stays";
    EXPECT_FALSE(second->answer.moves);
}

TEST_F(ClusterCalls, SayAskingAgainWithTheTextOfAScript) {
    at(0).says["EVALSHA"] = asked_at(low_, 1);
    at(1).says["EVALSHA"] = "-NOSCRIPT No matching script.\r\n";
    at(1).says["EVAL"] = ":5\r\n";
    EXPECT_EQ(ask(low_)->answer.integer, 5);
    std::vector<std::string> words;
    for (const fake_server::words& each : session_with(1, "ASKING").asked)
        words.push_back(each[0]);
    EXPECT_THAT(words, ElementsAre("ASKING", "EVALSHA", "ASKING", "EVAL"));
}

TEST_F(ClusterCalls, SentInCirclesTheyEnd) {
    at(0).says["EVALSHA"] = moved(low_, 1);
    at(1).says["EVALSHA"] = moved(low_, 0);
    how_.command_timeout = 1min;
    const auto one = ask(low_);
    EXPECT_FALSE(one->done) << "they may agree after a while";
    pass(10s);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_LE(calls_at(0) + calls_at(1), 17u);
    EXPECT_GE(calls_at(0) + calls_at(1), 16u);
}

TEST_F(ClusterCalls, WaitForWhatIsInTheMidstOfAMove) {
    at(0).says["EVALSHA"] = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
    const auto one = ask(low_);
    pass(1s);
    EXPECT_FALSE(one->done);
    EXPECT_GE(calls_at(0), 4u);
    EXPECT_LE(calls_at(0), 21u);
    at(0).says["EVALSHA"] = ":1\r\n";
    pass(250ms);
    EXPECT_EQ(one->answer.integer, 1);
}

TEST_F(ClusterCalls, WaitForASlotToBeServedNoLongerThanOneCallMayTake) {
    for (const char* words : {"-CLUSTERDOWN Hash slot not served\r\n", "-LOADING it loads\r\n",
                              "-MASTERDOWN Link with MASTER is down\r\n"}) {
        at(0).says["EVALSHA"] = words;
        const auto one = ask(low_);
        pass(3s);
        ASSERT_TRUE(one->done);
        EXPECT_EQ(one->code, errc::unreachable) << words;
        EXPECT_THAT(one->text, HasSubstr(std::string{words}.substr(1, 7)));
    }
}

TEST_F(ClusterCalls, WithATimeOfTheirOwnEndThen) {
    at(0).says["EVALSHA"] = "-CLUSTERDOWN The cluster is down\r\n";
    const auto one = ask(low_, {.answer_by = clock_.now() + 400ms});
    pass(400ms);
    EXPECT_EQ(one->code, errc::unreachable);
}

TEST_F(ClusterCalls, AreCancelledWhileTheyWait) {
    at(0).says["EVALSHA"] = "-CLUSTERDOWN The cluster is down\r\n";
    const auto one = ask(low_);
    one->cancel.emit(asio::cancellation_type::terminal);
    pass(250ms);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, asio::error::operation_aborted);
}

TEST_F(ClusterCalls, LeaveAPrimaryThatBecameAReplica) {
    ask(low_);
    share({2, 1});
    at(0).says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    const auto one = ask(low_);
    pass(500ms);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
    EXPECT_FALSE(session_with(0, "EVALSHA").open);
}

TEST_F(ClusterCalls, WhatMetAKeyThatIsElsewhereMayBeHalfDone) {
    at(0).says["EVALSHA"] =
        "-ERR Script attempted to access a non local key in a cluster node script: x\r\n";
    const auto one = ask(low_);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_EQ(calls_at(0), 1u);
}

TEST_F(ClusterCalls, ThatCanBeDividedAreToldAtOnceThatTheirKeysAreApart) {
    at(0).says["EVALSHA"] = "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
    error_code failed;
    const auto run = [](redis::node& on, bool divisible) -> asio::awaitable<void> {
        const std::string_view keys[] = {"{low1}1", "{low1}2"};
        co_await on.call(script, keys, {}, {.divisible = divisible});
    };
    int ended = 0;
    for (const bool divisible : {false, true})
        asio::co_spawn(io_, run(node(), divisible), [&](const std::exception_ptr& why) {
            ++ended;
            EXPECT_TRUE(why);
        });
    settle();
    EXPECT_EQ(ended, 1);
    pass(3s);
    EXPECT_EQ(ended, 2);
}

TEST_F(ClusterCalls, OfAServerThatIsLeftAreUnknownOrGoToTheNext) {
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto written = ask(low_);
    at(0).stop(); // and then it takes no connections
    settle();
    EXPECT_EQ(written->code, errc::outcome_unknown);
    const auto unsent = ask(low_);
    EXPECT_FALSE(unsent->done);
    share({2, 1});
    pass(500ms);
    EXPECT_EQ(unsent->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterCalls, ThatWereWrittenToAServerWithoutSlotsAreNotWaitedFor) {
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto written = ask(low_);
    share({2, 1});
    pass(1100ms);
    ASSERT_TRUE(written->done);
    EXPECT_EQ(written->code, errc::outcome_unknown);
    EXPECT_THAT(written->text, HasSubstr("is not part of the cluster any more"));
    EXPECT_EQ(told_.last(event_kind::moved)->name, text_of(2));
}

TEST_F(ClusterCalls, EndWhenTheClientIsClosed) {
    at(0).says["EVALSHA"] = "-CLUSTERDOWN The cluster is down\r\n";
    const auto one = ask(low_);
    node().close();
    pass(250ms);
    EXPECT_EQ(one->code, errc::closed);
}

// A subscriber is connected to the server that owns the slot of its channel, also after the slot
// has moved.

class ClusterEars : public on_fake_cluster {
protected:
    /// One that listens for a while.
    listening& listen_well(const std::string& channel) {
        ask(channel); // the map is known by then
        listening& made = listen(channel);
        confirm(made);
        EXPECT_EQ(made.confirmed, true);
        return made;
    }
    void tell(std::size_t which, const std::string& verb, const std::string& channel) {
        session_with(which, "SSUBSCRIBE")
            .send("*3\r\n" + bulk(verb) + bulk(channel) +
                  (verb == "smessage" ? bulk("0") : ":0\r\n"));
        settle();
    }
};

TEST_F(ClusterEars, HearWhatTheServerOfTheirSlotTells) {
    auto& low = listen_well(low_);
    auto& high = listen_well(high_);
    tell(1, "smessage", high_);
    EXPECT_EQ(low.rings, 0);
    EXPECT_EQ(high.rings, 1);
    EXPECT_TRUE(node().hears(redis::channel_name{high_}));
    high.subscriber.reset();
    pass(1min); // it lingers for a while
    EXPECT_EQ(at(1).count_asked("SUNSUBSCRIBE"), 1u);
    EXPECT_FALSE(node().hears(redis::channel_name{high_}));
}

TEST_F(ClusterEars, ThatBeginBeforeTheMapIsKnownAreSentThereAndRung) {
    auto& one = listen(low_);
    confirm(one);
    EXPECT_EQ(one.confirmed, false) << "so it polls";
    EXPECT_EQ(at(0).count_asked("SSUBSCRIBE"), 1u);
    EXPECT_EQ(one.rings, 1);
    confirm(one);
    EXPECT_EQ(one.confirmed, true);
}

TEST_F(ClusterEars, GoWhereASlotHasMovedAndAreRung) {
    auto& one = listen_well(low_);
    at(0).says["EVALSHA"] = moved(low_, 2);
    ask(low_);
    EXPECT_EQ(at(2).count_asked("SSUBSCRIBE"), 1u);
    EXPECT_EQ(one.rings, 1);
    tell(2, "smessage", low_);
    EXPECT_EQ(one.rings, 2);
    EXPECT_TRUE(node().hears(redis::channel_name{low_}));
}

TEST_F(ClusterEars, GoWhereTheServerThatTheyAskedSaysTheSlotIs) {
    ask(low_);
    at(0).says["SSUBSCRIBE"] = moved(low_, 2);
    auto& one = listen(low_);
    confirm(one);
    EXPECT_EQ(at(2).count_asked("SSUBSCRIBE"), 1u);
    EXPECT_EQ(one.rings, 1);
    confirm(one);
    EXPECT_EQ(one.confirmed, true);
    EXPECT_EQ(told_.count(event_kind::impaired), 0u);
}

TEST_F(ClusterEars, SentInCirclesAreNotSentAsFastAsServersCan) {
    ask(low_);
    at(0).says["SSUBSCRIBE"] = moved(low_, 2);
    at(2).says["SSUBSCRIBE"] = moved(low_, 0);
    auto& one = listen(low_);
    pass(5s);
    const std::size_t all = at(0).count_asked("SSUBSCRIBE") + at(2).count_asked("SSUBSCRIBE");
    EXPECT_GE(all, 5u);
    EXPECT_LE(all, 120u);
    at(0).says["SSUBSCRIBE"] = "";
    share({0, 1});
    pass(1s);
    confirm(one);
    EXPECT_EQ(one.confirmed, true);
}

TEST_F(ClusterEars, AreAwaitedWhereverTheyGo) {
    ask(low_);
    at(0).says.erase("SSUBSCRIBE");
    auto& one = listen(low_);
    confirm(one, 10s);
    EXPECT_FALSE(one.confirmed);
    share({0, 2, 1, 1});
    at(0).says["EVALSHA"] = moved(low_, 2);
    ask(low_);
    EXPECT_EQ(at(2).count_asked("SSUBSCRIBE"), 1u);
    pass(10s); // the first one is waited for as long as was said
    EXPECT_EQ(one.confirmed, true);
}

TEST_F(ClusterEars, ThatTheServerSendsAwayAskWhereTheSlotIs) {
    auto& one = listen_well(low_);
    const std::size_t before = questions();
    share({2, 1});
    tell(0, "sunsubscribe", low_);
    pass(1s);
    EXPECT_GT(questions(), before);
    EXPECT_EQ(at(2).count_asked("SSUBSCRIBE"), 1u);
    EXPECT_EQ(one.rings, 1);
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u);
}

TEST_F(ClusterEars, ThatTheServerSendsAwayWithoutAReasonComeBack) {
    auto& one = listen_well(low_);
    tell(0, "sunsubscribe", low_);
    pass(1s);
    EXPECT_EQ(at(0).count_asked("SSUBSCRIBE"), 2u);
    EXPECT_EQ(one.rings, 1);
}

TEST_F(ClusterEars, ListenInThePlainFormWhereServersKnowNoOther) {
    share({0, 1});
    for (fake_server* each : servers()) { // as before 7.0
        std::string& told = each->says["CLUSTER"];
        for (std::size_t place; (place = told.find("*4\r\n")) != std::string::npos;)
            told.replace(place, 4, "*3\r\n");
        for (std::size_t place; (place = told.find("$2\r\nid\r\n*0\r\n")) != std::string::npos;)
            told.erase(place + 8, 4);
    }
    listen_well(low_);
    EXPECT_EQ(at(0).count_asked("SUBSCRIBE"), 1u);
    EXPECT_EQ(at(0).count_asked("SSUBSCRIBE"), 0u);
    EXPECT_EQ(node().telling_commands().command, "PUBLISH");
}

TEST_F(ClusterEars, InBothFormsHearEachAndAreConfirmedWhenBothAre) {
    how_.pubsub = redis::pubsub_form::both;
    ask(low_);
    at(0).says.erase("SSUBSCRIBE");
    auto& one = listen(low_);
    confirm(one, 10s);
    EXPECT_FALSE(one.confirmed);
    fake_server::session& there = session_with(0, "SSUBSCRIBE");
    there.send("*3\r\n" + bulk("ssubscribe") + bulk(low_) + ":1\r\n");
    settle();
    EXPECT_EQ(one.confirmed, true);
    there.send("*3\r\n" + bulk("smessage") + bulk(low_) + bulk("0"));
    there.send("*3\r\n" + bulk("message") + bulk(low_) + bulk("0"));
    settle();
    EXPECT_EQ(one.rings, 2);
}

TEST_F(ClusterEars, InBothFormsOneOfWhichIsDeniedPoll) {
    how_.pubsub = redis::pubsub_form::both;
    ask(low_);
    at(0).says["SUBSCRIBE"] = "-NOPERM this user has no permissions to access a channel\r\n";
    auto& one = listen(low_);
    confirm(one);
    EXPECT_EQ(one.confirmed, false);
    EXPECT_EQ(told_.count(event_kind::impaired), 1u);
}

// When a cluster is asked who has which slots, and who is believed.

class ClusterMap : public on_fake_cluster {
protected:
    void know_all() { how_.cluster->addresses = {address(0), address(1), address(2)}; }
};

TEST_F(ClusterMap, IsAskedForAtThreeNodesAtOnce) {
    know_all();
    ask(low_);
    EXPECT_EQ(questions(), 3u);
    for (fake_server* each : servers())
        EXPECT_EQ(each->count_asked("CLUSTER"), 1u);
}

TEST_F(ClusterMap, IsWhatMostNodesSay) {
    know_all();
    at(0).says["CLUSTER"] = slots_text({0, 1}); // which was cut off from the others
    at(1).says["CLUSTER"] = at(2).says["CLUSTER"] = slots_text({2, 1});
    ask(low_);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterMap, DoesNotWaitForANodeThatDoesNotAnswer) {
    know_all();
    at(1).says.erase("CLUSTER");
    const auto one = ask(low_);
    EXPECT_FALSE(one->done);
    pass(300ms);
    EXPECT_EQ(one->answer.integer, 1);
}

TEST_F(ClusterMap, IsNotLearntFromAnAnswerThatMakesNoSense) {
    know_all();
    for (const std::string& strange :
         {std::string{":7\r\n"}, std::string{"*1\r\n*3\r\n:9\r\n:3\r\n*2\r\n$1\r\nh\r\n:1\r\n"},
          std::string{"-ERR unknown command 'CLUSTER'\r\n"}}) {
        at(0).says["CLUSTER"] = at(2).says["CLUSTER"] = strange;
        const auto one = ask(low_);
        pass(300ms);
        EXPECT_EQ(one->answer.integer, 1) << strange;
        close();
    }
}

TEST_F(ClusterMap, ThatNobodyTellsEndsACallInItsTime) {
    at(0).says["CLUSTER"] = ":7\r\n";
    const auto one = ask(low_);
    pass(3s);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, HasSubstr("returned the map of slots"));
    EXPECT_GE(questions(), 12u) << "100 to 250 ms apart";
    EXPECT_LE(questions(), 31u);
}

TEST_F(ClusterMap, ThatIsRefusedIsNotAskedForAgain) {
    at(0).says["CLUSTER"] = "-NOPERM this user has no permissions to run 'cluster|slots'\r\n";
    const auto one = ask(low_);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::refused);
}

TEST_F(ClusterMap, IsAskedForNowAndThenOnlyWhileItIsUsed) {
    ask(low_);
    pass(1min);
    const std::size_t unused = questions();
    EXPECT_LE(unused, 2u);
    holds_ = true;
    pass(1min);
    EXPECT_GE(questions(), unused + 12);
    EXPECT_LE(questions(), unused + 3 * 16);
    holds_ = false;
    pass(10s);
    const std::size_t before = questions();
    pass(1min);
    EXPECT_EQ(questions(), before);
}

TEST_F(ClusterMap, WithHolesIsAskedForUntilTheyAreFilled) {
    ask(low_);
    holds_ = true;
    at(0).says["CLUSTER"] = at(1).says["CLUSTER"] = at(2).says["CLUSTER"] =
        "*1\r\n*3\r\n:0\r\n:" + std::to_string(half - 1) + "\r\n*2\r\n" + bulk(at(0).path()) +
        ":1\r\n";
    const auto one = ask(high_); // it is known still
    EXPECT_TRUE(one->done);
    pass(5s);
    const std::size_t before = questions();
    const auto two = ask(high_);
    pass(1s);
    EXPECT_FALSE(two->done);
    EXPECT_GE(questions(), before + 4);
    share({0, 1});
    pass(250ms);
    EXPECT_EQ(two->answer.integer, 1);
}

TEST_F(ClusterMap, IsAskedForAtNodesThatTheSeedsHaveNamed) {
    ask(low_);
    ask(high_);
    at(0).stop(); // the only seed
    share({1, 1});
    const auto one = ask(low_);
    pass(1s);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(1), 2u);
}

TEST_F(ClusterMap, CastsDoubtOnWhatIsAtServersThatHaveChanged) {
    ask(low_);
    holds_ = true;
    share({2, 1});
    pass(6s);
    ASSERT_EQ(doubts_.size(), 1u);
    EXPECT_TRUE(doubts_[0]) << "the other one may have less";
    EXPECT_TRUE(doubted_[0](lock_name{low_}));
    EXPECT_FALSE(doubted_[0](lock_name{high_}));
    EXPECT_EQ(told_.last(event_kind::moved)->name, text_of(2));
}

TEST_F(ClusterMap, AnEvenChangeIsNotUrgent) {
    ask(low_);
    holds_ = true;
    share({0, 2, 1, 1}); // a quarter of all slots goes to the third server
    pass(6s);
    ASSERT_EQ(doubts_.size(), 1u);
    EXPECT_FALSE(doubts_[0]) << "slots that move take their keys along";
}

TEST_F(ClusterMap, AServerWithoutSlotsAndUseIsLeft) {
    ask(low_);
    at(0).says["EVALSHA"] = asked_at(low_, 2);
    ask(low_);
    holds_ = true;
    ASSERT_TRUE(session_with(2, "EVALSHA").open);
    pass(8s);
    EXPECT_TRUE(session_with(2, "EVALSHA").open);
    pass(8s);
    EXPECT_FALSE(session_with(2, "EVALSHA").open);
    EXPECT_EQ(ask(low_)->answer.integer, 1) << "and comes back when it is used";
    holds_ = false;
}

// A server that hangs keeps its connections: who waits there asks the others about it.

using ClusterSilent = on_fake_cluster;

TEST_F(ClusterSilent, ACallThatIsNotAnsweredForAQuarterOfItsTimeHasTheMapAskedFor) {
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto one = ask(low_);
    pass(749ms);
    const std::size_t before = questions();
    pass(1ms);
    EXPECT_EQ(questions(), before + 2) << "at both nodes that are known";
    pass(1s);
    EXPECT_EQ(questions(), before + 2) << "one of them has not answered yet";
    pass(1300ms);
    EXPECT_EQ(questions(), before + 4) << "and soon again";
    EXPECT_TRUE(session_with(0, "EVALSHA").open) << "it may only be slow";
    at(0).says["EVALSHA"] = ":1\r\n";
    session_with(0, "EVALSHA").muted = false;
    session_with(0, "EVALSHA").send(":1\r\n" + slots_text({0, 1}) + slots_text({0, 1}));
    settle();
    pass(1s);
    EXPECT_EQ(one->code, errc::outcome_unknown) << "the usual time was over";
    const std::size_t answered = questions();
    pass(2s);
    EXPECT_EQ(questions(), answered) << "no more";
}

TEST_F(ClusterSilent, ACallThatHangsEndsWhenAnotherServerIsNamed) {
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto one = ask(low_);
    share({2, 1});
    pass(1100ms);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterSilent, WhatMostNodesSayIsNotHeldUpByTheOneThatHangs) {
    how_.cluster->addresses = {address(0), address(1), address(2)};
    ask(low_);
    at(0).says.erase("EVALSHA");
    const auto one = ask(low_);
    pass(750ms);
    EXPECT_FALSE(one->done);
    share({2, 1});
    pass(250ms);
    ASSERT_TRUE(one->done);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_EQ(ask(low_)->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterSilent, AnEarThatHearsNothingAsksWhetherTheServerIsThere) {
    ask(low_);
    auto& one = listen(low_);
    confirm(one);
    ASSERT_EQ(one.confirmed, true);
    pass(999ms);
    EXPECT_EQ(at(0).count_asked("PING"), 0u);
    pass(1ms);
    EXPECT_EQ(at(0).count_asked("PING"), 1u);
    at(0).says.erase("PING");
    pass(1s);
    EXPECT_EQ(at(0).count_asked("PING"), 2u);
    const std::size_t before = questions();
    share({2, 1});
    pass(1s);
    EXPECT_GT(questions(), before);
    EXPECT_EQ(at(2).count_asked("SSUBSCRIBE"), 1u) << "it listens at the next one";
    EXPECT_EQ(one.rings, 1);
}

TEST_F(ClusterSilent, OfOneServerNobodyIsAsked) {
    how_.cluster.reset();
    ask();
    auto& one = listen();
    confirm(one);
    server_.says.erase("EVALSHA");
    const auto silent = ask();
    pass(2s);
    EXPECT_EQ(questions(), 0u);
    EXPECT_EQ(server_.count_asked("PING"), 0u);
}

} // namespace
} // namespace holdfast
