// SPDX-License-Identifier: Apache-2.0
// Who listens does so at the server that has the slot of its channel, wherever that goes.
#include "cluster_fixture.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

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
    high.ear.reset();
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

} // namespace
} // namespace holdfast
