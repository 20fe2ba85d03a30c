// SPDX-License-Identifier: Apache-2.0
// Rate limiters: any interval has at most the configured number of permits, and each permit is
// drawn once.
#include "sim/dice.hpp"
#include "store/memory/counter_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    EXPECT_THAT(table.look(wants(1)).refused,
                testing::HasSubstr("the rate limiter is not set: call try_set_rate()"));
    EXPECT_THAT(release(1).refused,
                testing::HasSubstr("the rate limiter is not set: call try_set_rate()"));
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
    EXPECT_THAT(table.look(wants(1)).refused,
                testing::HasSubstr("the rate limiter is not set: call try_set_rate()"));
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

// Random histories of a rate limiter, beside a model that forgets nothing: what can be drawn is the
// rate less whatever was drawn within the interval that ends now.

class rate_world {
public:
    explicit rate_world(std::uint64_t seed)
        : dice_{seed} {}

    void run(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
            SCOPED_TRACE("step " + std::to_string(i));
            now_ += dice_.one_of<duration>({0ms, 0ms, 1ms, 7ms, 100ms, 900ms});
            if (how_ && now_ >= ends_)
                forget();
            act();
            for (const std::uint8_t client : {1, 2})
                compare(client);
        }
    }
    int drawn() const { return granted_; }
    int busy() const { return busy_; }

