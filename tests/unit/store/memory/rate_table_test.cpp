// SPDX-License-Identifier: Apache-2.0
// What a rate limiter lets be drawn: so much in any interval, each draw once.
#include "store/memory/rate_table.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <gmock/gmock.h>

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct RateTable : testing::Test {
    static constexpr duration requests_known_for = 60s;
    static constexpr rate three_a_minute{
        .permits = 3, .per = 60s, .scope = rate::scope_of::overall, .kept = {}};
    static constexpr rate three_for_each{
        .permits = 3, .per = 60s, .scope = rate::scope_of::per_client, .kept = {}};

    time_point now{};
    server_clock clock{[this] { return now; }};
    rate_table table{clock};
    std::uint64_t last = 0;

    owner_id next(std::uint8_t client = 'a') { return {.client = {client}, .number = ++last}; }
    counter_ask wants(std::int64_t amount, std::uint8_t client = 'a') {
        return {"n", next(client), counter_kind::rate, amount};
    }
    bool draws(std::int64_t amount, std::uint8_t client = 'a') {
        return table.look(wants(amount, client)).said == verdict::granted;
    }

    counter_change wish(counter_verb verb, std::int64_t amount = 0, std::uint8_t client = 'a') {
        return {"n", next(client), counter_kind::rate, verb, amount};
    }
    change_verdict set(rate to, counter_verb verb = counter_verb::set, std::uint8_t client = 'a') {
        counter_change what = wish(verb, 0, client);
        what.to = to;
        return table.change(what, requests_known_for);
    }
    change_verdict release(std::int64_t amount, std::uint8_t client = 'a') {
        return table.change(wish(counter_verb::add, amount, client), requests_known_for);
    }
    std::int64_t free(std::uint8_t client = 'a') const { return table.state("n", {client}).value; }
    bool exists() const { return table.is_set("n"); }
};

TEST_F(RateTable, AsMuchIsDrawnAsTheRateSays) {
    set(three_a_minute);
    EXPECT_TRUE(draws(2));
    EXPECT_EQ(free(), 1);
    EXPECT_FALSE(draws(2));
    EXPECT_EQ(free(), 1) << "busy draws nothing";
    EXPECT_TRUE(draws(1));
    EXPECT_FALSE(draws(1));
}

TEST_F(RateTable, TheWindowSlides) {
    set(three_a_minute);
    draws(2);
    now += 20s;
    draws(1);
    now += 40s - 1ms;
    EXPECT_FALSE(draws(1));
    now += 1ms;
    EXPECT_EQ(free(), 2);
    EXPECT_FALSE(draws(3)) << "the later draw counts still";
    EXPECT_TRUE(draws(2));
    now += 20s;
    EXPECT_EQ(free(), 1);
    now += 1min;
    EXPECT_EQ(free(), 3) << "never more than the rate";
}

TEST_F(RateTable, WhoFindsTooLittleIsToldWhenThereIsEnough) {
    set({.permits = 4, .per = 60s});
    draws(1);
    now += 10s;
    draws(2);
    now += 10s;
    draws(1);
    EXPECT_EQ(table.look(wants(1)).left, 40s);
    EXPECT_EQ(table.look(wants(2)).left, 50s);
    EXPECT_EQ(table.look(wants(3)).left, 50s);
    EXPECT_EQ(table.look(wants(4)).left, 60s);
}

TEST_F(RateTable, WhatIsNotSetOrMoreThanTheRateIsRefused) {
    EXPECT_EQ(table.look(wants(1)).refused, "the rate limiter is not set");
    EXPECT_EQ(release(1).refused, "the rate limiter is not set");
    EXPECT_FALSE(exists());
    set(three_a_minute);
    const count_verdict said = table.look(wants(4));
    EXPECT_EQ(said.said, verdict::busy);
    EXPECT_EQ(said.refused, "4 permits are more than the rate of 3");
    EXPECT_EQ(free(), 3);
}

