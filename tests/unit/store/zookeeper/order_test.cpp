// SPDX-License-Identifier: Apache-2.0
// Who holds, and who waits for whom.
#include "store/zookeeper/order.hpp"

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using ::testing::ElementsAre;
using names = std::vector<std::string>;

const std::string lock1 = "_c_a-lock-0000000001", lock2 = "_c_b-lock-0000000002",
                  read3 = "_c_c-__READ__0000000003", read4 = "_c_d-__READ__0000000004",
                  writ5 = "_c_e-__WRIT__0000000005", read5 = "_c_f-__READ__0000000005",
                  read6 = "_c_g-__READ__0000000006", writ7 = "_c_h-__WRIT__0000000007";

TEST(Order, TheFirstHoldsAndEachOtherWaitsForTheOneBefore) {
    const names all{lock2, "x__lock__0000000009", lock1};
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
    const names all{writ5, read5, read6, writ7};
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
    EXPECT_FALSE(beside.conflict);
    EXPECT_FALSE(standing_of({lock1, read3, writ5}, writ5, read3).first);
}

TEST(Order, AnUpgradeBehindAWriterIsTold) {
    EXPECT_TRUE(standing_of({read3, writ5, writ7}, writ7, read3).conflict);
    EXPECT_FALSE(standing_of({writ5, writ7}, writ7).conflict);
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
    const auto holders = [](const names& all) {
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

} // namespace
} // namespace holdfast::zookeeper
