// SPDX-License-Identifier: Apache-2.0
// Names and data of nodes, as Curator, kazoo and holdfast write them.
#include "store/zookeeper/nodes.hpp"
#include "store/zookeeper/semaphores.hpp"

#include <holdfast/counters.hpp>

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
    const client_info info{"box\n1", 42, "worker", std::string(400, 'x'), std::chrono::seconds{9}};
    const std::optional<told_owner> read = owner_in_data(data_of(somebody, info));
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

// Holders, and the order of the waiters.

using node_names = std::vector<std::string>;

const std::string lock1 = "_c_a-lock-0000000001", lock2 = "_c_b-lock-0000000002",
                  read3 = "_c_c-__READ__0000000003", read4 = "_c_d-__READ__0000000004",
                  writ5 = "_c_e-__WRIT__0000000005", read5 = "_c_f-__READ__0000000005",
                  read6 = "_c_g-__READ__0000000006", writ7 = "_c_h-__WRIT__0000000007";

TEST(Order, TheFirstHoldsAndEachOtherWaitsForTheOneBefore) {
    const node_names all{lock2, "x__lock__0000000009", lock1};
    EXPECT_TRUE(standing_of(all, lock1).first);
    EXPECT_FALSE(standing_of(all, lock2).first);
    EXPECT_EQ(standing_of(all, lock2).behind, lock1);
    EXPECT_EQ(standing_of(all, "x__lock__0000000009").behind, lock2);
    EXPECT_FALSE(standing_of(all, writ5).there);
}

TEST(Order, ReadersWaitForTheLastBeforeThemThatDoesNotRead) {
    EXPECT_TRUE(standing_of({read3, read4}, read4).first);
    EXPECT_EQ(standing_of({lock1, lock2, read3, read4}, read4).behind, lock2);
    EXPECT_EQ(standing_of({read4, writ5, read6}, read6).behind, writ5);
    EXPECT_TRUE(standing_of({read4, writ5, read6}, read4).first);
}

TEST(Order, WhoWritesWaitsForAllBefore) {
    EXPECT_EQ(standing_of({read3, read4, writ5}, writ5).behind, read4);
    EXPECT_EQ(standing_of({read3, writ5}, writ5).behind, read3);
    EXPECT_TRUE(standing_of({writ5, read6}, writ5).first);
}

TEST(Order, AWritersOwnReadIsInItsPlace) {
    const node_names all{writ5, read5, read6, writ7};
    EXPECT_TRUE(standing_of(all, writ5).first);
    EXPECT_TRUE(standing_of(all, read5).first);
    EXPECT_EQ(standing_of(all, read6).behind, writ5);
    EXPECT_TRUE(standing_of({read5, read6, writ7}, read6).first) << "the writer has left";
    EXPECT_EQ(standing_of({read5, writ7}, writ7).behind, read5);
}

TEST(Order, AnUpgradeDoesNotWaitForItsOwnRead) {
    EXPECT_TRUE(standing_of({read3, writ5}, writ5, read3).first);
    const standing beside = standing_of({read3, read4, writ5}, writ5, read3);
    EXPECT_EQ(beside.behind, read4);
    EXPECT_THAT(beside.rivals, IsEmpty());
    EXPECT_FALSE(standing_of({lock1, read3, writ5}, writ5, read3).first);
}

TEST(Order, TheWritersBeforeAnUpgradeAreItsRivals) {
    EXPECT_THAT(standing_of({read3, writ5, writ7}, writ7, read3).rivals, ElementsAre(writ5));
    EXPECT_THAT(standing_of({writ5, writ7}, writ7).rivals, IsEmpty());
}

TEST(Order, ANewcomerWaitsForWhomItDoesNotShareWith) {
    EXPECT_FALSE(is_taken({}, false));
    EXPECT_FALSE(is_taken({"noise", "lock-"}, false));
    EXPECT_TRUE(is_taken({read3}, false));
    EXPECT_FALSE(is_taken({read3}, true));
    EXPECT_TRUE(is_taken({read3, writ5}, true)) << "who waits comes before";
    EXPECT_FALSE(is_taken({read3}, false, read3));
}

TEST(Order, HoldersAreOneOrAllWhoShare) {
    const auto holders = [](const node_names& all) {
        std::vector<std::string> some;
        for (const contender& each : holders_among(contenders_in(all)))
            some.emplace_back(each.node);
        return some;
    };
    EXPECT_THAT(holders({}), ElementsAre());
    EXPECT_THAT(holders({lock2, lock1}), ElementsAre(lock1));
    EXPECT_THAT(holders({read3, read4, writ5, read6}), ElementsAre(read3, read4));
    EXPECT_THAT(holders({writ5, read5, read6}), ElementsAre(writ5, read5));
    EXPECT_THAT(holders({read5, read6, writ7}), ElementsAre(read5, read6));
}

