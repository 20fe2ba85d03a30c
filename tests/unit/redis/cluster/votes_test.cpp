// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/slot_map.hpp"

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint16_t middle = 8000;

slot_range part(std::uint16_t first, std::uint16_t last, const std::string& id,
                const std::string& host, std::vector<std::string> replicas = {}) {
    slot_range one{.first = first, .last = last, .primary = {host, 1}, .primary_id = id};
    for (const std::string& each : replicas) {
        one.replicas.push_back({each, 1});
        one.replica_ids.push_back("id of " + each);
    }
    return one;
}
/// The primaries of the lower and of the upper slots, at their usual addresses.
slot_ranges shared_by(const std::string& low, const std::string& high,
                      std::vector<std::string> replicas = {}) {
    return {part(0, middle - 1, "id of " + low, low, std::move(replicas)),
            part(middle, slot_count - 1, "id of " + high, high)};
}
map_vote vote(slot_ranges said) {
    return {server_address{"who", 1}, std::move(said)};
}
std::vector<std::size_t> ours(const cluster_members& known, std::vector<slot_ranges> answers) {
    std::vector<map_vote> votes;
    for (slot_ranges& each : answers)
        votes.push_back(vote(std::move(each)));
    return votes_of(known, votes);
}

class ClusterVotes : public ::testing::Test {
protected:
    const cluster_members known_{
        .ids = {"id of a", "id of b", "id of r"},
        .addresses = {"a:1", "b:1", "r:1"},
        .owners = {{"id of a@a:1", middle}, {"id of b@b:1", slot_count - middle}}};
};

TEST_F(ClusterVotes, AnswersThatNameTheMembersCount) {
    EXPECT_THAT(ours(known_, {shared_by("a", "b", {"r"}), shared_by("r", "b")}), ElementsAre(0, 1));
}

TEST_F(ClusterVotes, AnAnswerFromAReusedAddressDoesNotCount) {
    slot_ranges strange{part(0, slot_count - 1, "id of x", "a", {"b"})};
    EXPECT_THAT(ours(known_, {strange, strange, shared_by("a", "b")}), ElementsAre(2));
    EXPECT_THAT(ours(known_, {strange}), IsEmpty());
}

TEST_F(ClusterVotes, ANodeThatWasResetIntoAnotherClusterBringsItNoVote) {
    EXPECT_THAT(ours(known_, {shared_by("x", "y", {"r"})}), IsEmpty());
    slot_ranges small_part{part(0, 99, "id of r", "r"), part(100, slot_count - 1, "id of x", "x")};
    EXPECT_THAT(ours(known_, {small_part}), IsEmpty());
}

TEST_F(ClusterVotes, OfTwoClustersTheOneWithTheOwnersCounts) {
    const slot_ranges rest = shared_by("a", "a"), taken = shared_by("r", "r");
    EXPECT_THAT(ours(known_, {taken, taken, rest}), ElementsAre(2));
}

TEST_F(ClusterVotes, OfCopiesOfOneClusterTheOneAtTheKnownAddressesCounts) {
    const slot_ranges copy{part(0, middle - 1, "id of a", "x"),
                           part(middle, slot_count - 1, "id of b", "y")};
    EXPECT_THAT(ours(known_, {copy, copy, shared_by("a", "b")}), ElementsAre(2));
}

TEST_F(ClusterVotes, AnEmptyAnswerNeverCounts) {
    EXPECT_THAT(ours(known_, {{}, shared_by("a", "b"), {}}), ElementsAre(1));
    EXPECT_THAT(ours({}, {{}, {}}), IsEmpty());
}

TEST_F(ClusterVotes, AtFirstTheClusterOfMostAnswersCounts) {
    EXPECT_THAT(ours({}, {shared_by("a", "b"), shared_by("x", "y"), shared_by("x", "y")}),
                ElementsAre(1, 2));
}

TEST_F(ClusterVotes, WithoutIdsTheAddressesTell) {
    slot_ranges bare = shared_by("a", "b"), strange = shared_by("x", "y");
    for (slot_ranges* each : {&bare, &strange})
        for (slot_range& one : *each)
            one.primary_id.clear();
    EXPECT_THAT(ours(known_, {strange, bare}), ElementsAre(1));
}

TEST_F(ClusterVotes, AgreeAboutPrimariesInAnyOrderOfTheRanges) {
    slot_ranges other = shared_by("a", "b");
    std::swap(other[0], other[1]);
    other[0].replicas.push_back({"r", 1});
    EXPECT_EQ(vote(other).fingerprint, vote(shared_by("a", "b")).fingerprint);
    other[0].primary.port = 2;
    EXPECT_NE(vote(other).fingerprint, vote(shared_by("a", "b")).fingerprint);
}

TEST_F(ClusterVotes, TellWhetherAllSlotsHaveAPrimary) {
    slot_ranges holes = shared_by("a", "b");
    EXPECT_TRUE(vote(holes).knows_all_slots);
    holes[0].last = middle - 2;
    EXPECT_FALSE(vote(holes).knows_all_slots);
    EXPECT_FALSE(vote({part(0, slot_count - 1, "", "")}).knows_all_slots);
}

TEST_F(ClusterVotes, NameEachNodeOnceThePrimariesFirst) {
    EXPECT_THAT(nodes_in({part(0, 1, "id of a", "a", {"r", "s"}), part(2, 3, "id of b", "b", {"r"}),
                          part(4, 5, "id of a", "a"), part(6, 7, "", "")}),
                ElementsAre(server_address{"a", 1}, server_address{"b", 1}, server_address{"r", 1},
                            server_address{"s", 1}));
}

} // namespace
} // namespace holdfast::redis
