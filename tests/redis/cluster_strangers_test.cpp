// SPDX-License-Identifier: Apache-2.0
// Nodes of a cluster that have an older map than the others, are slow, or meanwhile belong to
// another cluster.
#include "channels_fixture.hpp"

#include <set>
#include <string>
#include <vector>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ClusterStrangers : public on_fake_cluster {
protected:
    struct known_as {
        std::size_t server;
        std::string id;
    };
    std::string node_text(const known_as& one, std::size_t port) {
        return "*4\r\n" + bulk(at(one.server).path()) + ":" + std::to_string(port) + "\r\n" +
               bulk(one.id) + "*0\r\n";
    }
    /// One primary with all slots, and its replicas.
    std::string map_of(const known_as& primary, const std::vector<known_as>& replicas = {}) {
        std::string text = "*1\r\n*" + std::to_string(3 + replicas.size()) +
                           "\r\n:0\r\n:16383\r\n" + node_text(primary, primary.server + 1);
        for (const known_as& each : replicas)
            text += node_text(each, each.server + 1);
        return text;
    }
    void says_map(std::size_t which, std::string text) { at(which).says["CLUSTER"] = text; }
    void all_say(const std::string& text) {
        for (const std::size_t each : {0u, 1u, 2u})
            says_map(each, text);
    }
    /// Answers all questions for the map that this server owes.
    void answer_late(std::size_t which, const std::string& text) {
        for (const auto& each : at(which).sessions)
            if (each->open && each->muted) {
                each->muted = false;
                each->send(text);
            }
        settle();
    }
    /// Makes servers answer each question for the map 400 ms late, while pass_slowly() runs.
    void slow_down(const std::set<std::size_t>& which) {
        for (const std::size_t each : which)
            at(each).slow_word = "CLUSTER";
    }
    void pass_slowly(duration length) {
        for (const time_point end = clock_.now() + length; clock_.now() < end; pass(50ms))
            for (fake_server* const each : servers())
                each->release_late(clock_.now(), 400ms);
    }

    bool calls_go_to(std::size_t which) {
        const std::size_t before = calls_at(which);
        const asked one = ask(low_);
        pass(500ms);
        return one->done && one->answer.integer == 1 && calls_at(which) == before + 1;
    }
};

TEST_F(ClusterStrangers, ReusedAddressesOfFormerNodesHaveNoVote) {
    all_say(map_of({0, "a"}, {{1, "x"}, {2, "y"}}));
    ASSERT_TRUE(calls_go_to(0));
    holds_ = true;
    says_map(0, map_of({0, "a"}));
    for (const std::size_t each : {1u, 2u})
        says_map(each, map_of({1, "p"}, {{2, "q"}}));
    pass(30s);
    EXPECT_TRUE(calls_go_to(0));
    at(0).stop();
    pass(1min);
    const asked one = ask(low_);
    pass(3s);
    EXPECT_EQ(one->code, errc::unreachable) << "rather than the other cluster's locks";
    EXPECT_EQ(calls_at(1) + calls_at(2), 0u);
}

TEST_F(ClusterStrangers, NodesThatTookTheirIdsIntoAnotherClusterHaveNoVote) {
    all_say(map_of({0, "a"}, {{1, "x"}, {2, "y"}}));
    ASSERT_TRUE(calls_go_to(0));
    holds_ = true;
    says_map(0, map_of({0, "a"}));
    for (const std::size_t each : {1u, 2u})
        says_map(each, map_of({1, "x"}, {{2, "y"}}));
    pass(30s);
    EXPECT_TRUE(calls_go_to(0));
    EXPECT_EQ(calls_at(1) + calls_at(2), 0u);
}

TEST_F(ClusterStrangers, ANodeOfAnotherClusterAtTheAddressOfAnOwnerIsNotAskedForLocks) {
    all_say(map_of({0, "a"}));
    at(0).node_id = "a";
    ASSERT_TRUE(calls_go_to(0));
    at(0).drop_connections();
    at(0).node_id = "z";
    says_map(0, map_of({0, "z"}));
    const std::size_t before = calls_at(0);
    const asked one = ask(low_);
    pass(3s);
    EXPECT_EQ(one->code, errc::unreachable);
    EXPECT_THAT(one->text, HasSubstr("another node answers there"));
    EXPECT_EQ(calls_at(0), before);
}

