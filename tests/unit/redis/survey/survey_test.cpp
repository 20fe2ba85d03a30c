// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/report.hpp"
#include "redis/topology/slot_map.hpp"
#include "redis/topology/survey.hpp"
#include "support/made_reply.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

const server_address here{"10.0.0.1", 7000}, there{"10.0.0.2", 7000};
const reply denied = made::error("NOPERM this user has no permissions to run it");

reply date(const char* seconds, const char* rest) {
    return made::texts({seconds, rest});
}

/// Replies of a server without problems, in the order of the requests.
enum question : std::size_t { first_time, info, files, wait };
std::vector<reply> of_server() {
    return {date("1000", "0"), made::text("role:master\r\n"),
            made::texts({"appendonly", "yes", "appendfsync", "always"}), made::number(1),
            date("1000", "200")};
}

enum node_question : std::size_t { settings = 4, slots, nodes, listeners, shard_listeners };
std::vector<reply> of_node() {
    std::vector<reply> all = of_server();
    const reply whole = made::list(
        {made::list({made::number(0), made::number(16383),
                     made::list({made::text("10.0.0.1"), made::number(7000), made::text("id")})})});
    all.insert(all.end() - 1, {made::texts({"cluster-node-timeout", "15000",
                                            "cluster-allow-replica-migration", "no"}),
                               whole,
                               made::text("id 10.0.0.1:7000@17000 myself,master - 0 0 1 connected "
                                          "0-16383\n"),
                               made::list({}), made::list({})});
    return all;
}

/// Sent when the client's clock showed 500 ms, and read 10 ms later.
std::vector<reply> timed(std::vector<reply> all) {
    for (reply& each : all) {
        each.sent_at = time_point{500ms};
        each.received_at = time_point{510ms};
    }
    return all;
}

server_report told_by(std::vector<reply> server) {
    return read_answers(questioned::server, timed(std::move(server)), here, nullptr);
}

slot_map whole_map() {
    slot_map map{std::vector{here, there}};
    const slot_ranges told[] = {{{.first = 0, .last = 16383, .primary = here}}};
    map.renew(told, map.now());
    return map;
}

server_report told_by_node(std::vector<reply> node) {
    const slot_map map = whole_map();
    return read_answers(questioned::node_of_cluster, timed(std::move(node)), here, &map);
}

TEST(Questions, AreAsManyAsTheAnswersThatAreRead) {
    for (const questioned whom : {questioned::server, questioned::node_of_cluster}) {
        const std::string sent = questions_for(whom);
        EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(sent, '*')) -
                      (whom == questioned::server ? 1 : 4), // of patterns
                  count_of_questions(whom));
    }
    EXPECT_EQ(of_server().size(), count_of_questions(questioned::server));
    EXPECT_EQ(of_node().size(), count_of_questions(questioned::node_of_cluster));
}

TEST(Questions, AFitServerAnswersAll) {
    const server_report told = told_by(of_server());
    EXPECT_EQ(told.address, "10.0.0.1:7000");
    EXPECT_EQ(told.info, "role:master\r\n");
    EXPECT_EQ(told.fsync, "always");
    EXPECT_EQ(told.wait_refusal, "");
    EXPECT_FALSE(told.closed_to_files);
    EXPECT_FALSE(told.clock_jumps);
}

TEST(Questions, AClockIsReadBetweenQuestionAndAnswer) {
    const server_report told = told_by(of_server());
    ASSERT_TRUE(told.clock);
    EXPECT_EQ(told.clock->most, microseconds{1000s} - 500ms);
    EXPECT_EQ(told.clock->least, microseconds{1000s} - 511ms);
}

TEST(Questions, AClockThatGoesBackOrTooFarJumps) {
    std::vector<reply> all = of_server();
    all.back() = date("1000", "10900");
    EXPECT_FALSE(told_by(all).clock_jumps);
    all.back() = date("1000", "12000");
    EXPECT_TRUE(told_by(all).clock_jumps);
    all.front() = date("1000", "12001");
    EXPECT_TRUE(told_by(all).clock_jumps);
}

