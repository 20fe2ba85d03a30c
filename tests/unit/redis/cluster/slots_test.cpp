// SPDX-License-Identifier: Apache-2.0
// The map of a cluster's slots, and the nodes' votes on it.
#include "net/failure.hpp"
#include "redis/topology/slot_map.hpp"
#include "support/made_reply.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

// tests/redis/store_server_test.cpp compares these results with real servers.

TEST(Slot, IsTheChecksumOfTheKey) {
    EXPECT_EQ(key_slot(""), 0);
    EXPECT_EQ(key_slot("123456789"), 0x31C3); // the check value of CRC-16/XMODEM
    EXPECT_EQ(key_slot("foo"), 12182);        // CLUSTER KEYSLOT of redis 7.0 from here on
    EXPECT_EQ(key_slot("bar"), 5061);
    EXPECT_EQ(key_slot("somekey"), 11058);
    EXPECT_EQ(key_slot("\xC3\xA9t\xC3\xA9"), 10087);
    EXPECT_EQ(key_slot(std::string_view{"a\0b", 3}), 8383);
    EXPECT_EQ(key_slot(std::string(1000, 'x')), 3195);
}

TEST(Slot, IsThatOfTheFirstTagAlone) {
    EXPECT_EQ(key_slot("foo{hash_tag}"), 2515);
    EXPECT_EQ(key_slot("foo{hash_tag}"), key_slot("hash_tag"));
    EXPECT_EQ(key_slot("{user1000}.following"), key_slot("{user1000}.followers"));
    EXPECT_EQ(key_slot("foo{bar}{zap}"), key_slot("bar"));
    EXPECT_EQ(key_slot("foo{{bar}}zap"), key_slot("{bar"));
    EXPECT_EQ(key_slot("}foo{bar}"), key_slot("bar"));
}

TEST(Slot, IsThatOfTheWholeKeyWhereTheTagIsEmptyOrOpen) {
    EXPECT_EQ(hashed_part("foo{}{bar}"), "foo{}{bar}");
    EXPECT_EQ(hashed_part("{}"), "{}");
    EXPECT_EQ(hashed_part("{"), "{");
    EXPECT_EQ(hashed_part("}{"), "}{");
    EXPECT_EQ(hashed_part("foo{bar"), "foo{bar");
    EXPECT_EQ(key_slot("foo{}{bar}"), 8363);
}

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
    const slot_ranges next{range_of(0, 99, "a"), range_of(101, 200, "b"), range_of(201, 300, "c"),
                           range_of(301, 8191, "a"), range_of(8192, 16383, "b")};
    const auto then = renew({next, next});
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

TEST_F(SlotMap, WithoutAMajorityThePresentOwnerStays) {
    renew({halves("a", "a")});
    renew({halves("b", "b"), halves("a", "a")});
    EXPECT_EQ(owner(0), "a");
    renew({halves("a", "a"), halves("b", "b")});
    EXPECT_EQ(owner(0), "a");
    renew({halves("b", "b"), halves("c", "c")}); // neither is the present one
    EXPECT_EQ(owner(0), "a");
    renew({halves("b", "b"), halves("b", "b"), halves("c", "c")});
    EXPECT_EQ(owner(0), "b");
}

TEST_F(SlotMap, VotersThatHaveNotAnsweredCountAgainstAChange) {
    renew({halves("a", "b")});
    const std::vector<slot_ranges> one(1, halves("c", "b")), two(2, halves("c", "b"));
    EXPECT_THAT(map_.renew(one, map_.now(), 3), IsEmpty());
    EXPECT_THAT(map_.renew(two, map_.now(), 4), IsEmpty());
    EXPECT_EQ(map_.renew(two, map_.now(), 3).size(), 1u);
    EXPECT_EQ(owner(0), "c");
}

TEST_F(SlotMap, WithAsManyVotesEachSlotStaysWhereItIs) {
    renew({halves("a", "b")});
    EXPECT_THAT(renew({halves("a", "a"), halves("b", "b")}), IsEmpty());
}

TEST_F(SlotMap, ASlotWithoutAnOwnerGetsTheOneThatIsNamed) {
    renew({{}, {}, halves("a", "b")});
    EXPECT_EQ(owner(0), "a");
}

TEST_F(SlotMap, ASmallerMapIsNotBelievedFromOneNodeAlone) {
    renew({halves("a", "b")});
    renew({{range_of(0, 8191, "a")}});
    EXPECT_EQ(owner(16383), "b");
    renew({{range_of(0, 16383, "")}});
    EXPECT_EQ(map_.unserved(), 0u);
    renew({{range_of(0, 8191, "a")}, halves("a", "b"), {range_of(0, 16383, "")}});
    EXPECT_EQ(owner(0), "a");
    EXPECT_EQ(owner(16383), "") << "two of three name nobody";
}

