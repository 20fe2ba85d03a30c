// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/slot_map.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using change = slot_map::change;
constexpr auto nobody = slot_map::nobody;

server_address at(const std::string& host) {
    return {host, 6379};
}
slot_range range_of(int first, int last, const std::string& primary,
                    std::vector<server_address> replicas = {}) {
    return {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last),
            primary.empty() ? server_address{} : at(primary), std::move(replicas)};
}
slot_ranges halves(const std::string& lower, const std::string& upper) {
    return {range_of(0, 8191, lower), range_of(8192, 16383, upper)};
}

class SlotMap : public ::testing::Test {
protected:
    std::vector<change> renew(const std::vector<slot_ranges>& answers) {
        return map_.renew(answers, map_.now());
    }
    std::vector<change> renew_asked_at(slot_map::stamp asked,
                                       const std::vector<slot_ranges>& answers) {
        return map_.renew(answers, asked);
    }
    std::string owner(std::uint16_t slot) const {
        return map_.owner(slot) == nobody ? "" : map_.address(map_.owner(slot)).host;
    }
    std::vector<std::string> hosts(const std::vector<slot_map::node_number>& numbers) const {
        std::vector<std::string> all;
        for (const auto number : numbers)
            all.push_back(map_.address(number).host);
        return all;
    }

    slot_map map_{std::vector{at("seed")}};
};

TEST_F(SlotMap, BeginsWithItsSeedsAndNoOwners) {
    EXPECT_EQ(map_.size(), 1u);
    EXPECT_EQ(map_.address(0), at("seed"));
    EXPECT_EQ(map_.unserved(), slot_count);
    EXPECT_EQ(owner(0), "");
    EXPECT_THAT(map_.primaries(), IsEmpty());
}

TEST_F(SlotMap, LearnsWhoServesWhat) {
    renew({halves("a", "b")});
    EXPECT_EQ(owner(0), "a");
    EXPECT_EQ(owner(8191), "a");
    EXPECT_EQ(owner(8192), "b");
    EXPECT_EQ(owner(16383), "b");
    EXPECT_EQ(map_.unserved(), 0u);
    EXPECT_THAT(hosts(map_.primaries()), ElementsAre("a", "b"));
    EXPECT_EQ(map_.slots_of(map_.owner(0)), 8192u);
}

TEST_F(SlotMap, TellsTheChangesInRanges) {
    const auto first = renew({halves("a", "b")});
    const auto a = map_.owner(0), b = map_.owner(16383);
    EXPECT_THAT(first, ElementsAre(change{0, 8191, nobody, a}, change{8192, 16383, nobody, b}));
    EXPECT_THAT(renew({halves("a", "b")}), IsEmpty());
    const auto then =
        renew({{range_of(0, 99, "a"), range_of(101, 200, "b"), range_of(201, 300, "c"),
                range_of(301, 8191, "a"), range_of(8192, 16383, "b")}});
    const auto c = map_.owner(201);
    EXPECT_THAT(then, ElementsAre(change{100, 100, a, nobody}, change{101, 200, a, b},
                                  change{201, 300, a, c}));
}

TEST_F(SlotMap, TellsChangesApartThatAreNotNextToEachOther) {
    renew({halves("a", "b")});
    const auto a = map_.owner(0), b = map_.owner(16383);
    EXPECT_THAT(
        renew({{range_of(0, 9, "a"), range_of(10, 10, "b"), range_of(11, 11, "a"),
                range_of(12, 12, "b"), range_of(13, 8191, "a"), range_of(8192, 16383, "b")}}),
        ElementsAre(change{10, 10, a, b}, change{12, 12, a, b}));
}

TEST_F(SlotMap, ANodeKeepsItsNumber) {
    renew({halves("a", "b")});
    const auto a = map_.owner(0), b = map_.owner(16383);
    renew({halves("b", "a")});
    EXPECT_EQ(map_.owner(0), b);
    EXPECT_EQ(map_.owner(16383), a);
    EXPECT_EQ(map_.size(), 3u);
    EXPECT_EQ(map_.know(at("a")), a);
}

TEST_F(SlotMap, ForEachSlotTheOwnerCountsThatMostOfThemName) {
    renew({halves("a", "b"), halves("a", "c"), halves("c", "c")});
    EXPECT_EQ(owner(0), "a");
    EXPECT_EQ(owner(16383), "c");
}

TEST_F(SlotMap, WithAsManyVotesThePresentOwnerStays) {
    renew({halves("a", "a")});
    renew({halves("b", "b"), halves("a", "a")});
    EXPECT_EQ(owner(0), "a");
    renew({halves("a", "a"), halves("b", "b")});
    EXPECT_EQ(owner(0), "a");
    renew({halves("b", "b"), halves("c", "c")}); // neither is the present one
    EXPECT_EQ(owner(0), "b");
}

TEST_F(SlotMap, WithAsManyVotesEachSlotStaysWhereItIs) {
    renew({halves("a", "b")});
    EXPECT_THAT(renew({halves("a", "a"), halves("b", "b")}), IsEmpty());
}

TEST_F(SlotMap, WhoKnowsOfNoOwnerHasNoVote) {
    renew({{}, {}, halves("a", "b")});
    EXPECT_EQ(owner(0), "a");
    renew({{range_of(0, 16383, "")}, halves("c", "c")});
    EXPECT_EQ(owner(0), "c");
}

TEST_F(SlotMap, SlotsThatNobodyNamesHaveNoOwner) {
    renew({halves("a", "b")});
    renew({{range_of(0, 8191, "a")}});
    EXPECT_EQ(owner(16383), "");
    EXPECT_EQ(map_.unserved(), 8192u);
    EXPECT_THAT(hosts(map_.primaries()), ElementsAre("a"));
    EXPECT_EQ(map_.slots_of(map_.know(at("b"))), 0u);
}