const paths usual{"/holdfast", false};
const paths curators{"", true};

TEST(Paths, OfNamesAreBelowTheRoot) {
    EXPECT_EQ(usual.of("stock"), "/holdfast/stock");
    EXPECT_EQ(usual.of("a/b%c d"), "/holdfast/a%2Fb%25c d");
    EXPECT_EQ((paths{"/", false}.of("stock")), "/stock");
    EXPECT_EQ(usual.of("n\xc3\xa4me"), "/holdfast/n%C3%A4me");
}

TEST(Paths, OfAllBytesComeBackAsTheyWere) {
    std::string every;
    for (int byte = 0; byte < 256; ++byte)
        every += static_cast<char>(byte);
    for (const std::string& name :
         {every, std::string{"..."}, std::string{"%2F"}, std::string{" "}}) {
        EXPECT_FALSE(usual.objection_to(name)) << name;
        EXPECT_FALSE(objection_to_path(usual.of(name))) << usual.of(name);
        EXPECT_EQ(usual.name_at(usual.of(name)), name);
    }
}

TEST(Paths, ThatNoNameHasAreNoNames) {
    for (const char* path : {"/holdfast/%", "/holdfast/%2", "/holdfast/%2f", "/holdfast/%61",
                             "/holdfast/\xc3\xa4", "/other/stock", "/holdfast/a/b"})
        EXPECT_FALSE(usual.name_at(path)) << path;
}

TEST(Paths, NamesThatCannotBeAreRefused) {
    for (const char* name : {"", ".", ".."})
        EXPECT_TRUE(usual.objection_to(name)) << name;
    EXPECT_FALSE(usual.objection_to(std::string(1000, 'x')));
    EXPECT_TRUE(usual.objection_to(std::string(1001, 'x')));
    EXPECT_TRUE(usual.objection_to(std::string(334, '/'))) << "its encoding is longer";
    EXPECT_TRUE((paths{"/", false}.objection_to("zookeeper")));
    EXPECT_FALSE(usual.objection_to("zookeeper"));
}

TEST(Paths, MayBeTheNamesThemselves) {
    for (const char* name : {"/a", "/app/locks/x y", "/n\xc3\xa4me", "/\xe2\x82\xac"}) {
        EXPECT_FALSE(curators.objection_to(name)) << name;
        EXPECT_EQ(curators.of(name), name);
        EXPECT_EQ(curators.name_at(name), name);
    }
    for (const char* name :
         {"", "/", "a", "/a/", "//a", "/a//b", "/a/.", "/a/../b", "/a\tb", "/zookeeper/x", "/\xc3",
          "/\xff", "/\xc0\xaf", "/\xe0\x80\xaf", "/\xf0\x9f\x94\x92", "/\xee\x80\x80",
          "/\xed\xa0\x80", "/\xc2\x85", "/\xef\xbf\xbd"})
        EXPECT_TRUE(curators.objection_to(name)) << name;
}

TEST(Paths, HaveParents) {
    EXPECT_EQ(parent_of("/a/b/c"), "/a/b");
    EXPECT_EQ(parent_of("/a"), "/");
    EXPECT_EQ(last_part("/a/b"), "b");
    EXPECT_EQ(below("/", "a"), "/a");
    EXPECT_EQ(below("/a", "b"), "/a/b");
}

// How many permits there are, as Curator's SharedCount has it and as we do.

const owner_id asker{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 7}, another_asker{asker.client, 8};

TEST(NumberOfPermits, IsThatOfCuratorsSharedCount) {
    using namespace std::string_literals;
    EXPECT_EQ(capacity_data(258, asker).substr(0, 5), "\0\0\1\2\n"s);
    EXPECT_EQ(capacity_in("\0\0\1\2"s), 258);
    EXPECT_EQ(capacity_in("\0\0\0\0"s), 0);
    EXPECT_EQ(capacity_in("\x7f\xff\xff\xff"), counted_max);
    EXPECT_EQ(capacity_in(capacity_data(3, asker)), 3);
}

TEST(NumberOfPermits, IsNotReadWhereSomethingElseIs) {
    for (const std::string each : {"", "2", "2\n", "127.0.0.1", "\x80\1\1\1"})
        EXPECT_FALSE(capacity_in(each)) << each;
}

TEST(NumberOfPermits, TellsWhichRequestSetIt) {
    EXPECT_TRUE(was_set_by(capacity_data(3, asker), asker));
    EXPECT_FALSE(was_set_by(capacity_data(3, asker), another_asker));
    for (const std::string each : {"", "abc", "abcd", "abcd\n"})
        EXPECT_FALSE(was_set_by(each, asker));
}

} // namespace
} // namespace holdfast::zookeeper