TEST_F(SlotMap, SlotsThatTwoNodesNameNobodyForHaveNoOwner) {
    renew({halves("a", "b")});
    const slot_ranges smaller{range_of(0, 8191, "a")};
    renew({smaller, smaller});
    EXPECT_EQ(owner(16383), "");
    EXPECT_EQ(map_.unserved(), 8192u);
    EXPECT_THAT(hosts(map_.primaries()), ElementsAre("a"));
    EXPECT_EQ(map_.slots_of(map_.know(at("b"))), 0u);
}

TEST_F(SlotMap, KnowsWhoIsAMember) {
    renew({{range_of(0, 8191, "a", {at("r")}), range_of(8192, 16383, "b")}});
    for (const char* each : {"a", "b", "r"})
        EXPECT_TRUE(map_.is_member(at(each))) << each;
    EXPECT_FALSE(map_.is_member(at("seed")));
    renew({halves("a", "a"), halves("a", "a")});
    EXPECT_FALSE(map_.is_member(at("r")));
    EXPECT_FALSE(map_.is_member(at("b")));
    EXPECT_EQ(map_.members().addresses, (std::set<std::string>{"a:6379"}));
}

TEST_F(SlotMap, TellsWhetherAnAnswerDiffers) {
    renew({halves("a", "b")});
    EXPECT_FALSE(map_.differs_from(halves("a", "b")));
    EXPECT_TRUE(map_.differs_from(halves("a", "a")));
    EXPECT_TRUE(map_.differs_from(halves("a", "new")));
    EXPECT_TRUE(map_.differs_from({range_of(0, 8191, "a")}));
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
        all.push_back(range_of((from + i) % static_cast<int>(slot_count),
                               (from + i) % static_cast<int>(slot_count),
                               "n" + std::to_string(from + i)));
    return all;
}

TEST_F(SlotMap, HasRoomForAPrimaryPerSlot) {
    const auto most = static_cast<int>(slot_count);
    renew({many(0, most)});
    EXPECT_EQ(map_.unserved(), 0u);
    EXPECT_EQ(map_.primaries().size(), slot_count);
    EXPECT_EQ(owner(0), "n0");
    EXPECT_EQ(owner(254), "n254");
    EXPECT_EQ(owner(16383), "n16383");
}

TEST_F(SlotMap, ForgetsTheFormerNodesThatWereNotNamedForTheLongestTime) {
    const auto name = [&](int from, int count) {
        const slot_ranges all = many(from, count);
        for (const slot_range& each : all)
            map_.know(each.primary);
    };
    renew({halves("a", "b")});
    name(0, 200);
    renew({halves("a", "b")});
    name(200, 200); // and now there are more than are remembered
    renew({halves("a", "b")});
    std::set<std::string> known;
    for (std::size_t i = 0; i < map_.size(); ++i)
        known.insert(map_.address(static_cast<slot_map::node_number>(i)).host);
    known.erase("");
    EXPECT_EQ(known.size(), slot_map::former_max + 3) << "with the seed and the two primaries";
    EXPECT_TRUE(known.contains("seed"));
    EXPECT_TRUE(known.contains("n399"));
    EXPECT_FALSE(known.contains("n0"));
    const std::size_t size = map_.size();
    EXPECT_EQ(map_.address(map_.know(at("another"))), at("another"));
    EXPECT_EQ(map_.size(), size) << "it has the number of one that is forgotten";
}

TEST_F(SlotMap, AChangeNeverTellsOfANodeThatIsForgottenMeanwhile) {
    renew({many(0, 1000)});
    const auto changes = renew({many(1000, 1000), many(1000, 1000)});
    for (const change& each : changes) {
        const std::string from = each.from == nobody ? "" : map_.address(each.from).host;
        EXPECT_THAT(from, ::testing::AnyOf("", "n" + std::to_string(each.first)));
    }
    EXPECT_EQ(owner(1000), "n1000");
}

using ::testing::HasSubstr;

const server_address asked{"seed.internal", 6379};

