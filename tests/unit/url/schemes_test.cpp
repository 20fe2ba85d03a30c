// SPDX-License-Identifier: Apache-2.0
// Schemes that a program adds.
#include "support/thrown.hpp"
#include "url.hpp"

#include <holdfast/client.hpp>
#include <holdfast/memory/server.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/schemes.hpp>

#include <thread>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

/// What a store of one's own may have in its URL.
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
    EXPECT_TRUE(memory::server::named("scheme-test")->inspect("a"));
    m.unlock();
}

TEST_F(Schemes, WhatNobodyKnowsIsRefusedWithTheNearestName) {
    for (const bool refuses_unknown : {true, false}) {
        add(refuses_unknown);
        EXPECT_THAT(refusal_of(small + "://wall/a?color=red"), HasSubstr("do you mean colour?"));
        EXPECT_THAT(refusal_of(small + "://wall/a?leese_time=1s"), HasSubstr("mean lease_time?"));
        EXPECT_THAT(refusal_of(small + "://wall/a?weight=1"), HasSubstr("known are lease_time, "));
        EXPECT_THAT(refusal_of(small + "://wall/a?weight=1"), HasSubstr(", colour, planks, "));
    }
}

TEST_F(Schemes, ValuesThatCannotBeAreRefused) {
    add();
    EXPECT_THAT(refusal_of(small + "://wall/a?planks=256"),
                HasSubstr("planks \"256\" is not a whole number up to 255"));
    EXPECT_THAT(refusal_of(small + "://wall/a?planks=-1"), HasSubstr("is not a whole number"));
    EXPECT_THAT(refusal_of(small + "://wall/a?has_door=maybe"), HasSubstr("neither yes nor no"));
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
        EXPECT_THAT(taken(name).text, HasSubstr("holdfast itself reads")) << name;
    EXPECT_EQ(support::thrown_by([] { add_store_scheme("a", {}); }).code, errc::invalid_argument);
}

TEST_F(Schemes, OneOfAComponentIsNamedWithItsPackage) {
    // This test does not add them.
    for (const char* name : {"mysql", "mariadb", "mysql+unix", "mariadb+unix"}) {
        const std::string words = refusal_of(std::string{name} + "://u:SECRET@host/shop");
        EXPECT_THAT(words,
                    HasSubstr(std::string{name} + ":// is of the component holdfast::mysql"));
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