TEST_F(ClusterStrangers, ARedirectionIntoAnotherClusterIsNotFollowed) {
    all_say(map_of({0, "a"}));
    ASSERT_TRUE(calls_go_to(0));
    says_map(2, map_of({2, "z"}, {{0, "a"}})); // server 0 was reset, and is its replica
    says_map(0, map_of({2, "z"}, {{0, "a"}}));
    for (const std::string& words : {moved(low_, 2), asked_at(low_, 2)}) {
        at(0).says["EVALSHA"] = words;
        const asked one = ask(low_);
        pass(3s);
        EXPECT_EQ(one->code, errc::unreachable);
        EXPECT_THAT(one->text, HasSubstr(words.substr(1, 3)));
    }
    EXPECT_EQ(calls_at(2), 0u);
}

TEST_F(ClusterStrangers, AClusterThatWasSetUpAnewAtItsAddressIsBelievedAfterAWhile) {
    all_say(map_of({0, "a"}));
    ASSERT_TRUE(calls_go_to(0));
    holds_ = true;
    all_say(map_of({2, "new"}));
    pass(8s);
    EXPECT_EQ(told_.count(event_kind::moved), 0u);
    pass(15s);
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_TRUE(calls_go_to(2));
}

TEST_F(ClusterStrangers, AClusterThatWasSetUpAnewIsBelievedAtOnceByAnIdleClient) {
    all_say(map_of({0, "a"}));
    ASSERT_TRUE(calls_go_to(0));
    pass(2min);
    all_say(map_of({2, "new"}));
    at(0).says["EVALSHA"] = moved(low_, 2);
    const asked one = ask(low_);
    pass(1s);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterStrangers, FirstReplyOfAnotherClusterIsCorrectedByMostSeeds) {
    how_.cluster->addresses = {address(0), address(1), address(2)};
    says_map(0, map_of({0, "z"}));
    for (const std::size_t each : {1u, 2u})
        at(each).says.erase("CLUSTER");
    const asked first = ask(low_);
    pass(2500ms);
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_EQ(calls_at(0), 1u) << "no other seed has replied";
    holds_ = true;
    for (const std::size_t each : {1u, 2u}) {
        says_map(each, map_of({1, "a"}, {{2, "b"}}));
        at(each).drop_connections();
    }
    pass(10s);
    EXPECT_TRUE(calls_go_to(1));
    pass(2min);
    EXPECT_TRUE(calls_go_to(1));
    EXPECT_EQ(calls_at(0), 1u);
}

TEST_F(ClusterStrangers, SeedsThatAnswerLateInEachRoundOutvoteAFasterSeed) {
    how_.cluster->addresses = {address(0), address(1), address(2)};
    says_map(0, map_of({0, "z"}));
    for (const std::size_t each : {1u, 2u})
        says_map(each, map_of({1, "a"}, {{2, "b"}}));
    slow_down({1, 2});
    const asked first = ask(low_);
    pass_slowly(2s);
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_EQ(calls_at(0), 0u) << "one of three";
    EXPECT_EQ(calls_at(1), 1u);
}

TEST_F(ClusterStrangers, SeedsThatAnswerLateInEachRoundCorrectTheFirstMap) {
    how_.cluster->addresses = {address(0), address(1), address(2)};
    says_map(0, "*1\r\n*6\r\n:0\r\n:16383\r\n" + node_text({0, "z"}, 1) +
                    node_text({0, "y"}, 1001) + node_text({0, "x"}, 1002) +
                    node_text({0, "w"}, 1003)); // which all answer at once
    for (const std::size_t each : {1u, 2u})
        at(each).says.erase("CLUSTER");
    const asked first = ask(low_);
    pass(2500ms);
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_EQ(calls_at(0), 1u) << "no other seed has replied";
    holds_ = true;
    slow_down({1, 2});
    says_map(1, map_of({1, "a"}, {{2, "b"}}));
    says_map(2, map_of({2, "b"}, {{1, "a"}})); // in a failover
    for (const std::size_t each : {1u, 2u})
        at(each).drop_connections();
    pass_slowly(2s);
    says_map(1, map_of({2, "b"}, {{1, "a"}}));
    pass_slowly(2s);
    const asked next = ask(low_);
    pass_slowly(1s);
    EXPECT_EQ(next->answer.integer, 1);
    EXPECT_EQ(calls_at(0), 1u);
    EXPECT_EQ(calls_at(2), 1u);
}