reply node(reply host, std::int64_t port) {
    return made::list({std::move(host), made::number(port), made::text("id"), made::list({})});
}
reply node(std::string host, std::int64_t port) {
    return node(made::text(std::move(host)), port);
}
/// As 7.0 and later tell it where it has more than one name.
reply node_with(std::string host, std::vector<std::string> more) {
    reply one = node(std::move(host), 6379);
    one.items.back() = made::texts(std::move(more));
    return one;
}
reply range(std::int64_t first, std::int64_t last, std::vector<reply> nodes) {
    reply one = made::list({made::number(first), made::number(last)});
    for (reply& each : nodes)
        one.items.push_back(std::move(each));
    return one;
}
server_address primary_in(reply said) {
    return read_slots(made::list({range(0, 0, {std::move(said)})}), asked).at(0).primary;
}
std::string objection_to(const reply& said) {
    try {
        (void)read_slots(said, asked);
    } catch (const net::failure& why) {
        EXPECT_EQ(why.code(), store_errc::protocol);
        return why.text();
    }
    return "none";
}
std::string objection_to_range(reply said) {
    return objection_to(made::list({std::move(said)}));
}

TEST(SlotsAnswer, TellsOfPrimariesAndTheirReplicas) {
    const slot_ranges told =
        read_slots(made::list({range(0, 8191, {node("10.0.0.1", 6379), node("10.0.0.4", 6380)}),
                               range(8192, 16383, {node("fd00::2", 7000)})}),
                   asked);
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0].first, 0);
    EXPECT_EQ(told[0].last, 8191);
    EXPECT_EQ(told[0].primary, (server_address{"10.0.0.1", 6379}));
    EXPECT_THAT(told[0].replicas, ElementsAre(server_address{"10.0.0.4", 6380}));
    EXPECT_EQ(told[1].primary, (server_address{"fd00::2", 7000}));
    EXPECT_TRUE(told[1].replicas.empty());
}

TEST(SlotsAnswer, MayGiveEachSlotToAnotherNodeThanTheSlotBefore) {
    constexpr std::size_t nodes = 300;
    std::string text = "*" + std::to_string(slot_count) + "\r\n";
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
        const std::string at = ":" + std::to_string(slot) + "\r\n";
        text += "*3\r\n" + at + at +
                "*4\r\n$8\r\n10.0.0.1\r\n:" + std::to_string(7000 + slot % nodes) +
                "\r\n$2\r\nid\r\n*0\r\n";
    }
    answer_reader reader{options{}.reply_bytes_max, answer_reader::items_max_in_cluster};
    reader.feed(text);
    const reply* const said = reader.next();
    ASSERT_NE(said, nullptr);
    const slot_ranges told[] = {read_slots(*said, asked)};
    slot_map map{{}};
    map.renew(told, map.now());
    EXPECT_EQ(map.primaries().size(), nodes);
    EXPECT_EQ(map.unserved(), 0u);
    for (const std::uint16_t slot : {0, 1, 299, 300, 16383})
        EXPECT_EQ(map.address(map.owner(slot)).port, 7000 + slot % nodes);
}

TEST(SlotsAnswer, OfAServerBefore4HasNoIds) {
    const reply bare = made::list({made::text("10.0.0.1"), made::number(6379)});
    EXPECT_EQ(primary_in(bare), (server_address{"10.0.0.1", 6379}));
}

TEST(SlotsAnswer, NoHostIsTheOneThatWasAsked) {
    EXPECT_EQ(primary_in(node("", 7001)), (server_address{"seed.internal", 7001}));
    EXPECT_EQ(primary_in(node(made::nil(), 7001)), (server_address{"seed.internal", 7001}));
}

TEST(SlotsAnswer, AHostNameThatIsNotKnownIsReplacedByTheAddress) {
    EXPECT_EQ(primary_in(node_with("?", {"ip", "10.0.0.9"})).host, "10.0.0.9");
    EXPECT_EQ(primary_in(node_with("?", {"hostname", "a", "ip", "10.0.0.9"})).host, "10.0.0.9");
    EXPECT_EQ(primary_in(node_with("?", {"ip", ""})).host, "seed.internal");
    EXPECT_EQ(primary_in(node_with("?", {"ip", "a b"})).host, "seed.internal");
    EXPECT_EQ(primary_in(node_with("?", {"ip"})).host, "seed.internal");
    EXPECT_EQ(primary_in(node("?", 6379)).host, "seed.internal");
}

TEST(SlotsAnswer, TheNameThatANodePrefersCounts) {
    EXPECT_EQ(primary_in(node_with("db1.internal", {"ip", "10.0.0.9"})).host, "db1.internal");
    EXPECT_EQ(primary_in(node_with("10.0.0.9", {"hostname", "db1.internal"})).host, "10.0.0.9");
}

