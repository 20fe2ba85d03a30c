// SPDX-License-Identifier: Apache-2.0
// Names and data of nodes, as peers write them and as we do.
#include "store/zookeeper/formats.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::ElementsAre;

const owner_id somebody{{0x87, 0x43, 0xc9, 0xc0, 0x07, 0x95, 0x8f, 0xd5, 0x87, 0xfd}, 258};

TEST(NodeNames, AreCuratorsOrKazoos) {
    constexpr const char* uuid = "8743c9c0-0795-8fd5-0000-000000000102";
    const auto curators = [](lock_kind kind) {
        return node_prefix(node_form::curator, kind, somebody);
    };
    EXPECT_EQ(curators(lock_kind::plain), std::string{"_c_"} + uuid + "-lock-");
    EXPECT_EQ(curators(lock_kind::fenced), curators(lock_kind::plain));
    EXPECT_EQ(curators(lock_kind::fair), curators(lock_kind::plain));
    EXPECT_EQ(curators(lock_kind::read), std::string{"_c_"} + uuid + "-__READ__");
    EXPECT_EQ(curators(lock_kind::write), std::string{"_c_"} + uuid + "-__WRIT__");
    const auto kazoos = [](lock_kind kind) {
        return node_prefix(node_form::kazoo, kind, somebody);
    };
    EXPECT_EQ(kazoos(lock_kind::plain), "8743c9c007958fd50000000000000102__lock__");
    EXPECT_EQ(kazoos(lock_kind::write), kazoos(lock_kind::plain));
    EXPECT_EQ(kazoos(lock_kind::read), "8743c9c007958fd50000000000000102__rlock__");
    EXPECT_EQ(permit_in(permit_prefix(somebody) + "0000000001"), permit_id(somebody));
}

TEST(NodeNames, OfPeersAreRead) {
    struct row {
        const char* node;
        std::int64_t number;
        bool shares, of_pair;
    };
    // Listed from Curator 5.9, kazoo 2.11, go-zookeeper and others.
    for (const row& each :
         {row{"_c_0f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d-lock-0000000007", 7, false, false},
          row{"_c_0f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d-__WRIT__0000000011", 11, false, true},
          row{"_c_0f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d-__READ__0000000012", 12, true, true},
          row{"514e5a831836450cb1a56c741e990fd8__lock__0000000032", 32, false, false},
          row{"514e5a831836450cb1a56c741e990fd8__rlock__0000000033", 33, true, true},
          row{"514e5a831836450cb1a56c741e990fd8-lock-0000000034", 34, false, false},
          row{"_c_8eb60557ba51e0da67eefc47467d3f34-lock-0000000031", 31, false, false},
          row{"lock-0000000002", 2, false, false},
          row{"_c_0f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d-lock--2147483648", -2147483648, false,
              false}}) {
        const std::optional<contender> read = contender_at(each.node);
        ASSERT_TRUE(read) << each.node;
        EXPECT_EQ(read->number, each.number) << each.node;
        EXPECT_EQ(read->shares, each.shares) << each.node;
        EXPECT_EQ(read->of_pair, each.of_pair) << each.node;
    }
}

TEST(NodeNames, OfOthersAreNoContenders) {
    for (const char* node :
         {"", "hello", "lock-", "lock-12", "lock-00000000012", "_c_x-lease-0000000001",
          "_c_x-latch-0000000001", "x__lock__000000000a", "0000000001", "lock-0000000001x",
          "lock-0000000001-copy", "locks", "leases"})
        EXPECT_FALSE(contender_at(node)) << node;
}

TEST(NodeNames, AreInTheOrderOfTheirNumbersWhoeverWroteThem) {
    const std::vector<std::string> names{"_c_z-lock-0000000010",    "a__lock__0000000009",
                                         "_c_a-__READ__0000000002", "noise",
                                         "_c_b-__WRIT__0000000002", "_c_c-lock-0000000100"};
    std::vector<std::string_view> sorted;
    for (const contender& each : contenders_in(names))
        sorted.push_back(each.node);
    EXPECT_THAT(sorted,
                ElementsAre("_c_b-__WRIT__0000000002", "_c_a-__READ__0000000002",
                            "a__lock__0000000009", "_c_z-lock-0000000010", "_c_c-lock-0000000100"));
}

TEST(NodeNames, TellTheOwnerOrAllTheyHave) {
    EXPECT_EQ(owner_in("_c_0f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d-lock-0000000007"),
              "0f9ac3b6-3dcb-4e8b-a1d5-54c2a8ae6e2d");
    EXPECT_EQ(owner_in("514e5a831836450cb1a56c741e990fd8__lock__0000000032"),
              "514e5a831836450cb1a56c741e990fd8");
    EXPECT_EQ(owner_in("lock-0000000002"), "lock-0000000002");
    EXPECT_EQ(owner_in("_c_short-lock-0000000002"), "_c_short-lock-0000000002");
}

TEST(NodeNames, HaveTheirNumberAtTheEnd) {
    EXPECT_EQ(number_in("/p/_c_x-lock-0000000007"), 7);
    EXPECT_EQ(number_in("/p/_c_x-lock-2147483647"), 2147483647);
    EXPECT_EQ(number_in("/p/_c_x-lock--2147483648"), -2147483648);
    EXPECT_EQ(number_in("/p/_c_x-__READ__-000000005"), -5);
    EXPECT_EQ(number_in("/p/_c_x-lock-"), std::nullopt);
    EXPECT_EQ(number_in("7"), std::nullopt);
}

TEST(NodeData, SaysWhoThatIs) {
    const client_card card{"box\n1", 42, "worker", std::string(400, 'x'), std::chrono::seconds{9}};
    const std::optional<told_owner> read = owner_in_data(data_of(somebody, card));
    ASSERT_TRUE(read && read->client);
    EXPECT_EQ(read->owner, to_string(somebody));
    EXPECT_EQ(read->client->host, "box 1");
    EXPECT_EQ(read->client->pid, 42);
    EXPECT_EQ(read->client->program, "worker");
    EXPECT_EQ(read->client->label.size(), 255u);
    EXPECT_EQ(read->client->since, std::chrono::seconds{9});
    EXPECT_EQ(read->above, "");
    EXPECT_EQ(owner_in_data(data_of(somebody, std::nullopt, "node"))->above, "node");
    EXPECT_FALSE(owner_in_data(data_of(somebody, std::nullopt))->client);
}

TEST(NodeData, OfOthersTellsNothing) {
    for (const char* data : {"", "127.0.0.1", "holdfast", "holdfast \n", "\n", "{}", "host box\n"})
        EXPECT_FALSE(owner_in_data(data)) << data;
    EXPECT_TRUE(owner_in_data("holdfast x")) << "without a line's end";
    EXPECT_EQ(owner_in_data("holdfast x\npid many\nnew thing\n")->client->pid, 0);
}

} // namespace
} // namespace holdfast::zookeeper
