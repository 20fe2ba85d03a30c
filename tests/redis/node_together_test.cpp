// SPDX-License-Identifier: Apache-2.0
// All connections of a client lead to one server: when one of them finds that its name, or a proxy,
// leads to another by now, the others may still be at the old one, and take the same locks there.
#include "ear_fixture.hpp"
#include "node_visit_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using words = fake_server::words;

/// A server whose name leads to another one by now, for who connects.
template <typename Fixture>
class on_changing_server : public Fixture {
protected:
    void lead_elsewhere() {
        this->server_.run_id += "'";
        this->server_.replication_id += "'";
    }
    void deny_info() { this->server_.says["INFO"] = "-NOPERM not for this user\r\n"; }

    std::size_t open_connections() const {
        std::size_t open = 0;
        for (const auto& each : this->server_.sessions)
            open += each->open ? 1 : 0;
        return open;
    }
};

class LanesTogether : public on_changing_server<on_visited_server> {
protected:
    void lose_the_shared_connection() {
        shared().close();
        settle();
        answered_visit(); // which brings it back
        pass(1s);
    }
};

TEST_F(LanesTogether, FollowTheSharedConnectionToAnotherServer) {
    visit_until_there_is_a_lane();
    lead_elsewhere();
    lose_the_shared_connection();
    EXPECT_FALSE(lane().open);
    EXPECT_EQ(answered_visit()->answer.integer, 1);
    EXPECT_EQ(lane().asked.size(), 2u);
}

TEST_F(LanesTogether, WhatWasSentThereIsUnknownAndEverythingHeldIsAskedForAtTheOtherServer) {
    visit_until_there_is_a_lane();
    lead_elsewhere();
    shared().close();
    settle();
    server_.says.erase("EVALSHA");
    const asked sent = visit();
    settle();
    pass(1s);
    ASSERT_TRUE(sent->done);
    EXPECT_EQ(sent->code, errc::outcome_unknown);
    EXPECT_THAT(doubts_, ElementsAre(true));
}

TEST_F(LanesTogether, StayWhereItIsTheSameServer) {
    visit_until_there_is_a_lane();
    server_.replication_id = "history-2"; // a first replica has come
    lose_the_shared_connection();
    EXPECT_EQ(server_.sessions.size(), 3u);
    EXPECT_TRUE(lane().open);
}

TEST_F(LanesTogether, FollowOnceWhereNobodyCanTellWhichServerItIs) {
    deny_info();
    visit_until_there_is_a_lane();
    lose_the_shared_connection();
    EXPECT_FALSE(lane().open);
    const auto brought_back = server_.sessions.back();
    for (int i = 0; i < 20; ++i)
        answered_visit();
    EXPECT_EQ(server_.sessions.size(), 4u) << "and there is a lane again";
    EXPECT_TRUE(brought_back->open);
    EXPECT_EQ(doubts_.size(), 1u);
}

TEST_F(LanesTogether, OneThatIsLedElsewhereMakesAllOthersFollow) {
    answered_visit();
    lead_elsewhere();
    while (server_.sessions.size() < 2)
        answered_visit();
    settle();
    EXPECT_FALSE(shared().open);
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("another server"));
    answered_visit();
    pass(1s);
    EXPECT_THAT(doubts_, ElementsAre(true));
    EXPECT_EQ(answered_visit()->answer.integer, 1);
}

TEST_F(LanesTogether, AProxyWithSeveralServersBehindItIsNotStormed) {
    holds_ = true;
    server_.improvises = [this](const words& said) {
        if (said.front() == "INFO")
            lead_elsewhere();
        return std::optional<std::string>{};
    };
    for (int bursts = 0; bursts < 60; ++bursts) {
        for (int i = 0; i < 6; ++i) // enough for a lane
            answered_visit();
        pass(20s); // which is closed then
    }
    EXPECT_GT(server_.sessions.size(), 60u);
    EXPECT_LT(doubts_.size(), 10u);
}

TEST_F(LanesTogether, WhereNamesAreNeverCheckedNoneIsLeftBecauseOfALane) {
    how_.address_check = 0ms;
    answered_visit();
    lead_elsewhere();
    visit_until_there_is_a_lane();
    EXPECT_TRUE(shared().open);
    EXPECT_TRUE(lane().open);
}