TEST_F(RateTable, ADrawThatCountsIsNotDrawnAgain) {
    set(three_a_minute);
    const counter_ask want = wants(2);
    for (int times = 0; times < 3; ++times)
        EXPECT_EQ(table.look(want).said, verdict::granted);
    EXPECT_EQ(free(), 1);
    draws(1);
    EXPECT_EQ(table.look(want).said, verdict::granted) << "though there is nothing left";
}

TEST_F(RateTable, WhatWasDrawnIsGivenBackOnce) {
    set(three_a_minute);
    const counter_ask want = wants(2);
    table.look(want);
    draws(1);
    table.take_back(want);
    EXPECT_EQ(free(), 2);
    table.take_back(want);
    table.take_back(wants(1));
    EXPECT_EQ(free(), 2) << "and what drew nothing gives nothing back";
}

TEST_F(RateTable, AnErasedOneIsGivenNothingBack) {
    const counter_ask want = wants(2);
    table.take_back(want);
    set(three_a_minute);
    table.look(want);
    table.change(wish(counter_verb::erase), requests_known_for);
    table.take_back(want);
    EXPECT_FALSE(exists());
    set(three_a_minute);
    table.take_back(want);
    EXPECT_EQ(free(), 3);
}

TEST_F(RateTable, WhatIsReleasedWasDrawnLast) {
    set({.permits = 5, .per = 60s});
    draws(2);
    now += 10s;
    draws(3);
    const change_verdict said = release(4);
    EXPECT_TRUE(said.what.done);
    EXPECT_EQ(said.what.value, 4);
    now += 50s;
    EXPECT_EQ(free(), 5) << "what is left was drawn first";
    draws(2);
    EXPECT_EQ(release(100).what.value, 5) << "never more than the rate";
    EXPECT_TRUE(draws(5));
    EXPECT_FALSE(draws(1));
}

TEST_F(RateTable, EachClientDrawsForItself) {
    set(three_for_each);
    EXPECT_TRUE(draws(3, 'a'));
    EXPECT_FALSE(draws(1, 'a'));
    EXPECT_EQ(free('b'), 3);
    EXPECT_TRUE(draws(2, 'b'));
    EXPECT_EQ(release(1, 'a').what.value, 1);
    EXPECT_EQ(free('b'), 1);
}

TEST_F(RateTable, OverallAllDrawOfOne) {
    set(three_a_minute);
    EXPECT_TRUE(draws(2, 'a'));
    EXPECT_FALSE(draws(2, 'b'));
    EXPECT_EQ(release(1, 'b').what.value, 2) << "whoever drew it";
}

TEST_F(RateTable, SettingItForgetsWhatWasDrawn) {
    set(three_a_minute);
    draws(3);
    EXPECT_FALSE(set({.permits = 9, .per = 1s}, counter_verb::set_new).what.done);
    EXPECT_EQ(table.state("n", {}).of, three_a_minute);
    EXPECT_EQ(free(), 0);
    for (const rate& to : {rate{.permits = 2, .per = 60s}, rate{.permits = 9, .per = 60s}}) {
        const change_verdict said = set(to);
        EXPECT_TRUE(said.what.done);
        EXPECT_EQ(said.what.value, to.permits);
        EXPECT_EQ(free(), to.permits) << "lower or higher";
        EXPECT_TRUE(draws(to.permits));
    }
    set(three_for_each);
    EXPECT_EQ(free(), 3);
}

TEST_F(RateTable, WhatOthersDrewForThemselvesIsCountedOn) {
    set(three_for_each);
    draws(3, 'a');
    draws(2, 'b');
    set({.permits = 5, .per = 60s, .scope = rate::scope_of::per_client, .kept = {}});
    EXPECT_EQ(free('a'), 5);
    EXPECT_EQ(free('b'), 3);
    set(three_a_minute, counter_verb::set, 'b');
    EXPECT_EQ(free('b'), 3) << "of which nothing is drawn";
    table.change(wish(counter_verb::erase), requests_known_for);
    set(three_for_each);
    EXPECT_EQ(free('b'), 3) << "what is erased is forgotten";
}