TEST(SlotsAnswer, ANodeWhoseAddressIsNotKnownIsNobody) {
    EXPECT_EQ(primary_in(node("", 0)), server_address{});
    const slot_ranges told = read_slots(
        made::list({range(0, 1, {node("10.0.0.1", 1), node("", 0), node("10.0.0.3", 3)})}), asked);
    EXPECT_THAT(told[0].replicas, ElementsAre(server_address{"10.0.0.3", 3}));
}

TEST(SlotsAnswer, MayBeEmpty) {
    EXPECT_TRUE(read_slots(made::list({}), asked).empty());
}

TEST(SlotsAnswer, OfAServerThatRefusesHasItsWords) {
    try {
        (void)read_slots(made::error("ERR This instance has cluster support disabled"), asked);
        ADD_FAILURE() << "taken";
    } catch (const net::failure& why) {
        EXPECT_EQ(why.code(), errc::refused);
        EXPECT_THAT(why.text(), HasSubstr("cluster support disabled"));
    }
}

TEST(SlotsAnswer, NamesWhatMakesNoSense) {
    EXPECT_EQ(objection_to(made::nil()),
              "CLUSTER SLOTS returned an invalid reply: it is not a list");
    EXPECT_EQ(objection_to(made::text("OK")),
              "CLUSTER SLOTS returned an invalid reply: it is not a list");
    EXPECT_THAT(objection_to_range(made::number(1)), HasSubstr("a range of slots has no node"));
    EXPECT_THAT(objection_to_range(range(0, 1, {})), HasSubstr("a range of slots has no node"));
    EXPECT_THAT(objection_to_range(range(-1, 1, {node("a", 1)})), HasSubstr("the slot is -1"));
    EXPECT_THAT(objection_to_range(range(0, 16384, {node("a", 1)})),
                HasSubstr("the slot is 16384"));
    EXPECT_THAT(objection_to_range(range(1LL << 32, 1, {node("a", 1)})), HasSubstr("4294967296"));
    EXPECT_THAT(objection_to_range(range(2, 1, {node("a", 1)})),
                HasSubstr("slots goes from 2 to 1"));
    reply words = range(0, 1, {node("a", 1)});
    words.items[0] = made::text("0");
    EXPECT_THAT(objection_to_range(words), HasSubstr("the slot is not a number"));
    EXPECT_THAT(objection_to_range(range(0, 1, {made::text("a:1")})),
                HasSubstr("no host and port"));
    EXPECT_THAT(objection_to_range(range(0, 1, {made::texts({"a"})})), HasSubstr("no host and"));
    EXPECT_THAT(objection_to_range(range(0, 1, {node("a", -1)})), HasSubstr("the port is -1"));
    EXPECT_THAT(objection_to_range(range(0, 1, {node("a", 65536)})),
                HasSubstr("the port is 65536"));
    EXPECT_THAT(objection_to_range(range(0, 1, {made::texts({"a", "1"})})),
                HasSubstr("the port is not a number"));
    EXPECT_THAT(objection_to_range(range(0, 1, {node(made::number(1), 1)})),
                HasSubstr("a host is not a text"));
    for (const std::string host : {"a b", "a\r\nb", "\x80", "\x7f"})
        EXPECT_THAT(objection_to_range(range(0, 1, {node(host, 1)})),
                    HasSubstr("has an invalid name"));
    EXPECT_THAT(objection_to_range(range(0, 1, {node(std::string(254, 'a'), 1)})),
                HasSubstr("has an invalid name"));
    EXPECT_THAT(
        objection_to(made::list({range(0, 5, {node("a", 1)}), range(5, 9, {node("b", 1)})})),
        HasSubstr("the slot 5 is listed twice"));
}

TEST(SlotsAnswer, NamesTheIdsOfNodes) {
    const slot_ranges told =
        read_slots(made::list({range(0, 1, {node("a", 1), node("", 0), node("b", 2)})}), asked);
    EXPECT_EQ(told[0].primary_id, "id");
    EXPECT_THAT(told[0].replica_ids, ElementsAre("id"));
}

TEST(SlotsAnswer, NamesNoPathsOfLocalSockets) {
    EXPECT_THAT(objection_to_range(range(0, 1, {node("/tmp/socket", 1)})),
                HasSubstr("has an invalid name"));
    EXPECT_THAT(objection_to_range(range(0, 1, {node("a", 1), node("/tmp/socket", 1)})),
                HasSubstr("has an invalid name"));
    EXPECT_EQ(primary_in(node_with("?", {"ip", "/tmp/socket"})).host, "seed.internal");
    const server_address beside{"/tmp/one", 1};
    EXPECT_EQ(read_slots(made::list({range(0, 0, {node("/tmp/other", 2)})}), beside).at(0).primary,
              (server_address{"/tmp/other", 2}))
        << "as in tests";
}

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