TEST_F(ClusterStrangers, SmallerMapOfTheFastestSeedLeavesNoSlotWithoutAServer) {
    how_.cluster->addresses = {address(0), address(1), address(2)};
    says_map(0, "*1\r\n*3\r\n:0\r\n:99\r\n" + node_text({0, "a"}, 1));
    for (const std::size_t each : {1u, 2u})
        says_map(each, map_of({1, "x"}, {{0, "a"}, {2, "y"}}));
    slow_down({1, 2});
    const asked first = ask(low_);
    pass_slowly(2s);
    EXPECT_EQ(first->answer.integer, 1);
    EXPECT_EQ(calls_at(1), 1u);
}

TEST_F(ClusterStrangers, SmallerMapIsCorrectedWhenMostSeedsAnswerLongAfterTheStart) {
    how_.cluster->addresses = {address(0), address(1), address(2)};
    says_map(0, "*1\r\n*3\r\n:0\r\n:99\r\n" + node_text({0, "a"}, 1));
    for (const std::size_t each : {1u, 2u})
        at(each).says.erase("CLUSTER");
    const asked first = ask(low_);
    pass(2min);
    EXPECT_EQ(first->code, store_errc::cluster_down);
    for (const std::size_t each : {1u, 2u}) {
        says_map(each, map_of({1, "x"}, {{0, "a"}, {2, "y"}}));
        at(each).drop_connections();
    }
    slow_down({1, 2});
    const asked next = ask(low_);
    pass_slowly(2s);
    EXPECT_EQ(next->answer.integer, 1);
    EXPECT_EQ(calls_at(1), 1u);
}

TEST_F(ClusterStrangers, AStaleNodeThatAnswersFirstDecidesNothing) {
    how_.cluster->addresses = {address(0), address(1), address(2)};
    const std::string before = map_of({0, "a"}, {{1, "x"}, {2, "y"}});
    const std::string after = map_of({1, "x"}, {{2, "y"}});
    all_say(before);
    ASSERT_TRUE(calls_go_to(0));
    at(0).says["EVALSHA"] = "-CLUSTERDOWN The cluster is down\r\n"; // and it goes on naming itself
    for (const std::size_t each : {1u, 2u})
        at(each).says.erase("CLUSTER");
    const asked one = ask(low_);
    pass(1500ms);
    EXPECT_FALSE(one->done);
    answer_late(1, after);
    EXPECT_EQ(calls_at(1), 0u) << "one of three";
    answer_late(2, after);
    pass(500ms);
    EXPECT_EQ(one->answer.integer, 1);
    EXPECT_EQ(calls_at(1), 1u);
}

TEST_F(ClusterStrangers, AStaleNodeAloneIsNotBelievedWhileTheOthersAreSlow) {
    const std::string present = map_of({1, "x"}, {{0, "a"}, {2, "y"}});
    all_say(present);
    ASSERT_TRUE(calls_go_to(1));
    says_map(0, map_of({0, "a"}, {{1, "x"}, {2, "y"}})); // it was stopped during the failover
    for (const std::size_t each : {1u, 2u})
        at(each).says.erase("CLUSTER");
    at(1).says.erase("EVALSHA");
    asked last = ask(low_);
    for (int second = 0; second < 5; ++second) {
        pass(1s);
        if (last->done)
            last = ask(low_);
    }
    EXPECT_EQ(calls_at(0), 0u) << "one of three";

    at(1).says["EVALSHA"] = ":1\r\n";
    for (const std::size_t each : {1u, 2u}) {
        says_map(each, present);
        at(each).drop_connections();
    }
    pass(3s);
    EXPECT_TRUE(calls_go_to(1));
    EXPECT_EQ(calls_at(0), 0u);
}

