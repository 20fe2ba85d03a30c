// SPDX-License-Identifier: Apache-2.0
#include "sync/gates.hpp"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::sync {
namespace {

class Gates : public testing::Test {
protected:
    const std::string stock = "stock", shelf = "shelf";
    const gate_key plain_stock{stock, family::exclusive};
    const gate_key shared_stock{stock, family::shared};
    gates all;
};

TEST_F(Gates, LocksThatExcludeEachOtherHaveOneGate) {
    EXPECT_EQ(family_of(lock_kind::plain), family_of(lock_kind::fenced));
    EXPECT_EQ(family_of(lock_kind::plain), family_of(lock_kind::spin));
    EXPECT_EQ(family_of(lock_kind::read), family_of(lock_kind::write));
    EXPECT_NE(family_of(lock_kind::plain), family_of(lock_kind::fair));
    EXPECT_NE(family_of(lock_kind::plain), family_of(lock_kind::token));
}

TEST_F(Gates, FamiliesOfOneNameAreApart) {
    gate& plain = all.of(plain_stock);
    EXPECT_EQ(all.find(shared_stock), nullptr);
    gate& shared = all.of(shared_stock);
    EXPECT_NE(&plain, &shared);
    EXPECT_EQ(all.find(plain_stock), &plain);
    EXPECT_EQ(all.count(), 2u);
    all.forget(plain_stock);
    EXPECT_EQ(all.find(plain_stock), nullptr);
    EXPECT_EQ(all.find(shared_stock), &shared);
}

TEST_F(Gates, AGateThatWasForgottenIsMadeAnewForAnotherName) {
    all.of(plain_stock).owe_courtesy(true);
    all.forget(plain_stock);
    EXPECT_FALSE(all.of({shelf, family::fair}).owes_courtesy());
    EXPECT_EQ(all.find(plain_stock), nullptr);
    EXPECT_NE(all.find({shelf, family::fair}), nullptr);
}

TEST_F(Gates, WhoElseListensIsKnownForEachFamily) {
    all.note_others(plain_stock, true);
    EXPECT_TRUE(all.others_listen(plain_stock));
    EXPECT_FALSE(all.others_listen(shared_stock));
    all.note_others(plain_stock, false);
    EXPECT_FALSE(all.others_listen(plain_stock));
}

} // namespace
} // namespace holdfast::sync