TEST_F(SlotMap, WithoutAnAnswerAllStays) {
    renew({halves("a", "b")});
    EXPECT_THAT(renew({}), IsEmpty());
    EXPECT_EQ(owner(0), "a");
}

TEST_F(SlotMap, MovedCountsAtOnce) {
    renew({halves("a", "b")});
    const auto c = map_.moved(5, at("c"));
    EXPECT_EQ(map_.address(c), at("c"));
    EXPECT_EQ(owner(4), "a");
    EXPECT_EQ(owner(5), "c");
    EXPECT_EQ(owner(6), "a");
    EXPECT_EQ(map_.slots_of(c), 1u);
    EXPECT_EQ(map_.slots_of(map_.owner(4)), 8191u);
}

TEST_F(SlotMap, MovedWinsOverAnswersThatWereAskedForBeforeIt) {
    renew({halves("a", "b")});
    const auto asked = map_.now();
    map_.moved(5, at("c"));
    map_.moved(16383, at("a"));
    EXPECT_THAT(renew_asked_at(asked, {halves("a", "b"), halves("a", "b")}), IsEmpty());
    EXPECT_EQ(owner(5), "c");
    EXPECT_EQ(owner(16383), "a");
    renew_asked_at(asked, {halves("a", "b")}); // of a question that was as early
    EXPECT_EQ(owner(5), "c");
}

TEST_F(SlotMap, MovedIsForgottenForAnswersThatWereAskedForAfterIt) {
    renew({halves("a", "b")});
    map_.moved(5, at("c"));
    const auto between = map_.now();
    map_.moved(6, at("c"));
    renew_asked_at(between, {halves("a", "b")});
    EXPECT_EQ(owner(5), "a");
    EXPECT_EQ(owner(6), "c");
    renew({halves("a", "b")});
    EXPECT_EQ(owner(6), "a");
}

TEST_F(SlotMap, KnowsTheReplicasOfEachPrimary) {
    renew({{range_of(0, 100, "a", {at("a1"), at("a2"), at("a1")}),
            range_of(101, 200, "b", {at("b1")})}});
    EXPECT_THAT(hosts(map_.replicas_of(map_.owner(0))), UnorderedElementsAre("a1", "a2"));
    EXPECT_THAT(hosts(map_.replicas_of(map_.owner(101))), ElementsAre("b1"));
    // After a failover, also where one answer is from before it.
    renew({{range_of(0, 100, "a", {at("a1")})},
           {range_of(0, 100, "a1", {at("a2")})},
           {range_of(0, 100, "a1", {at("a2")})}});
    EXPECT_EQ(owner(0), "a1");
    EXPECT_THAT(hosts(map_.replicas_of(map_.owner(0))), ElementsAre("a2"));
    EXPECT_THAT(map_.replicas_of(map_.know(at("b"))), IsEmpty());
}

slot_ranges many(int from, int count) {
    slot_ranges all;
    for (int i = 0; i < count; ++i)
        all.push_back(range_of(i, i, "n" + std::to_string(from + i)));
    return all;
}

TEST_F(SlotMap, KnowsSoManyNodesAndNoMore) {
    renew({many(0, 1000)});
    EXPECT_EQ(map_.size(), slot_map::nodes_max);
    EXPECT_EQ(owner(0), "n0");
    EXPECT_EQ(owner(253), "n253"); // beside the seed
    EXPECT_EQ(owner(254), "");
    EXPECT_EQ(map_.moved(300, at("one more")), nobody);
    EXPECT_EQ(owner(300), "");
}

TEST_F(SlotMap, ForgetsTheOneThatWasNotNamedForTheLongestTime) {
    for (const int from : {1, 101, 201}) // each in a renewal of its own
        renew({many(from, from == 201 ? 53 : 100)});
    renew({{range_of(0, 0, "n0")}});
    renew({{range_of(0, 0, "n0")}});
    EXPECT_EQ(map_.size(), slot_map::nodes_max);
    const auto oldest = map_.know(at("x"));
    EXPECT_EQ(map_.size(), slot_map::nodes_max);
    EXPECT_EQ(map_.address(oldest), at("x"));
    EXPECT_EQ(map_.address(0), at("seed"));
    EXPECT_EQ(owner(0), "n0");
    std::vector<std::string> known;
    for (std::size_t i = 0; i < map_.size(); ++i)
        known.push_back(map_.address(static_cast<slot_map::node_number>(i)).host);
    EXPECT_EQ(std::ranges::count(known, "n1"), 0);
    for (const char* each : {"n2", "n101", "n253"})
        EXPECT_EQ(std::ranges::count(known, each), 1) << each;
}

TEST_F(SlotMap, AChangeNeverTellsOfANodeThatIsForgottenMeanwhile) {
    renew({many(0, 254)});
    const auto changes = renew({many(1000, 254)});
    // All the old ones are still known, so there is no room for the new ones.
    for (const change& each : changes)
        EXPECT_EQ(map_.address(each.from).host, "n" + std::to_string(each.first));
    EXPECT_EQ(map_.unserved(), slot_count);
    renew({many(1000, 254)});
    EXPECT_EQ(owner(0), "n1000");
    EXPECT_EQ(map_.unserved(), slot_count - 254);
}

TEST_F(SlotMap, AReplicaDoesNotTakeTheNumberOfANodeOfWhichAChangeTells) {
    renew({many(0, 254)});
    const auto changes = renew({{range_of(0, 253, "n0", {at("new")})}});
    ASSERT_EQ(changes.size(), 253u);
    for (const change& each : changes)
        EXPECT_EQ(map_.address(each.from).host, "n" + std::to_string(each.first));
}

} // namespace
} // namespace holdfast::redis
