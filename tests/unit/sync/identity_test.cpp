// SPDX-License-Identifier: Apache-2.0
#include "unit/sync/stage.hpp"

#include <limits>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

TEST(OwnerId, IsSpelledAsRedissonSpellsIt) {
    owner_id owner;
    for (std::size_t i = 0; i < owner.client.size(); ++i)
        owner.client[i] = static_cast<std::uint8_t>(0x10 * i + i);
    owner.number = 42;
    EXPECT_EQ(to_string(owner), "00112233-4455-6677-8899-aabbccddeeff:42");
}

TEST(OwnerId, HasRoomForTheLargestNumber) {
    const owner_id owner{{}, std::numeric_limits<std::uint64_t>::max()};
    EXPECT_EQ(to_string(owner), "00000000-0000-0000-0000-000000000000:18446744073709551615");
}

class Identity : public on_stage {};

TEST_F(Identity, SaysThatItIsHoldfastsAndNoJvms) {
    EXPECT_THAT(enter().program->id(),
                testing::ContainsRegex("^[0-9a-f]{8}-[0-9a-f]{4}-8fd5-[89ab][0-9a-f]{3}-"
                                       "[0-9a-f]{12}$"));
}

TEST_F(Identity, OfTwoClientsDiffers) {
    const std::string hers = enter().program->id(), his = enter().program->id();
    EXPECT_NE(hers, his);
}

TEST_F(Identity, IsTheFirstHalfOfEveryOwner) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    EXPECT_EQ(held.owner(), alice.program->id() + ":1");
}

} // namespace
} // namespace holdfast::sync
