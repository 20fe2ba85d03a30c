// SPDX-License-Identifier: Apache-2.0
// The patterns of names. That all stores have the same rules is tested in tests/conformance.
#include "store/remote/listing.hpp"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::remote {
namespace {

TEST(NamePattern, StarMatchesAnyText) {
    for (const char* const pattern : {"*", "**", "shop:*", "*:42", "s*p:*2", "*o*:*", "*shop:42*"})
        EXPECT_TRUE(matches(pattern, "shop:42")) << pattern;
    for (const char* const pattern : {"", "shop", "shop:*3", "*x*", "shop:42?", "*:4", "s*p:?"})
        EXPECT_FALSE(matches(pattern, "shop:42")) << pattern;
    EXPECT_TRUE(matches("*ab*abc", "abababc")) << "a later part of the name matches";
    EXPECT_TRUE(matches("*", ""));
    EXPECT_FALSE(matches("?", ""));
}

TEST(NamePattern, IsCutOffAtItsEnd) {
    EXPECT_TRUE(matches("a\\", "a\\")) << "a backslash at the end matches itself";
    EXPECT_TRUE(matches("a[bc", "ac")) << "a class without an end extends to the end";
    EXPECT_TRUE(matches("a[b-", "a-"));
    EXPECT_TRUE(matches("a[b\\", "a\\"));
    EXPECT_FALSE(matches("a[", "ab"));
    EXPECT_TRUE(matches("a[^", "ab"));
}

TEST(NamePattern, ClassMayContainItsSpecialBytesAfterABackslash) {
    for (const char* const name : {"]", "^", "-", "\\"})
        EXPECT_TRUE(matches("[\\]\\^\\-\\\\]", name)) << name;
    EXPECT_FALSE(matches("[\\]\\^\\-\\\\]", "a"));
    EXPECT_TRUE(matches("[a-]]", "_")) << "the end of a range may be any byte";
}

TEST(NamePattern, ManyStarsTakeNoLongTime) {
    const std::string name(10'000, 'a');
    std::string pattern;
    for (int i = 0; i < 50; ++i)
        pattern += "*a";
    EXPECT_FALSE(matches(pattern + "b", name));
}

} // namespace
} // namespace holdfast::remote
