// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/agreement.hpp"
#include "redis/cluster/slot.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

constexpr std::uint16_t middle = 8000;

/// The primaries of the lower and of the upper slots.
slot_ranges shared_by(const std::string& low, const std::string& high) {
    return {{.first = 0, .last = middle - 1, .primary = {low, 1}},
            {.first = middle, .last = slot_count - 1, .primary = {high, 1}}};
}

TEST(Agreement, IsOfMoreThanHalfOfThoseThatWereAsked) {
    const slot_ranges one = shared_by("a", "b"), other = shared_by("c", "b");
    EXPECT_TRUE(most_agree({one, one}, 3));
    EXPECT_TRUE(most_agree({other, one, one}, 3));
    EXPECT_TRUE(most_agree({one}, 1));
    EXPECT_FALSE(most_agree({one}, 2)) << "the other one may say something else";
    EXPECT_FALSE(most_agree({one, other}, 3));
    EXPECT_FALSE(most_agree({one, one}, 4));
    EXPECT_FALSE(most_agree({}, 0));
}

TEST(Agreement, IsAboutPrimariesInAnyOrder) {
    slot_ranges other = shared_by("a", "b");
    std::swap(other[0], other[1]);
    other[0].replicas.push_back({"r", 1});
    EXPECT_TRUE(most_agree({shared_by("a", "b"), other}, 3));
    other[0].primary.port = 2;
    EXPECT_FALSE(most_agree({shared_by("a", "b"), other}, 3));
}

TEST(Agreement, OfThoseWhoDoNotKnowAllSlotsSettlesNothing) {
    slot_ranges holes = shared_by("a", "b");
    holes[0].last = middle - 2;
    EXPECT_FALSE(most_agree({holes, holes}, 3)) << "the third may know whose the slot is";
    slot_ranges unknown = shared_by("a", {});
    EXPECT_FALSE(most_agree({unknown, unknown}, 3));
    EXPECT_TRUE(most_agree({holes, shared_by("a", "b"), shared_by("a", "b")}, 3));
}

} // namespace
} // namespace holdfast::redis
