// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "redis/cluster/slots_answer.hpp"
#include "support/made_reply.hpp"

#include <limits>

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using ::testing::ElementsAre;
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
    EXPECT_EQ(objection_to(made::nil()), "CLUSTER SLOTS tells no list");
    EXPECT_EQ(objection_to(made::text("OK")), "CLUSTER SLOTS tells no list");
    EXPECT_THAT(objection_to_range(made::number(1)), HasSubstr("slots without a node"));
    EXPECT_THAT(objection_to_range(range(0, 1, {})), HasSubstr("slots without a node"));
    EXPECT_THAT(objection_to_range(range(-1, 1, {node("a", 1)})), HasSubstr("the slot -1"));
    EXPECT_THAT(objection_to_range(range(0, 16384, {node("a", 1)})), HasSubstr("the slot 16384"));
    EXPECT_THAT(objection_to_range(range(1LL << 32, 1, {node("a", 1)})), HasSubstr("4294967296"));
    EXPECT_THAT(objection_to_range(range(2, 1, {node("a", 1)})), HasSubstr("slots from 2 to 1"));
    reply words = range(0, 1, {node("a", 1)});
    words.items[0] = made::text("0");
    EXPECT_THAT(objection_to_range(words), HasSubstr("the slot that is no number"));
    EXPECT_THAT(objection_to_range(range(0, 1, {made::text("a:1")})),
                HasSubstr("no host and port"));
    EXPECT_THAT(objection_to_range(range(0, 1, {made::texts({"a"})})), HasSubstr("no host and"));
    EXPECT_THAT(objection_to_range(range(0, 1, {node("a", -1)})), HasSubstr("the port -1"));
    EXPECT_THAT(objection_to_range(range(0, 1, {node("a", 65536)})), HasSubstr("the port 65536"));
    EXPECT_THAT(objection_to_range(range(0, 1, {made::texts({"a", "1"})})),
                HasSubstr("the port that is no number"));
    EXPECT_THAT(objection_to_range(range(0, 1, {node(made::number(1), 1)})),
                HasSubstr("a host that is no text"));
    for (const std::string host : {"a b", "a\r\nb", "\x80", "\x7f"})
        EXPECT_THAT(objection_to_range(range(0, 1, {node(host, 1)})), HasSubstr("cannot be one"));
    EXPECT_THAT(objection_to_range(range(0, 1, {node(std::string(254, 'a'), 1)})),
                HasSubstr("cannot be one"));
    EXPECT_THAT(
        objection_to(made::list({range(0, 5, {node("a", 1)}), range(5, 9, {node("b", 1)})})),
        HasSubstr("twice of the slot 5"));
}

} // namespace
} // namespace holdfast::redis
