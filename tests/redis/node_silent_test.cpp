// SPDX-License-Identifier: Apache-2.0
// A dead connection and a slow server, which look the same at first. With a short lease, the client
// cannot wait until it knows the difference.
#include "node_fixture.hpp"

#include <new>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class NodeSilent : public on_fake_server {
protected:
    redis::call_options within(duration length, bool elsewhere = false) {
        return {.answer_by = clock_.now() + length, .elsewhere = elsewhere};
    }
    /// Expects that a request fails in 500 ms, and not earlier, because it was not sent.
    void expect_unsent_after_500ms(const asking& of) {
        pass(499ms);
        EXPECT_FALSE(of.done);
        pass(1ms);
        EXPECT_EQ(of.code, errc::unreachable);
        EXPECT_THAT(of.text, HasSubstr("not sent within 500 ms"));
    }
    /// The connection there is hears, and answers nothing any more; a next one answers.
    void fall_silent() {
        ask();
        server_.says.erase("EVALSHA");
        const auto unanswered = ask("a renewal", within(500ms));
        pass(500ms);
        EXPECT_EQ(unanswered->code, errc::outcome_unknown);
        server_.says["EVALSHA"] = ":1\r\n";
    }
    /// The connection there is takes no more, and somebody has waited for that in vain; a next one
    /// answers.
    void get_stuck() {
        ask();
        server_.last().deaf = true;
        ask("the last one it hears");
        long_ = ask(std::string(3'000'000, 'x'));
        const auto behind = ask("a renewal", within(500ms));
        pass(500ms);
        EXPECT_EQ(behind->code, errc::unreachable);
        EXPECT_THAT(behind->text, HasSubstr("takes no more requests"));
    }
    asked long_;
};

TEST_F(NodeSilent, ARequestsOwnLimitEndsItAndNoOther) {
    server_.says.erase("EVALSHA");
    const auto usual = ask(), hurried = ask("k", within(500ms));
    pass(499ms);
    EXPECT_FALSE(hurried->done);
    pass(1ms);
    EXPECT_EQ(hurried->code, errc::outcome_unknown);
    EXPECT_THAT(hurried->text, HasSubstr("did not answer within 500 ms"));
    EXPECT_FALSE(usual->done);
    server_.last().send(":1\r\n");
    settle();
    EXPECT_EQ(usual->answer.integer, 1);
}

TEST_F(NodeSilent, ALimitIsNeverLaterThanTheUsualOne) {
    server_.says.erase("EVALSHA");
    const auto patient = ask("k", within(1h));
    pass(3s);
    EXPECT_EQ(patient->code, errc::outcome_unknown);
}

TEST_F(NodeSilent, WhatWasNotSentUntilItsLimitWasNotCarriedOut) {
    server_.says.erase("ROLE");
    const auto queued = ask("k", within(500ms)), over = ask("k", within(0ms));
    EXPECT_EQ(over->code, errc::unreachable);
    pass(500ms);
    EXPECT_EQ(queued->code, errc::unreachable);
    EXPECT_THAT(queued->text, HasSubstr("not sent within 500 ms"));
}

TEST_F(NodeSilent, RequestThatIsNotSentBeforeItsServerDeadlineFailsThen) {
    server_.says.erase("ROLE");
    const auto queued = ask("k", {}, {redis::server_deadline{clock_.now() + 500ms}});
    expect_unsent_after_500ms(*queued);
}