TEST_F(RateTable, EachUseKeepsItAndLookingAtItDoesNot) {
    const rate short_lived{.permits = 2, .per = 5s, .scope = rate::scope_of::overall, .kept = 20s};
    set(short_lived);
    now += 15s;
    EXPECT_TRUE(draws(2));
    now += 15s;
    release(1);
    now += 15s;
    draws(2);
    now += 15s;
    EXPECT_FALSE(draws(3)) << "refused is no use of it";
    EXPECT_EQ(free(), 2);
    now += 5s - 1ms;
    EXPECT_TRUE(exists());
    now += 1ms;
    EXPECT_FALSE(exists());
    EXPECT_EQ(table.state("n", {}).exists, false);
    EXPECT_EQ(table.look(wants(1)).refused, "the rate limiter is not set");
    EXPECT_TRUE(set(short_lived, counter_verb::set_new).what.done);
}

TEST_F(RateTable, ARequestThatComesAgainIsAnsweredTheSameAndDoesNothing) {
    counter_change anew = wish(counter_verb::set);
    anew.to = three_a_minute;
    table.change(anew, requests_known_for);
    draws(3);
    const counter_change back = wish(counter_verb::add, 1);
    for (int times = 0; times < 2; ++times) {
        EXPECT_TRUE(table.change(anew, requests_known_for).what.done);
        EXPECT_EQ(table.change(back, requests_known_for).what.value, 1);
    }
    EXPECT_EQ(free(), 1);
    const counter_change gone = wish(counter_verb::erase);
    EXPECT_TRUE(table.change(gone, requests_known_for).what.done);
    set(three_a_minute, counter_verb::set_new);
    EXPECT_TRUE(table.change(gone, requests_known_for).what.done);
    EXPECT_TRUE(exists());
}

TEST_F(RateTable, WhatIsRefusedIsNotRemembered) {
    const counter_change back = wish(counter_verb::add, 1);
    EXPECT_NE(table.change(back, requests_known_for).refused, "");
    set(three_a_minute);
    draws(3);
    EXPECT_EQ(table.change(back, requests_known_for).refused, "");
    EXPECT_EQ(free(), 1);
}

TEST_F(RateTable, ThoseThatAreSetAreNamed) {
    EXPECT_THAT(table.names(), IsEmpty());
    set({.permits = 1, .per = 5s, .scope = rate::scope_of::overall, .kept = 10s});
    EXPECT_THAT(table.names(), ElementsAre("n"));
    now += 10s;
    EXPECT_THAT(table.names(), IsEmpty());
    EXPECT_FALSE(table.erase("n"));
    set(three_a_minute);
    EXPECT_TRUE(table.erase("n"));
    EXPECT_FALSE(table.change(wish(counter_verb::erase), requests_known_for).what.done);
}

TEST_F(RateTable, OfAnEmptyServerNoRequestIsKnown) {
    counter_change anew = wish(counter_verb::set_new);
    anew.to = three_a_minute;
    table.change(anew, requests_known_for);
    draws(1);
    table.clear();
    EXPECT_FALSE(exists());
    EXPECT_TRUE(table.change(anew, requests_known_for).what.done);
    EXPECT_EQ(free(), 3);
}

TEST_F(RateTable, TheSimulatorCanPlantFaultsInIt) {
    set(three_a_minute);
    const counter_ask want = wants(1);
    draws(1);
    table.look(want);
    table.give_back_twice();
    table.take_back(want);
    EXPECT_EQ(free(), 3) << "another one's, too";
    draws(2);
    table.never_move();
    now += 1h;
    EXPECT_EQ(free(), 1);
}

} // namespace
} // namespace holdfast::memory