TEST_F(ClusterStrangers, ANodeThatIsLeftAloneIsBelievedAfterAWhile) {
    all_say(map_of({0, "a"}, {{1, "x"}, {2, "y"}}));
    ASSERT_TRUE(calls_go_to(0));
    says_map(1, map_of({1, "x"}, {{0, "a"}, {2, "y"}}));
    for (const std::size_t each : {0u, 2u})
        at(each).says.erase("CLUSTER");
    at(0).says.erase("EVALSHA");
    asked last = ask(low_);
    for (int second = 0; second < 10; ++second) {
        pass(1s);
        if (last->done)
            last = ask(low_);
    }
    EXPECT_GE(calls_at(1), 1u);
}

TEST_F(ClusterStrangers, AStaleSeedIsCheckedAgainstTheNodesThatItNames) {
    says_map(0, map_of({0, "a"}, {{1, "x"}, {2, "y"}}));
    for (const std::size_t each : {1u, 2u})
        says_map(each, map_of({1, "x"}, {{2, "y"}}));
    EXPECT_TRUE(calls_go_to(1));
    EXPECT_EQ(calls_at(0), 0u);
}

TEST_F(ClusterStrangers, AnEmptyMapErasesNothing) {
    all_say(map_of({0, "a"}, {{1, "x"}, {2, "y"}}));
    ASSERT_TRUE(calls_go_to(0));
    holds_ = true;
    for (const std::string& less :
         {std::string{"*0\r\n"}, "*1\r\n*3\r\n:0\r\n:99\r\n" + node_text({0, "a"}, 1)}) {
        says_map(1, less);
        pass(20s);
        EXPECT_TRUE(calls_go_to(0));
    }
    all_say("*0\r\n");
    pass(20s);
    EXPECT_TRUE(calls_go_to(0)) << "it is where it was, if anywhere";
}

class ClusterCrowd : public ClusterStrangers {
protected:
    static constexpr std::size_t count = 100;
    ClusterCrowd() {
        at(2).says.erase("CLUSTER"); // each of these addresses leads there
        std::string old;
        for (std::size_t i = 0; i < count; ++i)
            old += node_text({2, "o" + std::to_string(i)}, 1000 + i);
        const std::string crowded = "*1\r\n*" + std::to_string(4 + count) + "\r\n:0\r\n:16383\r\n" +
                                    node_text({0, "a"}, 1) + node_text({1, "x"}, 2) + old;
        for (const std::size_t each : {0u, 1u})
            says_map(each, crowded);
    }
    void fail_over() {
        says_map(1, map_of({1, "x"}));
        at(0).stop();
    }
};

TEST_F(ClusterCrowd, FormerAddressesThatDoNotAnswerDoNotDelayANewPrimary) {
    ask(low_);
    pass(5s);
    ASSERT_EQ(calls_at(0), 1u);
    fail_over();
    const time_point began = clock_.now();
    asked last = ask(low_);
    while (calls_at(1) == 0 && clock_.now() < began + 1min) {
        if (last->done)
            last = ask(low_);
        pass(100ms);
    }
    EXPECT_LE(clock_.now() - began, 8s) << "while the map names them still";
}

TEST_F(ClusterCrowd, WaiterThatSendsNoRequestsReachesTheNewPrimaryInSeconds) {
    listening& waiter = listen(low_);
    pass(5s);
    ASSERT_EQ(at(0).count_asked("SSUBSCRIBE"), 1u);
    const int rings = waiter.rings;
    fail_over();
    const time_point began = clock_.now();
    while (at(1).count_asked("SSUBSCRIBE") == 0 && clock_.now() < began + 1min)
        pass(100ms);
    EXPECT_LE(clock_.now() - began, 6s);
    pass(100ms);
    EXPECT_GT(waiter.rings, rings) << "so that the waiter asks for the lock there";
}

} // namespace
} // namespace holdfast