TEST_F(NodeSilent, RequestThatIsNotSentAtTheDeadlineOfItsCallFailsIfConnectingHasFailedBefore) {
    server_.says.erase("ROLE");
    const auto ask_for_500ms = [this] {
        const time_point now = clock_.now();
        return ask("k", {}, {redis::server_deadline{now + 1h, now + 500ms}});
    };
    const auto first = ask_for_500ms();
    pass(1'999ms);
    EXPECT_FALSE(first->done) << "the first attempt to connect has not ended";
    pass(1ms);
    EXPECT_EQ(first->code, errc::unreachable);
    const auto second = ask_for_500ms();
    expect_unsent_after_500ms(*second);
}

TEST_F(NodeSilent, RequestWhoseCallIsOverWaitsForAConnection) {
    auto role = server_.says.extract("ROLE");
    ask();
    pass(2s);
    server_.says.insert(std::move(role));
    const time_point now = clock_.now();
    const auto only = ask("k", {}, {redis::server_deadline{now + 3s, now}});
    EXPECT_FALSE(only->done) << "a call without a timeout makes one attempt";
    pass(1s);
    EXPECT_EQ(only->answer.integer, 1);
}

TEST_F(NodeSilent, ReplyAfterTheServerDeadlineIsAwaitedIfTheRequestWasSent) {
    server_.says.erase("EVALSHA");
    const auto sent = ask("k", {}, {redis::server_deadline{clock_.now() + 500ms}});
    pass(2s);
    EXPECT_FALSE(sent->done);
    server_.last().send(":1\r\n");
    settle();
    EXPECT_EQ(sent->answer.integer, 1);
}

TEST_F(NodeSilent, WhatComesTooLateToBeAskedIsNotSent) {
    ask();
    EXPECT_EQ(ask("k", within(0ms))->code, errc::unreachable);
    EXPECT_EQ(server_.last().asked.size(), 1u);
}

TEST_F(NodeSilent, ARenewalThatWasNotAnsweredIsRepeatedOverAnotherConnection) {
    fall_silent();
    const auto again = ask("again", within(500ms, true));
    EXPECT_EQ(again->answer.integer, 1);
    ASSERT_EQ(server_.sessions.size(), 2u);
    EXPECT_TRUE(server_.sessions[0]->open) << "it may only be slow";
    EXPECT_EQ(server_.last().asked.size(), 1u);
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u);
    EXPECT_EQ(doubts_.size(), 0u);
}

TEST_F(NodeSilent, AConnectionThatOwesAnAnswerThatWasGivenUpGetsNoNewRequest) {
    fall_silent();
    EXPECT_EQ(ask()->answer.integer, 1) << "as an unlock, which has the usual time";
    EXPECT_EQ(server_.sessions.size(), 2u);
    EXPECT_EQ(server_.sessions[0]->asked.size(), 2u);
}

TEST_F(NodeSilent, AConnectionThatDiedIsFoundOutByAskingOverANewOne) {
    server_.answers_probes = true;
    ask();
    server_.says.erase("EVALSHA");
    const auto one = ask();
    pass(999ms);
    EXPECT_FALSE(one->done);
    EXPECT_EQ(server_.probes.size(), 1u) << "after a quarter of the usual time";
    pass(1ms);
    EXPECT_EQ(one->code, errc::outcome_unknown);
    EXPECT_THAT(one->text, HasSubstr("answers over a new connection"));
    EXPECT_FALSE(server_.sessions[0]->open);
    server_.says["EVALSHA"] = ":1\r\n";
    const auto next = ask();
    pass(500ms);
    EXPECT_EQ(next->answer.integer, 1);
}

TEST_F(NodeSilent, AServerThatAnswersNowhereIsWaitedFor) {
    ask();
    server_.says.erase("EVALSHA");
    const auto one = ask();
    pass(2999ms);
    EXPECT_FALSE(one->done);
    EXPECT_TRUE(server_.sessions[0]->open) << "it may only be slow";
    EXPECT_GE(server_.probes.size(), 1u);
    EXPECT_LE(server_.probes.size(), 3u);
    server_.sessions[0]->send(":1\r\n");
    settle();
    EXPECT_EQ(one->answer.integer, 1);
}

TEST_F(NodeSilent, AnAnswerBehindTheOneOverTheNewConnectionKeepsTheOldOne) {
    server_.answers_probes = true;
    ask();
    server_.says.erase("EVALSHA");
    const auto one = ask();
    pass(900ms);
    server_.sessions[0]->send(":1\r\n");
    server_.sessions[0]->muted = false;
    settle();
    EXPECT_EQ(one->answer.integer, 1);
    pass(5s);
    EXPECT_TRUE(server_.sessions[0]->open);
}

TEST_F(NodeSilent, AConnectionThatWaitsForReplicasIsNotTakenForDead) {
    server_.answers_probes = true;
    const auto one = ask("k", {.replicas = 1, .replicas_within = 1s});
    pass(2s);
    EXPECT_FALSE(one->done);
    for (const auto& each : server_.sessions)
        EXPECT_TRUE(each->open);
}