class OthersTogether : public on_changing_server<on_fake_channels> {
protected:
    OthersTogether() { server_.says["WAIT"] = ":1\r\n"; }

    static redis::call_wishes confirmed() { return {.replicas = 1, .replicas_within = 900ms}; }
    void lose_the_shared_connection() {
        server_.sessions.front()->close();
        settle();
        const asked next = ask();
        pass(1s);
        EXPECT_EQ(next->answer.integer, 1);
    }
};

TEST_F(OthersTogether, WhoConfirmsFollowsAndSoDoesWhoListensWhichRings) {
    ask();
    ask("k", confirmed());
    auto& one = listen();
    settle();
    lead_elsewhere();
    lose_the_shared_connection();
    EXPECT_FALSE(server_.sessions[1]->open);
    EXPECT_FALSE(server_.sessions[2]->open);
    EXPECT_EQ(one.rings, 1);
    EXPECT_EQ(ask("k", confirmed())->answer.confirmed, 1);
    EXPECT_EQ(open_connections(), 3u);
}

TEST_F(OthersTogether, WhoListensThereAlreadyStays) {
    ask();
    auto& one = listen();
    settle();
    lead_elsewhere();
    server_.drop_connections();
    pass(1s); // who listens comes back by itself
    EXPECT_EQ(one.rings, 1);
    ask();
    pass(1s);
    EXPECT_THAT(doubts_, ElementsAre(true));
    EXPECT_EQ(one.rings, 1);
}

TEST_F(OthersTogether, WhatWaitsForConfirmationIsUnknownAndTheNextIsAskedAtTheOtherServer) {
    ask();
    ask("k", confirmed());
    lead_elsewhere();
    server_.sessions.front()->close();
    settle();
    server_.says.erase("WAIT");
    const asked open = ask("k", confirmed()), queued = ask("k", confirmed());
    ask();
    server_.says["WAIT"] = ":1\r\n";
    pass(1s);
    EXPECT_EQ(open->code, errc::outcome_unknown);
    EXPECT_EQ(queued->answer.confirmed, 1);
    EXPECT_THAT(doubts_, ElementsAre(true));
}

TEST_F(OthersTogether, StayWhereItIsTheSameServer) {
    ask();
    ask("k", confirmed());
    auto& one = listen();
    settle();
    lose_the_shared_connection();
    EXPECT_TRUE(server_.sessions[1]->open);
    EXPECT_TRUE(server_.sessions[2]->open);
    EXPECT_EQ(one.rings, 0);
}

TEST_F(OthersTogether, FollowOnceWhereNobodyCanTellWhichServerItIs) {
    deny_info();
    holds_ = true;
    ask();
    ask("k", confirmed());
    auto& one = listen();
    settle();
    lose_the_shared_connection();
    EXPECT_EQ(one.rings, 1);
    ask("k", confirmed());
    pass(1h);
    EXPECT_LE(server_.sessions.size(), 6u);
    EXPECT_EQ(one.rings, 1);
    EXPECT_EQ(doubts_.size(), 1u);
}

TEST_F(OthersTogether, WhoConfirmsAndIsLedElsewhereMakesAllOthersFollow) {
    holds_ = true;
    ask();
    ask("k", confirmed());
    lead_elsewhere();
    server_.sessions[1]->close();
    settle();
    const asked next = ask("k", confirmed());
    pass(1s);
    EXPECT_FALSE(server_.sessions.front()->open);
    EXPECT_TRUE(next->done);
    EXPECT_THAT(doubts_, ElementsAre(true));
    EXPECT_EQ(ask("k", confirmed())->answer.confirmed, 1);
    EXPECT_EQ(open_connections(), 2u);
}

TEST_F(OthersTogether, OneThatStayedElsewhereIsFoundWhenTheSharedOneHasComeBack) {
    ask();
    server_.sessions.front()->close();
    settle();
    lead_elsewhere(); // for a moment only
    ask("k", confirmed());
    pass(1s);
    EXPECT_EQ(open_connections(), 1u);
    server_.run_id = "run-1";
    server_.replication_id = "history-1";
    ask();
    pass(1s);
    EXPECT_FALSE(server_.sessions[1]->open);
    EXPECT_EQ(doubts_.size(), 1u);
}

} // namespace
} // namespace holdfast
