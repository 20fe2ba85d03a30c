// SPDX-License-Identifier: Apache-2.0
#include "config/url.hpp"
#include "config/url_parts.hpp"
#include "store/memory/test_access.hpp"
#include "support/recorder.hpp"

#include <holdfast/client.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/schemes.hpp>

#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
                HasSubstr("[\"b\"] is not an IPv6 address"));
    EXPECT_THAT(support::thrown_by([] { (void)split("x://a,[::1,b]"); }).text,
                HasSubstr("a '[' without a ']'"));
    EXPECT_THAT(support::thrown_by([] { (void)split("x://:p@a,:p@b"); }).text,
                HasSubstr("once, before the first host"));
}

} // namespace
} // namespace holdfast::url

namespace holdfast {
namespace {

// Schemes that a program adds.

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

/// URLs of a store that a user has added.
struct shelf_options {
    std::string name{};
    std::string colour = "grey";
    std::uint8_t planks = 3;
    duration dries_in = 1h;
    bool has_door = false;
    secret key{};
};

/// Reads shelf://host/name?..., on the memory server of that name. Each test has a scheme of its
/// own, since they stay.
class Schemes : public testing::Test {
protected:
    const std::string scheme =
        "shelf." + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()};
    std::string small = scheme;
    shelf_options seen{};
    int reads = 0;

    Schemes() {
        for (char& c : small)
            c = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }

    void add(bool refuses_unknown = true) {
        add_store_scheme(small, [this, refuses_unknown](store_url& url) {
            ++reads;
            shelf_options how;
            (void)url.servers(small + "://wall/name");
            how.name = url.segments().empty() ? "" : url.segments().front();
            if (how.name.empty())
                url.refuse("it names no shelf, as in " + small + "://wall/name");
            url.read("colour", how.colour);
            url.read("planks", how.planks);
            url.read("dries_in", how.dries_in);
            url.read("has_door", how.has_door);
            url.read("key", how.key);
            if (refuses_unknown)
                url.refuse_unknown();
            seen = how;
            return memory::server::named(how.name)->connect();
        });
    }
    std::string refusal_of(const std::string& url) {
        const auto refused = support::thrown_by([&] { client{url}; });
        EXPECT_EQ(refused.code, errc::invalid_argument) << url;
        return refused.text;
    }
};

TEST_F(Schemes, AClientIsMadeWithOne) {
    add();
    client home{scheme + "://wall/scheme-test?colour=red&planks=255&dries_in=5m&has_door=yes&key=k"
                         "&lease_time=7s"};
    EXPECT_EQ(seen.colour, "red");
    EXPECT_EQ(seen.planks, 255);
    EXPECT_EQ(seen.dries_in, 5min);
    EXPECT_TRUE(seen.has_door);
    EXPECT_EQ(seen.key.reveal(), "k");
    mutex m{home, "a"};
    EXPECT_TRUE(m.try_lock());
    EXPECT_TRUE(inspect(*memory::server::named("scheme-test"), "a"));
    m.unlock();
}

TEST_F(Schemes, WhatNobodyKnowsIsRefusedWithTheNearestName) {
    for (const bool refuses_unknown : {true, false}) {
        add(refuses_unknown);
        EXPECT_THAT(refusal_of(small + "://wall/a?color=red"), HasSubstr("do you mean colour?"));
        EXPECT_THAT(refusal_of(small + "://wall/a?leese_time=1s"), HasSubstr("mean lease_time?"));
        EXPECT_THAT(refusal_of(small + "://wall/a?weight=1"),
                    HasSubstr("the allowed parameters are lease_time, "));
        EXPECT_THAT(refusal_of(small + "://wall/a?weight=1"), HasSubstr(", colour, planks, "));
    }
}

TEST_F(Schemes, ValuesThatCannotBeAreRefused) {
    add();
    EXPECT_THAT(refusal_of(small + "://wall/a?planks=256"),
                HasSubstr("planks \"256\" is not a whole number up to 255"));
    EXPECT_THAT(refusal_of(small + "://wall/a?planks=-1"), HasSubstr("is not a whole number"));
    EXPECT_THAT(refusal_of(small + "://wall/a?has_door=maybe"), HasSubstr("must be yes or no"));
    EXPECT_THAT(refusal_of(small + "://wall/a?dries_in=soon"), HasSubstr("as in 500ms"));
    EXPECT_THAT(refusal_of(small + "://wall"), HasSubstr("it names no shelf"));
    EXPECT_THAT(refusal_of(small + "://wall/a?colour=red&colour=blue"), HasSubstr("given twice"));
    EXPECT_THAT(refusal_of(small + "://u:SECRET@wall/a?dries_in=1&planks=x"),
                Not(HasSubstr("SECRET")));
}

TEST_F(Schemes, AnAddedOneIsListed) {
    EXPECT_THAT(refusal_of("nosuch://a"), Not(HasSubstr(small)));
    add();
    EXPECT_THAT(refusal_of("nosuch://a"), HasSubstr(small + "://"));
    EXPECT_THAT(refusal_of("nosuch://a"), HasSubstr(" and memory: are allowed"));
    EXPECT_THAT(refusal_of("a"), HasSubstr(small + "://"));
}

TEST_F(Schemes, OneThatIsAddedAgainHasTheNewReader) {
    add();
    add_store_scheme(small, [](store_url& url) -> store_factory { url.refuse("closed"); });
    EXPECT_THAT(refusal_of(small + "://wall/a"), HasSubstr("closed"));
    EXPECT_EQ(reads, 0);
}

TEST_F(Schemes, WhatIsNoneIsRefused) {
    const auto taken = [](const std::string& name) {
        return support::thrown_by([&] {
            add_store_scheme(name, [](store_url& url) -> store_factory { url.refuse(""); });
        });
    };
    for (const char* name : {"", "1a", "a b", "Shelf", "a:", "\xc3\xa4"})
        EXPECT_EQ(taken(name).code, errc::invalid_argument) << name;
    for (const char* name : {"redis", "rediss", "redis+unix", "memory", "zk"})
        EXPECT_THAT(taken(name).text, HasSubstr("is built into holdfast")) << name;
    EXPECT_EQ(support::thrown_by([] { add_store_scheme("a", {}); }).code, errc::invalid_argument);
}

TEST_F(Schemes, OneOfAComponentIsNamedWithItsPackage) {
    // This test does not add them.
    for (const char* name : {"mysql", "mariadb", "mysql+unix", "mariadb+unix"}) {
        const std::string words = refusal_of(std::string{name} + "://u:SECRET@host/shop");
        EXPECT_THAT(words,
                    HasSubstr(std::string{name} + ":// belongs to the component holdfast::mysql"));
        EXPECT_THAT(words, HasSubstr("package libholdfast-mysql-dev"));
        EXPECT_THAT(words, Not(HasSubstr("SECRET")));
    }
}

TEST_F(Schemes, AnyThreadMayAddAndUseThem) {
    std::vector<std::jthread> crowd;
    for (int i = 0; i < 4; ++i)
        crowd.emplace_back([this, i] {
            const std::string mine = small + std::to_string(i);
            for (int round = 0; round < 50; ++round) {
                add_store_scheme(
                    mine, [](store_url&) { return memory::server::named("crowd")->connect(); });
                options how;
                how.url = mine + "://a";
                EXPECT_TRUE(resolve_url(std::move(how)).store);
            }
        });
}

} // namespace
} // namespace holdfast