TEST_F(NodeSilent, EachConnectionHasTheClockOfTheServerAtItsOwnEnd) {
    const auto before = ask()->answer.clock->no_later_than(clock_.now());
    fall_silent();
    server_.says["TIME"] = "*2\r\n$10\r\n1700000020\r\n$1\r\n0\r\n"; // behind the same name
    const auto again = ask("again", within(500ms, true));
    const auto after = again->answer.clock->no_later_than(clock_.now());
    ASSERT_TRUE(before && after);
    EXPECT_NEAR(static_cast<double>((*after - *before).count()), 20e6, 10e3);
}

TEST_F(NodeSilent, OneThatAnswersIsElsewhereEnough) {
    ask();
    EXPECT_EQ(ask("k", within(500ms, true))->answer.integer, 1);
    EXPECT_EQ(server_.sessions.size(), 1u);
    fall_silent();
    server_.sessions[0]->send(":1\r\n"); // late, and so it is there
    server_.sessions[0]->muted = false;
    settle();
    EXPECT_EQ(ask("k", within(500ms, true))->answer.integer, 1);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(NodeSilent, AnotherConnectionThatFallsSilentTooIsReplaced) {
    fall_silent();
    server_.says.erase("EVALSHA");
    const auto second = ask("k", within(500ms, true));
    pass(500ms);
    EXPECT_EQ(second->code, errc::outcome_unknown);
    server_.says["EVALSHA"] = ":1\r\n";
    const auto third = ask("k", within(500ms, true));
    pass(200ms);
    EXPECT_EQ(third->answer.integer, 1);
    ASSERT_EQ(server_.sessions.size(), 3u);
    EXPECT_FALSE(server_.sessions[1]->open);
    EXPECT_TRUE(doubts_.empty()) << "what is held hangs on the first one";
}

TEST_F(NodeSilent, ARenewalThatWasNotEvenSentIsRepeatedOverAnotherConnection) {
    get_stuck();
    EXPECT_EQ(ask("again", within(500ms, true))->answer.integer, 1);
    ASSERT_EQ(server_.sessions.size(), 2u);
    EXPECT_FALSE(long_->done);
    server_.sessions[0]->hear_again();
    settle();
    EXPECT_EQ(long_->answer.integer, 1);
    ask("a third time", within(500ms, true));
    EXPECT_EQ(server_.sessions[0]->asked.back().at(3), "a third time") << "for it answers again";
}

TEST_F(NodeSilent, OneThatIsLostIsNoReasonToAskOverAnother) {
    get_stuck();
    server_.drop_connections();
    settle();
    const auto again = ask("again", within(500ms, true));
    pass(499ms);
    EXPECT_EQ(again->answer.integer, 1);
    EXPECT_EQ(server_.sessions.size(), 2u);
    EXPECT_EQ(doubts_.size(), 1u) << "that is the first one, made anew";
}

TEST_F(NodeSilent, OneThatWasMadeAnewHasItsChance) {
    holds_ = true;
    get_stuck();
    server_.drop_connections();
    pass(250ms);
    ASSERT_EQ(server_.sessions.size(), 2u);
    EXPECT_EQ(ask("again", within(500ms, true))->answer.integer, 1);
    EXPECT_EQ(server_.sessions.size(), 2u);
}

TEST_F(NodeSilent, BothConnectionsToAServerThatWasDemotedAreLeft) {
    fall_silent();
    server_.says["EVALSHA"] = "-READONLY You can't write against a read only replica.\r\n";
    const auto refused = ask("again", within(500ms, true));
    EXPECT_EQ(refused->code, make_error_code(store_errc::read_only));
    EXPECT_FALSE(server_.sessions[0]->open);
    EXPECT_FALSE(server_.sessions[1]->open);
}

TEST_F(NodeSilent, AnAnswerThatMakesNoSenseEndsTheOneItCameBy) {
    fall_silent();
    const auto odd = ask("again", within(500ms, true));
    node().distrust(odd->answer);
    settle();
    EXPECT_TRUE(server_.sessions[0]->open);
    EXPECT_FALSE(server_.sessions[1]->open);
}

TEST_F(NodeSilent, NoOtherConnectionIsMadeForAClientThatIsClosed) {
    get_stuck();
    const auto late = begin("again", within(500ms, true));
    node().close();
    settle();
    EXPECT_EQ(late->code, errc::closed);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(NodeSilent, TheOtherConnectionIsClosedWhenItIsIdle) {
    holds_ = true;
    fall_silent();
    ask("k", within(500ms, true));
    server_.sessions[0]->send(":1\r\n");
    server_.sessions[0]->muted = false;
    pass(9'999ms);
    EXPECT_TRUE(server_.sessions[1]->open);
    pass(1ms);
    EXPECT_FALSE(server_.sessions[1]->open);
    EXPECT_TRUE(server_.sessions[0]->open);
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u);
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), 2u);
}

