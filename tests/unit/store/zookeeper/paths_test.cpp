// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/paths.hpp"

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

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

} // namespace
} // namespace holdfast::zookeeper