TEST(Questions, WhatIsDeniedIsNotKnown) {
    const server_report told = told_by(std::vector<reply>(5, denied));
    EXPECT_FALSE(told.clock);
    EXPECT_FALSE(told.clock_jumps);
    EXPECT_EQ(told.info, "");
    EXPECT_EQ(told.fsync, "");
    EXPECT_TRUE(told.closed_to_files);
    EXPECT_EQ(told.wait_refusal, denied.text);

    const server_report node = told_by_node(std::vector<reply>(10, denied));
    EXPECT_FALSE(node.node_timeout || node.replicas_migrate || node.open || node.other_view ||
                 node.plain_listeners || node.shard_listeners);
}

TEST(Questions, WhatMakesNoSenseIsNotKnown) {
    for (const reply& odd : {made::nil(), made::number(3), made::text("x"), made::texts({"a"}),
                             made::list({made::list({})})}) {
        const server_report told = told_by_node(std::vector<reply>(10, odd));
        EXPECT_FALSE(told.clock || told.node_timeout || told.other_view);
    }
    EXPECT_EQ(told_by({}).info, "");
}

TEST(Questions, ANodeTellsItsSettings) {
    const server_report told = told_by_node(of_node());
    EXPECT_EQ(told.node_timeout, 15s);
    EXPECT_EQ(told.replicas_migrate, false);
    EXPECT_EQ(told.plain_listeners, false);
    EXPECT_FALSE(told.other_view);
    ASSERT_TRUE(told.open);
    EXPECT_EQ(told.open->count, 0u);
}

TEST(Questions, ANodeTellsWhichOfItsSlotsAreOpen) {
    std::vector<reply> all = of_node();
    all[nodes] = made::text("other 10.0.0.2:7000@17000 master - 0 0 1 connected [7->-no]\n"
                            "id 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-16383 "
                            "[93->-abc] [94-<-def]\n");
    const server_report told = told_by_node(all);
    ASSERT_TRUE(told.open);
    EXPECT_EQ(told.open->count, 2u);
    EXPECT_EQ(told.open->first, 93);
}

TEST(Questions, ANodeThatNamesAnotherOwnerDisagrees) {
    std::vector<reply> all = of_node();
    all[slots] = made::list(
        {made::list({made::number(0), made::number(9),
                     made::list({made::text("10.0.0.1"), made::number(7000), made::text("id")})}),
         made::list({made::number(10), made::number(19),
                     made::list({made::text("10.0.0.2"), made::number(7000), made::text("x")})})});
    const server_report told = told_by_node(all);
    ASSERT_TRUE(told.other_view);
    EXPECT_EQ(told.other_view->slots, 10u);
    EXPECT_EQ(told.other_view->first, 10);
    EXPECT_EQ(told.other_view->named, there);
}

TEST(Questions, ListenersOfEitherFormAreSeen) {
    std::vector<reply> all = of_node();
    all[listeners] = made::texts({"redisson_lock__channel:{a}"});
    EXPECT_EQ(told_by_node(all).plain_listeners, true);
    EXPECT_EQ(told_by_node(all).shard_listeners, false);
    all[shard_listeners] = denied;
    EXPECT_FALSE(told_by_node(all).shard_listeners);
}

TEST(ReplicaLines, AreInInfo) {
    const std::string told = "role:master\r\nconnected_slaves:3\r\n"
                             "slave0:ip=10.0.0.5,port=6380,state=online,offset=1,lag=0\r\n"
                             "slave1:ip=fd00::1,port=6381,state=wait_bgsave,offset=0,lag=0\r\n"
                             "slave2:ip=10.0.0.7,port=0,state=online,offset=0,lag=0\r\n";
    EXPECT_THAT(replicas_in(told), testing::ElementsAre(server_address{"10.0.0.5", 6380},
                                                        server_address{"fd00::1", 6381}));
    EXPECT_EQ(replicas_online_in(told), 2u);
    EXPECT_EQ(replicas_online_in("role:slave\r\n"), 0u);
}

} // namespace
} // namespace holdfast::redis