TEST_F(NodeSilent, ReleasesAndRenewalsFindRoomWhereThereIsNone) {
    how_.requests_max = 1;
    server_.says.erase("EVALSHA");
    const auto one = ask();
    EXPECT_EQ(ask()->code, errc::overloaded);
    const auto release = ask("k", {.reserved = true});
    EXPECT_FALSE(release->done);
    server_.last().send(":1\r\n:2\r\n");
    settle();
    EXPECT_EQ(release->answer.integer, 2);
}

TEST_F(NodeSilent, TimesBeyondCountingAreNever) {
    how_.command_timeout = how_.connect_timeout = how_.backoff_max = duration::max();
    lease_time_ = duration::max();
    EXPECT_EQ(ask()->answer.integer, 1);
    pass(24h);
    EXPECT_EQ(server_.count_asked("ROLE"), 0u) << "to see whether it is still there";
    server_.says.erase("EVALSHA");
    const auto waits = ask();
    pass(24h);
    EXPECT_FALSE(waits->done);
    EXPECT_EQ(server_.sessions.size(), 1u);
}

TEST_F(NodeSilent, APauseBeyondCountingHasNoEnd) {
    how_.backoff_min = how_.backoff_max = duration::max();
    server_.stop();
    EXPECT_EQ(ask()->code, errc::unreachable);
    server_.start();
    const auto next = ask();
    pass(24h);
    EXPECT_TRUE(server_.sessions.empty());
    EXPECT_EQ(next->code, errc::unreachable);
}

// After an outage: which server replies now, which events the observer gets, and other faults that
// must not prevent a reconnection.

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NodeReconnected : public on_fake_server {
protected:
    void reconnect() {
        server_.drop_connections();
        settle();
        const auto one = ask();
        pass(2s);
        EXPECT_EQ(one->answer.integer, 1);
    }
};

TEST_F(NodeReconnected, AsksForEveryHoldAfterEachReconnection) {
    ask();
    EXPECT_THAT(doubts_, IsEmpty()) << "nothing was held over it yet";
    reconnect();
    EXPECT_THAT(doubts_, ElementsAre(false));
}

TEST_F(NodeReconnected, ItIsUrgentWhereTheDataHasAnotherHistory) {
    ask();
    server_.replication_id = "history-2"; // and the run_id is that of before: demoted, and promoted
    reconnect();
    EXPECT_THAT(doubts_, ElementsAre(true));
    server_.run_id = "run-2";
    reconnect();
    EXPECT_THAT(doubts_, ElementsAre(true, false));
}

TEST_F(NodeReconnected, ItIsUrgentWhereNobodyCanTell) {
    server_.says["INFO"] = "-NOPERM not for this user\r\n";
    ask();
    EXPECT_EQ(node().identity("k").id, "");
    reconnect();
    EXPECT_THAT(doubts_, ElementsAre(true));
}

TEST_F(NodeReconnected, AnIdleClientThatHoldsComesBackByItself) {
    ask();
    server_.drop_connections();
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), 1u) << "nothing is held, and nobody asks";
    reconnect();
    holds_ = true;
    server_.drop_connections();
    pass(250ms);
    EXPECT_EQ(server_.sessions.size(), 3u);
    EXPECT_EQ(doubts_.size(), 2u);
    EXPECT_THAT(server_.last().asked, IsEmpty());
}