namespace holdfast::url {
namespace {

using namespace std::chrono_literals;

TEST(UrlLength, IsAWholeNumberAndAUnit) {
    const std::pair<const char*, duration> rows[] = {
        {"0s", 0s},
        {"1ms", 1ms},
        {"500ms", 500ms},
        {"10s", 10s},
        {"5m", 5min},
        {"1h", 1h},
        {"2562047788015h", 2562047788015h},
    };
    for (const auto& [text, meant] : rows) {
        EXPECT_EQ(read_length(text).objection, "") << text;
        EXPECT_EQ(read_length(text).value, meant) << text;
    }
}

TEST(UrlLength, AnythingElseIsRefusedWithAReason) {
    const std::pair<const char*, const char*> rows[] = {
        {"", "does not begin with a number"},    {"s", "does not begin with a number"},
        {"-5s", "does not begin with a number"}, {"+5s", "does not begin with a number"},
        {" 5s", "does not begin with a number"}, {"5", "has no unit"},
        {"1.5s", "has an unknown unit \".5s\""}, {"5 s", "has an unknown unit \" s\""},
        {"5sec", "has an unknown unit \"sec\""}, {"5S", "has an unknown unit \"S\""},
        {"5d", "has an unknown unit \"d\""},     {"5us", "has an unknown unit \"us\""},
        {"2562047788016h", "is too large"},      {"99999999999999999999ms", "is too large"},
    };
    for (const auto& [text, why] : rows) {
        const std::string objection = read_length(text).objection;
        EXPECT_TRUE(objection.starts_with(why)) << text << ": " << objection;
        EXPECT_TRUE(objection.ends_with("as in 500ms")) << text << ": " << objection;
    }
}

} // namespace
} // namespace holdfast::url