private:
    struct draw {
        owner_id by;
        std::int64_t permits;
        time_point at;
        rate::scope_of scope; ///< as it was then
    };
    struct known {
        counter_change what;
        counter_answer said;
        time_point at;
    };

    void act() {
        const int what = dice_.between(0, 99);
        if (what < 50)
            look();
        else if (what < 60 && !asked_.empty())
            look_again();
        else if (what < 75 && !asked_.empty())
            take_back();
        else if (what < 82 && !requests_.empty())
            repeat();
        else
            change();
    }

    // Each of them as the table does it, and as the model has it.

    void look() {
        const counter_ask want{"n", draw_request(), counter_kind::rate, dice_.between(1, 4)};
        asked_.push_back(want);
        if (asked_.size() > 6)
            asked_.pop_front();
        look(want);
    }
    void look_again() { look(counter_ask{asked_[dice_.below(asked_.size())]}); }
    void look(const counter_ask& want) {
        const count_verdict said = table_.look(want);
        if (!how_ || want.amount > how_->permits) {
            EXPECT_NE(said.refused, "");
            return;
        }
        use();
        const bool drawn = counts(want.request);
        const bool enough = drawn || free(want.request, now_) >= want.amount;
        EXPECT_EQ(said.said == verdict::granted, enough);
        if (enough && !drawn)
            draws_.push_back({want.request, want.amount, now_, how_->scope});
        EXPECT_EQ(said.left, enough ? std::nullopt : std::optional{first_enough(want)});
        if (!enough) {
            waits_until_ = std::max(waits_until_, now_ + first_enough(want));
            keep_for_waiters();
        }
        ++(enough ? granted_ : busy_);
    }

    void take_back() {
        const counter_ask& want = asked_[dice_.below(asked_.size())];
        table_.take_back(want);
        std::erase_if(draws_, [&](const draw& each) {
            return how_ && each.by == want.request && counts_with(each, want.request);
        });
    }

    void change() {
        counter_change what{"n", draw_request(), counter_kind::rate, draw_verb(), 0};
        what.amount = dice_.between(1, 4);
        what.to = draw_rate();
        const change_verdict said = table_.change(what, 60s);
        if (what.verb == counter_verb::add && !how_) {
            EXPECT_NE(said.refused, "");
            return;
        }
        const counter_answer wanted = model(what);
        EXPECT_EQ(said.what.done, wanted.done);
        EXPECT_EQ(said.what.value, wanted.value);
        requests_.push_back({what, said.what, now_});
        if (requests_.size() > 20)
            requests_.pop_front();
    }

    void repeat() {
        const known& before = requests_[dice_.below(requests_.size())];
        if (now_ - before.at >= 60s)
            return;
        const change_verdict said = table_.change(before.what, 60s);
        EXPECT_EQ(said.what.done, before.said.done);
        EXPECT_EQ(said.what.value, before.said.value);
    }

    counter_answer model(const counter_change& what) {
        if (what.verb == counter_verb::add) {
            use();
            give_back(what);
            return {.done = true, .value = to_be_seen(what.request)};
        }
        if (what.verb == counter_verb::erase) {
            const bool was_there = how_.has_value();
            forget();
            return {.done = was_there};
        }
        if (what.verb == counter_verb::set_new && how_)
            return {};
        if (how_ && how_->kept == duration{}) // the limiter's expiry does not show who waits
            waits_until_ = now_ + how_->per;
        std::erase_if(draws_, [&](const draw& each) { return how_ && !is_within(each, now_); });
        how_ = what.to;
        ends_ = how_->kept > duration{} ? now_ + how_->kept : time_point::max();
        keep_for_waiters();
        std::erase_if(draws_, [&what](const draw& each) {
            return each.scope == rate::scope_of::overall || each.by.client == what.request.client;
        });
        use();
        return {.done = true, .value = how_->permits};
    }
    void give_back(const counter_change& what) {
        std::int64_t left = what.amount;
        for (draw& each : draws_ | std::views::reverse) {
            const bool is_mine = counts_with(each, what.request) && is_within(each, now_);
            const std::int64_t part = is_mine ? std::min(left, each.permits) : 0;
            each.permits -= part;
            left -= part;
        }
        std::erase_if(draws_, [](const draw& each) { return each.permits == 0; });
    }

    void compare(std::uint8_t client) {
        const counter_state seen = table_.state("n", {client});
        ASSERT_EQ(seen.exists, how_.has_value());
        if (!how_)
            return;
        EXPECT_EQ(seen.of, *how_);
        EXPECT_EQ(seen.value, to_be_seen({.client = {client}, .number = 0}));
    }

    void forget() {
        how_.reset();
        draws_.clear();
        waits_until_ = time_point::min();
    }
    /// A waiter uses the limiter until it has asked again.
    void keep_for_waiters() {
        if (how_->kept > duration{} && waits_until_ > now_)
            ends_ = std::max(ends_, waits_until_ + std::max(how_->kept, 1000ms));
    }
    void use() {
        if (how_->kept > duration{})
            ends_ = std::max(ends_, now_ + how_->kept);
    }
    bool counts_with(const draw& each, const owner_id& request) const {
        return each.scope == how_->scope &&
               (how_->scope == rate::scope_of::overall || each.by.client == request.client);
    }
    bool is_within(const draw& each, time_point when) const { return each.at > when - how_->per; }
    bool counts(const owner_id& request) const {
        return std::ranges::any_of(draws_, [&](const draw& each) {
            return each.by == request && counts_with(each, request) && is_within(each, now_);
        });
    }
    std::int64_t to_be_seen(const owner_id& request) const {
        return std::max<std::int64_t>(free(request, now_), 0);
    }
    /// Less than none, where the rate was lowered and what was drawn before counts on.
    std::int64_t free(const owner_id& request, time_point when) const {
        std::int64_t left = how_->permits;
        for (const draw& each : draws_)
            left -= counts_with(each, request) && is_within(each, when) ? each.permits : 0;
        return left;
    }
    /// In how long, if nobody does anything until then.
    duration first_enough(const counter_ask& want) const {
        duration wait{1};
        while (free(want.request, now_ + wait) < want.amount)
            ++wait;
        return wait;
    }

    owner_id draw_request() {
        return {.client = {static_cast<std::uint8_t>(dice_.between(1, 2))}, .number = ++last_};
    }
    counter_verb draw_verb() {
        using enum counter_verb;
        return dice_.one_of({add, add, add, set_new, set_new, dice_.percent(30) ? set : add,
                             dice_.percent(20) ? erase : set_new});
    }
    rate draw_rate() {
        rate how{.permits = dice_.between(2, 7), .per = dice_.one_of<duration>({1ms, 20ms, 400ms})};
        how.scope = dice_.percent(30) ? rate::scope_of::per_client : rate::scope_of::overall;
        how.kept = dice_.percent(30) ? how.per * 2 : duration{};
        return how;
    }

    sim::dice dice_;
    time_point now_{};
    server_clock clock_{[this] { return now_; }};
    rate_table table_{clock_};
    std::optional<rate> how_;
    time_point ends_ = time_point::max();
    time_point waits_until_ = time_point::min(); ///< no client sleeps longer for permits
    std::vector<draw> draws_;                    ///< all of them
    std::deque<counter_ask> asked_;
    std::deque<known> requests_;
    std::uint64_t last_ = 0;
    int granted_ = 0, busy_ = 0;
};

TEST(RateModel, TheTableAllowsWhatTheModelDoes) {
    int drawn = 0, busy = 0;
    for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        rate_world w{seed};
        w.run(300);
        drawn += w.drawn();
        busy += w.busy();
    }
    EXPECT_GT(drawn, 5'000);
    EXPECT_GT(busy, 1'000);
}

} // namespace
} // namespace holdfast::memory