TEST_F(NodeReconnected, WhileItHoldsItTriesFourTimesASecond) {
    how_.backoff_max = 10s;
    holds_ = true;
    ask();
    server_.says["CLIENT"] = "-LOADING Redis is loading the dataset in memory\r\n";
    server_.drop_connections();
    pass(1min);
    EXPECT_GE(server_.sessions.size(), 240u);
    EXPECT_LE(server_.sessions.size(), 1200u) << "no faster than the backoff allows";
    EXPECT_EQ(told_.count(event_kind::disconnected), 1u);
    holds_ = false;
    pass(10s);
    const std::size_t until_then = server_.sessions.size();
    pass(1h);
    EXPECT_EQ(server_.sessions.size(), until_then);
}

TEST_F(NodeReconnected, DoubtIsCastWithin100msOfTheFirstConnectionThatIsAccepted) {
    holds_ = true;
    ask();
    server_.stop();
    pass(20s);
    EXPECT_THAT(doubts_, IsEmpty());
    server_.start();
    while (server_.sessions.size() < 2)
        pass(1ms);
    const time_point accepted_at = clock_.now();
    while (doubts_.empty())
        pass(1ms);
    EXPECT_LE(clock_.now() - accepted_at, 100ms);
}

TEST_F(NodeReconnected, AServerThatWasThereForLongIsTriedAgainSoon) {
    how_.backoff_max = 1h;
    server_.stop();
    for (int i = 0; i < 24; ++i) {
        ask();
        pass(1h);
    }
    server_.start();
    ask();
    pass(2h);
    server_.drop_connections();
    settle();
    const auto next = ask();
    pass(3 * how_.backoff_min);
    EXPECT_EQ(next->answer.integer, 1);
}

TEST_F(NodeReconnected, KnowsWhichServerItIsAndSinceWhenItRemembers) {
    EXPECT_EQ(node().identity("k").id, "");
    EXPECT_FALSE(node().identity("k").forgets_before);
    server_.uptime_s = 100;
    pass(200s);
    ask();
    EXPECT_EQ(node().identity("k").id, "run-1");
    EXPECT_EQ(node().identity("k").forgets_before, clock_.now() - 99s); // at the latest
    server_.drop_connections();
    settle();
    EXPECT_EQ(node().identity("k").forgets_before, clock_.now());
    reconnect();
    EXPECT_LT(*node().identity("k").forgets_before, clock_.now() - 98s) << "the same process";
    server_.drop_connections();
    settle();
    const time_point lost_at = clock_.now();
    EXPECT_EQ(node().identity("k").forgets_before, lost_at);
    server_.run_id = "run-2"; // a wall clock that was set back, or forward, shows any uptime
    reconnect();
    EXPECT_EQ(node().identity("k").id, "run-2");
    EXPECT_EQ(node().identity("k").forgets_before, lost_at);
    server_.drop_connections();
    settle();
    server_.uptime_s = 0;
    pass(10s);
    ask();
    EXPECT_EQ(node().identity("k").forgets_before, clock_.now() + 1s);
}

TEST_F(NodeReconnected, WhateverACredentialProviderThrowsEndsThatAttemptAlone) {
    bool broken = true;
    how_.credentials = [&]() -> credentials {
        if (broken)
            throw 42;
        return {"me", "secret"};
    };
    const auto one = ask();
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, HasSubstr("no connection to"));
    broken = false;
    const auto next = ask();
    pass(1s);
    EXPECT_EQ(next->answer.integer, 1);
}

/// Gives no alarm when there is no memory.
class short_of_memory final : public clock {
public:
    explicit short_of_memory(clock& real)
        : real_{real} {}
    time_point now() const noexcept override { return real_.now(); }
    std::unique_ptr<alarm> make_alarm() override {
        if (exhausted)
            throw std::bad_alloc{};
        return real_.make_alarm();
    }
    bool exhausted = false;

private:
    clock& real_;
};

TEST_F(NodeReconnected, AnAttemptWithoutMemoryFailsAndTheNextOneIsMade) {
    short_of_memory mine{clock_};
    store_context home{io_.get_executor(), mine, [this] { return random_(); }, {}, "test", {}, {}};
    node_ = redis::make_node(how_, home);
    mine.exhausted = true;
    EXPECT_EQ(ask()->code, errc::unreachable);
    mine.exhausted = false;
    const auto next = ask();
    pass(1s);
    EXPECT_EQ(next->answer.integer, 1);
    close();
    settle();
}

} // namespace
} // namespace holdfast
