// SPDX-License-Identifier: Apache-2.0
// Runs a fixed number of random simulations, one per seed (`./dev sim` runs more). HOLDFAST_SEED
// sets the first seed.
#include "sim/checkers/exclusion.hpp"
#include "sim/several/staging.hpp"
#include "support/source_tree.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds_played = 100; // ten times slower, but finds other kinds of faults
constexpr std::uint64_t seeds_of_several = 20;
constexpr bool enough_for_rare_things = false;
#else
constexpr std::uint64_t seeds_played = 500;
constexpr std::uint64_t seeds_of_several = 200;
constexpr bool enough_for_rare_things = true;
#endif

std::uint64_t first_seed() {
    const char* const wish = std::getenv("HOLDFAST_SEED");
    return wish ? std::strtoull(wish, nullptr, 0) : 1;
}

/// Runs the simulation of one seed. A failure prints its events.
result play_and_check(std::uint64_t seed, repertoire of = repertoire::single) {
    std::ostringstream told;
    const result r = play(of, seed, told);
    EXPECT_FALSE(r.broken) << told.str();
    return r;
}

TEST(Seeds, KeepEveryInvariantAndRareThingsHappen) {
    std::set<std::string_view> seen;
    for (std::uint64_t i = 0; i < seeds_played; ++i) {
        const result r = play_and_check(first_seed() + i);
        if (r.broken)
            return; // report one failure at a time
        seen.insert(r.seen.begin(), r.seen.end());
    }
    if (!enough_for_rare_things)
        return;
    // Each of these events must happen in some seed, or the simulations are too harmless to prove
    // anything.
    for (const std::string_view rare :
         {"is cancelled",
          "unreachable",
          "outcome_unknown",
          "lease_lost",
          "closed",
          "nothing",
          "hears that it has lost the lock",
          "drops its lease",
          "is destroyed",
          "reports: the release of owner {} was given up",
          "reports: owner {} is in danger",
          "reports: a renewal of owner {} failed",
          "is restarted, and empty",
          "a foreigner takes it for {} ms",
          "sends force",
          "lock(lease)",
          "extend",
          "  FAULT: the connection breaks after {} ms; executed after {} ms",
          "  FAULT: executed again {} ms later",
          "  and with it owner {}",
          "  over another connection",
          "  FAULT: there is no room for it",
          "  FAULT: it is not allowed",
          "  FAULT: the renewal of owner {} is not allowed",
          "SILENCE, its connection is dead",
          "what a handler threw has come out",
          "is connected anew",
          "is renewed from now on",
          "a stranger changes it by {}",
          "a stranger takes a permit of it for {} ms",
          "drain_permits",
          "count_down",
          "release(id)",
          "set_lease",
          "set_rate",
          "release(rate)",
          "a JVM has its turn",
          "a JVM gives up",
          "that JVM dies in the queue"})
        EXPECT_TRUE(seen.contains(rare)) << "never happened: " << rare;
}

/// Runs the first seeds of simulations with several servers. Returns the kinds of their events, or
/// an empty set if a seed failed.
std::set<std::string_view> play_several(repertoire of) {
    std::set<std::string_view> seen;
    for (std::uint64_t i = 0; i < seeds_of_several; ++i) {
        const result r = play_and_check(first_seed() + i, of);
        if (r.broken)
            return {};
        seen.insert(r.seen.begin(), r.seen.end());
    }
    return seen;
}

TEST(Seeds, OfLocksTakenTogetherKeepEveryInvariantAndRareThingsHappen) {
    const std::set<std::string_view> seen = play_several(repertoire::together);
    if (seen.empty() || !enough_for_rare_things)
        return;
    for (const std::string_view rare :
         {"  of one", "  of all of {}", "  of any of {}", "is cancelled", "unreachable", "nothing",
          "lease_lost", "closed", "extend", "force_unlock", "drops its lease",
          "hears that it has lost the lock", "is destroyed", "is restarted, and empty",
          "is evicted", "a foreigner takes it for {} ms"})
        EXPECT_TRUE(seen.contains(rare)) << "never happened: " << rare;
}

