// SPDX-License-Identifier: Apache-2.0
#include "support/thrown.hpp"
#include "url/parts.hpp"

#include <string>

#include <gmock/gmock.h>

namespace holdfast::url {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// As they are written, separated by blanks; `-` for a port that is not there.
std::string hosts_of(std::string_view url) {
    std::string all;
    for (const host_and_port& each : split(url).hosts)
        all += (all.empty() ? "" : " ") + each.host + "|" + each.port.value_or("-");
    return all;
}

TEST(UrlParts, HostsAreSeparatedByCommas) {
    EXPECT_EQ(hosts_of("x://a"), "a|-");
    EXPECT_EQ(hosts_of("x://a:1,b,c:3/p"), "a|1 b|- c|3");
    EXPECT_EQ(hosts_of("x://u,v:p,q@a,b:2?n=1,2"), "a|- b|2");
    EXPECT_EQ(hosts_of("x://[::1]:1,[fe80::1%25eth0],b"), "::1|1 fe80::1%eth0|- b|-");
}

TEST(UrlParts, AnEscapedCommaSeparatesNothing) {
    EXPECT_EQ(hosts_of("x://a%2Cb:1,c"), "a,b|1 c|-");
}

TEST(UrlParts, ThereIsAlwaysAHostThatMayBeEmpty) {
    EXPECT_EQ(hosts_of("x:path"), "|-");
    EXPECT_EQ(hosts_of("x:///path"), "|-");
    EXPECT_EQ(hosts_of("x://:1"), "|1");
    EXPECT_EQ(hosts_of("x://a,,b"), "a|- |- b|-");
    EXPECT_EQ(hosts_of("x://a,"), "a|- |-");
    EXPECT_EQ(hosts_of("x://,"), "|- |-");
}

TEST(UrlParts, ThePathIsCutBeforeItIsDecoded) {
    const parts all = split("x://h/a%2Fb/%63//d");
    EXPECT_EQ(all.path, "/a/b/c//d");
    EXPECT_THAT(all.segments, ElementsAre("a/b", "c", "", "d"));
    EXPECT_THAT(split("x://h").segments, IsEmpty());
    EXPECT_THAT(split("x://h/").segments, ElementsAre(""));
    EXPECT_THAT(split("x:name").segments, IsEmpty());
}

TEST(UrlParts, AFragmentEndsTheRest) {
    const parts all = split("x://h/p?a=1#f?b=2#%");
    EXPECT_EQ(all.fragment, "f?b=2#%");
    EXPECT_EQ(all.path, "/p");
    ASSERT_EQ(all.parameters.size(), 1u);
    EXPECT_EQ(all.parameters[0].value.reveal(), "1");
    EXPECT_FALSE(split("x://h/p?a=1").fragment);
}

TEST(UrlParts, NothingIsShownWhereAParameterIsAPassword) {
    for (const char* query : {"sentinel_password=a", "a=1&sentinel_password=b", "Sentinel_Pass=b",
                              "sentinelPassword=b", "a=1?sentinel_password=b", "a=1&password"})
        try {
            EXPECT_FALSE(split("x://h?" + std::string{query}).may_show) << query;
        } catch (const std::exception& refused) {
            EXPECT_THAT(refused.what(), HasSubstr("(not shown")) << query;
        }
    EXPECT_TRUE(split("x://h?prefix=passengers&a=1").may_show);
}

TEST(UrlParts, AnAddressInAListIsCheckedToo) {
    EXPECT_THAT(support::thrown_by([] { (void)split("x://a,[::1]b,c"); }).text,
                HasSubstr("or a ',' and another host"));
    EXPECT_THAT(support::thrown_by([] { (void)split("x://a,[b]"); }).text,
                HasSubstr("[\"b\"] is no IPv6 address"));
    EXPECT_THAT(support::thrown_by([] { (void)split("x://a,[::1,b]"); }).text,
                HasSubstr("a '[' and no ']'"));
    EXPECT_THAT(support::thrown_by([] { (void)split("x://:p@a,:p@b"); }).text,
                HasSubstr("once, before the first host"));
}

} // namespace
} // namespace holdfast::url
