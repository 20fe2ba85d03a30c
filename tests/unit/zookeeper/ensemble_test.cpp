// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/ensemble.hpp"

#include <random>
#include <set>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using ::testing::UnorderedElementsAre;

ensemble of(std::vector<std::string> hosts, std::uint64_t seed = 1) {
    std::vector<server_address> servers;
    for (std::string& host : hosts)
        servers.push_back({std::move(host), 0});
    std::mt19937_64 random{seed};
    return ensemble{servers, [&] { return random(); }, 20ms, 1000ms};
}

std::string host_of(const ensemble& all) {
    return all.all()[all.present()].host;
}

TEST(Ensemble, TheUsualPortIsZookeepers) {
    EXPECT_EQ(of({"a"}).all().front().port, 2181);
}

TEST(Ensemble, EachServerIsTriedBeforeThereIsAPause) {
    ensemble all = of({"a", "b", "c"});
    std::set<std::string> tried{host_of(all)};
    EXPECT_EQ(all.leave(0), 0ms);
    tried.insert(host_of(all));
    EXPECT_EQ(all.leave(0), 0ms);
    tried.insert(host_of(all));
    EXPECT_THAT(tried, UnorderedElementsAre("a", "b", "c"));
    EXPECT_FALSE(all.all_failed());
    EXPECT_EQ(all.leave(0), 20ms);
    EXPECT_TRUE(all.all_failed());
    all.served();
    EXPECT_FALSE(all.all_failed());
    EXPECT_EQ(all.leave(0), 0ms);
}

TEST(Ensemble, TheOnlyServerIsTriedAgainAfterAPauseThatGrows) {
    ensemble all = of({"a"});
    EXPECT_EQ(all.leave(0), 20ms);
    EXPECT_TRUE(all.all_failed());
    duration longest{};
    std::mt19937_64 random{1};
    for (int i = 0; i < 100; ++i)
        longest = std::max(longest, all.leave(random()));
    EXPECT_GT(longest, 500ms);
    EXPECT_LE(longest, 1000ms);
    all.served();
    EXPECT_EQ(all.leave(0), 20ms);
}

TEST(Ensemble, ClientsBeginAtDifferentServers) {
    std::set<std::string> first;
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        first.insert(host_of(of({"a", "b", "c"}, seed)));
    EXPECT_THAT(first, UnorderedElementsAre("a", "b", "c"));
}

TEST(Ensemble, AnAttemptTakesASixthOfTheSessionAtMostAndLeavesTimeForTheOthers) {
    EXPECT_EQ(of({"a"}).patience(2000ms, std::nullopt), 2000ms);
    EXPECT_EQ(of({"a"}).patience(2000ms, 6000ms), 1000ms);
    EXPECT_EQ(of({"a", "b"}).patience(2000ms, std::nullopt), 1000ms);
    EXPECT_EQ(of({"a", "b"}).patience(2000ms, 3000ms), 500ms);
    EXPECT_EQ(of({"a"}).patience(2000ms, 12ms), 10ms) << "nothing is done in no time";
    EXPECT_EQ(of({"a"}).patience(5ms, 6000ms), 5ms) << "what the user wants is the limit";
}

TEST(Ensemble, WhereTheWayIsSlowAnAttemptTakesLongerEachRound) {
    ensemble all = of({"a", "b"});
    std::vector<duration> taken;
    for (int i = 0; i < 6; ++i) {
        taken.push_back(all.patience(2000ms, 3000ms));
        all.leave(0);
    }
    EXPECT_THAT(taken, ::testing::ElementsAre(500ms, 500ms, 1000ms, 1000ms, 2000ms, 2000ms));
    for (int i = 0; i < 1000; ++i)
        all.leave(0);
    EXPECT_EQ(all.patience(2000ms, 3000ms), 2000ms);
    all.served();
    EXPECT_EQ(all.patience(2000ms, 3000ms), 500ms);
}

} // namespace
} // namespace holdfast::zookeeper