TEST(Seeds, OfQuorumsKeepEveryInvariantAndRareThingsHappen) {
    const std::set<std::string_view> seen = play_several(repertoire::quorum);
    if (seen.empty() || !enough_for_rare_things)
        return;
    for (const std::string_view rare :
         {"  of one", "  of a majority of {}", "is cancelled", "unreachable", "outcome_unknown",
          "nothing", "lease_lost", "closed", "extend", "lock(lease)", "drops its lease",
          "hears that it has lost the lock", "is destroyed", "is restarted, and empty",
          "its clock is stepped by {} ms"})
        EXPECT_TRUE(seen.contains(rare)) << "never happened: " << rare;
}

TEST(Seeds, OfReplicasKeepEveryInvariantAndRareThingsHappen) {
    const std::set<std::string_view> seen = play_several(repertoire::replicas);
    if (seen.empty() || !enough_for_rare_things)
        return;
    for (const std::string_view rare :
         {"IS PROMOTED", "STANDS STILL", "goes on", "is a replica from here on",
          "gets nothing more of what is written", "has what is written {} ms later",
          "is announced as the primary", "is restarted, and empty, as a replica",
          "will not hear of another primary", "reports: it asks another primary", "lock(lease)",
          "outcome_unknown", "lease_lost", "hears that it has lost the lock",
          "reports: a renewal of owner {} failed"})
        EXPECT_TRUE(seen.contains(rare)) << "never happened: " << rare;
    // In some seeds, two clients must believe that they hold a lock that not all replicas had to
    // confirm. (For other locks, this would break an invariant.)
    EXPECT_TRUE(seen.contains(two_believe)) << "no failover lost anything";
}

TEST(Seeds, OfSessionsKeepEveryInvariantAndRareThingsHappen) {
    const std::set<std::string_view> seen = play_several(repertoire::sessions);
    if (seen.empty() || !enough_for_rare_things)
        return;
    for (const std::string_view rare :
         {"lock(lease)", "extend", "lease_lost", "outcome_unknown", "is destroyed",
          "hears that it has lost the lock", "reports: owner {} is in danger",
          "reports: a renewal of owner {} failed", "  FAULT: it is not allowed",
          "is restarted, and empty", "try_set_permits", "release(id)"})
        EXPECT_TRUE(seen.contains(rare)) << "never happened: " << rare;
}

TEST(Seeds, ThatOnceFailedStillPass) {
    std::ifstream file{support::source_file("tests/sim/seeds.txt")};
    ASSERT_TRUE(file);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words{line};
        std::string first;
        std::uint64_t seed = 0;
        if (line.empty() || line.front() == '#')
            continue;
        if (line.starts_with("together") && words >> first >> seed)
            play_and_check(seed, repertoire::together);
        else if (line.starts_with("quorum") && words >> first >> seed)
            play_and_check(seed, repertoire::quorum);
        else if (line.starts_with("replicas") && words >> first >> seed)
            play_and_check(seed, repertoire::replicas);
        else if (line.starts_with("sessions") && words >> first >> seed)
            play_and_check(seed, repertoire::sessions);
        else
            play_and_check(std::stoull(line));
    }
}

class SameSeeds : public testing::TestWithParam<repertoire> {};

TEST_P(SameSeeds, AreTheSameStoryEachTime) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        const result once = play_and_check(seed, GetParam());
        const result again = play_and_check(seed, GetParam());
        EXPECT_EQ(once.hash, again.hash) << seed;
        EXPECT_EQ(once.events, again.events) << seed;
    }
}

std::string name_of_repertoire(const testing::TestParamInfo<repertoire>& which) {
    constexpr std::array names{"Single", "Together", "Quorum", "Replicas", "Sessions"};
    return names.at(static_cast<std::size_t>(which.param));
}

INSTANTIATE_TEST_SUITE_P(All, SameSeeds,
                         testing::Values(repertoire::single, repertoire::together,
                                         repertoire::quorum, repertoire::replicas,
                                         repertoire::sessions),
                         name_of_repertoire);

TEST(Seeds, AreDifferentStories) {
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 1; seed <= 25; ++seed)
        hashes.insert(play_and_check(seed).hash);
    EXPECT_EQ(hashes.size(), 25u);
}

} // namespace
} // namespace holdfast::sim
