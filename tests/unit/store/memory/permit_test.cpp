// SPDX-License-Identifier: Apache-2.0
// Leased permits: each permit is free or held, an expired permit becomes free once, and a hold of
// several permits has all of them or none.
#include "sim/dice.hpp"
#include "store/memory/counter_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::memory {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr duration remembered_for = 60s;

struct PermitTable : testing::Test {
    time_point now{};
    server_clock clock{[this] { return now; }};
    permit_table table{clock};
    std::uint64_t last = 1'000;

    /// So many numbers in a row, from the first on.
    struct some {
        std::uint64_t first = 1;
        std::uint32_t count = 1;
    };

    static owner_id id(std::uint64_t number) { return {.client = {'a'}, .number = number}; }
    static hold of(some which) {
        hold all{"n", id(which.first), lock_kind::permit};
        all.permits = which.count;
        return all;
    }
    verdict_on_look look(some which, duration lease = 10s) {
        ask want{"n", id(which.first), lock_kind::permit};
        want.permits = which.count;
        want.lease_time = lease;
        return table.look(want);
    }
    bool takes(some which, duration lease = 10s) {
        return look(which, lease).said == verdict::granted;
    }
    bool renew(some which, duration lease = 10s) { return table.renew(of(which), lease); }
    permit_table::left release(some which) { return table.release(of(which)); }

    counter_change wish(counter_verb verb, std::int64_t amount = 0) {
        return {"n", id(++last), counter_kind::permits, verb, amount};
    }
    change_verdict change(counter_verb verb, std::int64_t amount = 0) {
        return table.change(wish(verb, amount), remembered_for);
    }
    change_verdict give_back(std::uint64_t number) {
        counter_change what = wish(counter_verb::give_back);
        what.permit = permit_id(id(number));
        return table.change(what, remembered_for);
    }
    change_verdict set_lease(std::uint64_t number, duration length) {
        counter_change what = wish(counter_verb::set_lease);
        what.permit = permit_id(id(number));
        what.kept = length;
        return table.change(what, remembered_for);
    }

    std::int64_t free() const { return table.inspect("n").value_or(counter_state{}).value; }
    std::int64_t held() const { return table.inspect("n").value_or(counter_state{}).taken; }
    bool exists() const { return table.inspect("n").has_value(); }
    /// For how long that one is held still.
    std::optional<duration> lasts(std::uint64_t number) const {
        const auto all = table.held("n");
        const auto found = all.find(permit_id(id(number)));
        return found == all.end() ? std::nullopt : std::optional{found->second};
    }
};

TEST_F(PermitTable, PermitsAreTakenWhereThereAreEnough) {
    EXPECT_FALSE(takes({1})) << "nobody made it";
    EXPECT_FALSE(exists()) << "and asking makes none";
    change(counter_verb::add, 3);
    EXPECT_FALSE(takes({1, 4}));
    EXPECT_TRUE(takes({1, 2}));
    EXPECT_EQ(free(), 1);
    EXPECT_EQ(held(), 2);
    EXPECT_FALSE(takes({3, 2}));
    EXPECT_TRUE(takes({3}));
    EXPECT_EQ(free(), 0);
}

TEST_F(PermitTable, WhoFindsTooFewIsToldWhenTheNextIsOver) {
    EXPECT_EQ(look({1}).left, std::nullopt) << "there is none, and nothing ends";
    change(counter_verb::add, 3);
    takes({1}, 30s);
    takes({2}, 10s);
    now += 1s;
    EXPECT_EQ(look({7, 2}).left, 9s);
    takes({3}, duration::max());
    EXPECT_TRUE(release({1}).was_ours);
    EXPECT_TRUE(release({2}).was_ours);
    EXPECT_EQ(look({7, 3}).left, std::nullopt) << "only one without an end is held";
}

TEST_F(PermitTable, AskingAgainTakesOnceAndShortensNothing) {
    change(counter_verb::add, 3);
    takes({1, 2}, 60s);
    EXPECT_TRUE(takes({1, 2}, 10s));
    EXPECT_EQ(free(), 1);
    EXPECT_EQ(lasts(2), 60s);
    EXPECT_TRUE(takes({1, 2}, 90s));
    EXPECT_EQ(lasts(1), 90s);
}

TEST_F(PermitTable, OfAPartThatIsThereOnlyTheRestIsTaken) {
    change(counter_verb::add, 3);
    takes({1, 2});
    EXPECT_TRUE(takes({1, 3}));
    EXPECT_EQ(free(), 0);
}

TEST_F(PermitTable, WhoCannotHaveTheRestGivesBackThePartThatIsThere) {
    change(counter_verb::add, 3);
    takes({1, 3});
    give_back(2);
    takes({9});
    EXPECT_FALSE(takes({1, 3}));
    EXPECT_EQ(free(), 2);
    EXPECT_EQ(held(), 1);
    EXPECT_EQ(lasts(1), std::nullopt);
}

TEST_F(PermitTable, WhatIsHeldIsConfirmedThoughThereAreLessThanNone) {
    change(counter_verb::add, 2);
    takes({1, 2});
    change(counter_verb::take_back, 1);
    EXPECT_EQ(free(), -1);
    EXPECT_TRUE(takes({1, 2}));
    EXPECT_EQ(free(), -1);
    EXPECT_FALSE(takes({9}));
}

TEST_F(PermitTable, WhatIsOverIsFreeOnce) {
    change(counter_verb::add, 3);
    takes({1, 2}, 10s);
    now += 10s - 1ms;
    EXPECT_EQ(free(), 1);
    now += 1ms;
    EXPECT_EQ(free(), 3);
    EXPECT_EQ(held(), 0);
    EXPECT_EQ(free(), 3) << "looking takes nothing out";
    EXPECT_TRUE(takes({5, 3}));
    EXPECT_EQ(free(), 0);
    EXPECT_FALSE(release({1, 2}).was_ours);
    EXPECT_EQ(free(), 0);
}

TEST_F(PermitTable, ARenewalIsOfAllOrOfNone) {
    EXPECT_FALSE(renew({1}));
    change(counter_verb::add, 4);
    takes({1, 2}, 10s);
    takes({3, 2}, 10s);
    give_back(4);
    EXPECT_TRUE(renew({1, 2}, 30s));
    EXPECT_FALSE(renew({3, 2}, 30s));
    EXPECT_EQ(lasts(1), 30s);
    EXPECT_EQ(lasts(2), 30s);
    EXPECT_EQ(lasts(3), 10s) << "the rest of what is lost is not kept";
}

TEST_F(PermitTable, ARenewalShortensNothingAndBringsNothingBack) {
    change(counter_verb::add, 2);
    takes({1}, 60s);
    EXPECT_TRUE(renew({1}, 10s));
    EXPECT_TRUE(renew({1}, 0s)) << "which only asks";
    EXPECT_EQ(lasts(1), 60s);
    now += 60s;
    EXPECT_FALSE(renew({1}, 10s));
    EXPECT_EQ(held(), 0);
}

TEST_F(PermitTable, AReleaseGivesBackOnceAndSaysHowManyThereAre) {
    EXPECT_FALSE(release({1}).was_ours);
    change(counter_verb::add, 3);
    takes({1, 2});
    const permit_table::left first = release({1, 2});
    EXPECT_TRUE(first.was_ours);
    EXPECT_EQ(first.rings, 3) << "the whole number can be had";
    const permit_table::left again = release({1, 2});
    EXPECT_FALSE(again.was_ours);
    EXPECT_EQ(again.rings, 0);
    EXPECT_EQ(free(), 3);
}

TEST_F(PermitTable, APartThatIsLeftIsGivenBackAndWasNotTheWhole) {
    change(counter_verb::add, 3);
    takes({1, 3});
    give_back(2);
    const permit_table::left said = release({1, 3});
    EXPECT_FALSE(said.was_ours);
    EXPECT_EQ(said.rings, 3);
    EXPECT_EQ(free(), 3);
}

TEST_F(PermitTable, HowManyThereAreChangesBesideTheHeld) {
    EXPECT_TRUE(change(counter_verb::set_new, 3).what.done);
    const change_verdict not_new = change(counter_verb::set_new, 9);
    EXPECT_FALSE(not_new.what.done);
    EXPECT_EQ(not_new.what.value, 3);
    takes({1, 2});
    EXPECT_EQ(change(counter_verb::set, 5).rings, 3);
    EXPECT_EQ(free(), 3);
    const change_verdict fewer = change(counter_verb::set, 1);
    EXPECT_EQ(fewer.what.value, -1);
    EXPECT_EQ(fewer.rings, 0) << "nobody is told of fewer";
    EXPECT_EQ(change(counter_verb::add, 2).rings, 1);
    EXPECT_EQ(change(counter_verb::take_back, 1).rings, 0);
    EXPECT_EQ(held(), 2);
}

TEST_F(PermitTable, WhatNobodyCanCountIsNotDone) {
    change(counter_verb::add, 3);
    for (const auto& [verb, amount] : {std::pair{counter_verb::add, counted_max - 2},
                                       std::pair{counter_verb::take_back, counted_max + 4}}) {
        const change_verdict said = change(verb, amount);
        EXPECT_TRUE(said.what.beyond);
        EXPECT_FALSE(said.what.done);
        EXPECT_EQ(said.what.value, 3);
        EXPECT_EQ(said.rings, 0);
    }
    EXPECT_TRUE(change(counter_verb::add, counted_max - 3).what.done);
    EXPECT_EQ(free(), counted_max);
    now += 1s;
    table.erase("n");
    EXPECT_TRUE(change(counter_verb::add, counted_max + 1).what.beyond);
    EXPECT_FALSE(exists()) << "it makes none";
}

TEST_F(PermitTable, OneThatIsHeldIsGivenBackByWhoeverKnowsIt) {
    EXPECT_FALSE(give_back(1).what.done) << "there is none";
    EXPECT_FALSE(exists());
    change(counter_verb::add, 2);
    takes({1, 2});
    const change_verdict said = give_back(1);
    EXPECT_TRUE(said.what.done);
    EXPECT_EQ(said.what.value, 1);
    EXPECT_EQ(said.rings, 1);
    EXPECT_FALSE(give_back(1).what.done);
    EXPECT_EQ(free(), 1);
    now += 10s;
    const change_verdict over = give_back(2);
    EXPECT_FALSE(over.what.done) << "it went back by itself";
    EXPECT_EQ(over.what.value, 2);
    EXPECT_EQ(free(), 2);
}

TEST_F(PermitTable, TheLeaseOfOneIsSetLongerOrShorter) {
    change(counter_verb::add, 2);
    takes({1, 2});
    const change_verdict said = set_lease(1, 60s);
    EXPECT_TRUE(said.what.done);
    EXPECT_EQ(said.what.value, 0);
    EXPECT_EQ(said.rings, 0);
    EXPECT_TRUE(set_lease(2, 1s).what.done);
    EXPECT_EQ(lasts(1), 60s);
    EXPECT_EQ(lasts(2), 1s);
    EXPECT_FALSE(set_lease(7, 1s).what.done);
    now += 1s;
    EXPECT_FALSE(set_lease(2, 60s).what.done);
    EXPECT_EQ(free(), 1);
}

TEST_F(PermitTable, NothingIsLeftOfWhatIsErased) {
    EXPECT_FALSE(change(counter_verb::erase).what.done);
    change(counter_verb::add, 2);
    takes({1});
    EXPECT_TRUE(change(counter_verb::erase).what.done);
    EXPECT_FALSE(exists());
    EXPECT_THAT(table.held("n"), IsEmpty());
    EXPECT_FALSE(release({1}).was_ours);
    EXPECT_FALSE(exists()) << "what was held of it is given back to nobody";
}

TEST_F(PermitTable, ARequestThatComesAgainIsAnsweredTheSameAndDoesNothing) {
    change(counter_verb::add, 1);
    takes({1});
    counter_change once = wish(counter_verb::give_back);
    once.permit = permit_id(id(1));
    const counter_change more = wish(counter_verb::add, 2);
    for (int times = 0; times < 2; ++times) {
        EXPECT_TRUE(table.change(once, remembered_for).what.done) << times;
        const change_verdict said = table.change(more, remembered_for);
        EXPECT_TRUE(said.what.done) << times;
        EXPECT_EQ(said.what.value, 3) << times;
        EXPECT_EQ(said.rings, times == 0 ? 3 : 0);
    }
    EXPECT_EQ(free(), 3);
    now += remembered_for;
    table.change(more, remembered_for);
    EXPECT_EQ(free(), 5) << "it is forgotten by then";
}

TEST_F(PermitTable, AStrangersChangeIsNotRemembered) {
    const counter_change more{"n", {}, counter_kind::permits, counter_verb::add, 2};
    table.carry_out(more);
    table.carry_out(more);
    EXPECT_EQ(free(), 4);
}

TEST_F(PermitTable, WhatIsHeldAnywhereIsNamed) {
    EXPECT_THAT(table.names(), IsEmpty());
    change(counter_verb::add, 2);
    EXPECT_THAT(table.names(), IsEmpty()) << "none is held";
    takes({1}, 5s);
    table.change({"m", id(++last), counter_kind::permits, counter_verb::add, 1}, remembered_for);
    EXPECT_THAT(table.names(), ElementsAre("n"));
    EXPECT_EQ(lasts(1), 5s);
    now += 5s;
    EXPECT_THAT(table.names(), IsEmpty());
    EXPECT_THAT(table.held("n"), IsEmpty());
}

TEST_F(PermitTable, OneWithoutAnEndStays) {
    change(counter_verb::add, 1);
    takes({1}, duration::max());
    now += std::chrono::hours{24 * 365 * 50};
    EXPECT_EQ(lasts(1), duration::max());
    EXPECT_TRUE(renew({1}));
}

TEST_F(PermitTable, OfAnEmptyServerNothingIsRemembered) {
    const counter_change more = wish(counter_verb::add, 2);
    table.change(more, remembered_for);
    takes({1});
    table.clear();
    EXPECT_FALSE(exists());
    table.change(more, remembered_for);
    EXPECT_EQ(free(), 2) << "nor the request";
}

// Random histories of leased permits, beside a model that knows only how many there are in all and
// which are held until when: what is free is the rest. The table counts what is free instead.

constexpr duration memory_of_requests = 60s;

class permit_world {
public:
    explicit permit_world(std::uint64_t seed)
        : dice_{seed} {}

    void run(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
            SCOPED_TRACE("step " + std::to_string(i));
            now_ += dice_.one_of<duration>({0ms, 0ms, 1ms, 300ms, 3s});
            purge();
            act();
            compare();
        }
    }
    int granted() const { return granted_; }
    int ended() const { return ended_; } ///< by themselves

private:
    using ids = std::vector<std::string>;
    struct known {
        counter_change what;
        counter_answer said;
        time_point at;
    };

    void act() {
        const int what = dice_.between(0, 99);
        if (what < 35)
            take();
        else if (what < 55)
            release();
        else if (what < 70)
            renew();
        else if (what < 80 && !requests_.empty())
            repeat();
        else
            change();
    }

    // Each of them as the table does it, and as the model has it.

    void take() {
        ask want{"n", draw_owner(), lock_kind::permit};
        want.permits = draw_count();
        want.lease_time = draw_lease();
        const ids wanted = ids_of(want);
        const verdict_on_look said = table_.look(want);
        const bool enough = exists_ && missing(wanted) <= std::max<std::int64_t>(free(), 0);
        EXPECT_EQ(said.said == verdict::granted, enough);
        for (const std::string& id : wanted) {
            if (!enough)
                held_.erase(id);
            else
                held_[id] = std::max(held_[id], now_ + want.lease_time);
        }
        granted_ += enough ? 1 : 0;
        EXPECT_EQ(said.left, enough ? std::nullopt : first_end());
    }

    void release() {
        hold what{"n", draw_owner(), lock_kind::permit};
        what.permits = draw_count();
        const ids given = ids_of(what);
        const permit_table::left said = table_.release(what);
        const std::int64_t lacking = missing(given);
        for (const std::string& id : given)
            held_.erase(id);
        EXPECT_EQ(said.was_ours, lacking == 0);
        const bool any = lacking < static_cast<std::int64_t>(given.size());
        EXPECT_EQ(said.rings, any ? free() : 0);
    }

    void renew() {
        hold what{"n", draw_owner(), lock_kind::permit};
        what.permits = draw_count();
        const duration length = dice_.percent(20) ? 0ms : draw_lease();
        const ids kept = ids_of(what);
        const bool all = missing(kept) == 0;
        EXPECT_EQ(table_.renew(what, length), all);
        for (const std::string& id : kept)
            if (all)
                held_[id] = std::max(held_[id], now_ + length);
    }

    void change() {
        counter_change what{"n", {{'r'}, ++last_request_}, counter_kind::permits, draw_verb(), 0};
        what.amount = dice_.between(0, 4);
        what.kept = draw_lease();
        what.permit = permit_id(draw_owner());
        const change_verdict said = table_.change(what, memory_of_requests);
        const bool was_told = said.rings > 0;
        EXPECT_EQ(said.what.done, model(what));
        EXPECT_EQ(said.what.value, free());
        const bool more = what.verb == counter_verb::give_back ||
                          (what.verb != counter_verb::set_lease && freed_ > 0);
        EXPECT_EQ(was_told, said.what.done && more && free() > 0);
        requests_.push_back({what, said.what, now_});
        if (requests_.size() > 20)
            requests_.pop_front();
    }

    /// Whatever became of it meanwhile, it is answered as before, and changes nothing.
    void repeat() {
        const known& before = requests_[dice_.below(requests_.size())];
        if (now_ - before.at >= memory_of_requests)
            return;
        const change_verdict said = table_.change(before.what, memory_of_requests);
        EXPECT_EQ(said.what.done, before.said.done);
        EXPECT_EQ(said.what.value, before.said.value);
        EXPECT_EQ(said.rings, 0);
    }

    /// Whether it is done.
    bool model(const counter_change& what) {
        const std::int64_t before = free();
        const auto found = held_.find(what.permit);
        bool done = true;
        switch (what.verb) {
        case counter_verb::add:
            all_ += what.amount;
            break;
        case counter_verb::take_back:
            all_ -= what.amount;
            break;
        case counter_verb::set_new:
            done = !exists_;
            all_ = done ? what.amount : all_;
            break;
        case counter_verb::set:
            all_ = what.amount;
            break;
        case counter_verb::erase:
            done = exists_;
            held_.clear();
            all_ = 0;
            exists_ = false;
            return done;
        case counter_verb::give_back:
            done = found != held_.end();
            if (done)
                held_.erase(found);
            return done;
        default:
            done = found != held_.end();
            if (done)
                found->second = now_ + what.kept;
            return done;
        }
        exists_ = true;
        freed_ = free() - before;
        return done;
    }

    void purge() {
        ended_ += static_cast<int>(
            std::erase_if(held_, [this](const auto& each) { return each.second <= now_; }));
    }

    void compare() {
        const std::optional<counter_state> seen = table_.inspect("n");
        ASSERT_EQ(seen.has_value(), exists_);
        if (!seen)
            return;
        EXPECT_EQ(seen->value, free());
        EXPECT_EQ(seen->taken, static_cast<std::int64_t>(held_.size()));
        std::map<std::string, duration> left;
        for (const auto& [id, end] : held_)
            left[id] = end - now_;
        EXPECT_EQ(table_.held("n"), left);
    }

    std::int64_t free() const { return all_ - static_cast<std::int64_t>(held_.size()); }
    std::int64_t missing(const ids& wanted) const {
        return std::ranges::count_if(wanted,
                                     [this](const auto& id) { return !held_.contains(id); });
    }
    std::optional<duration> first_end() const {
        std::optional<duration> first;
        for (const auto& [id, end] : held_)
            first = std::min(first.value_or(duration::max()), end - now_);
        return first;
    }
    static ids ids_of(const hold& what) {
        ids all;
        for (std::uint32_t i = 0; i < what.permits; ++i)
            all.push_back(permit_id({what.owner.client, what.owner.number + i}));
        return all;
    }

    /// Few, so that holds have parts in common, which no client's have.
    owner_id draw_owner() {
        return {.client = {static_cast<std::uint8_t>(dice_.between(1, 2))},
                .number = static_cast<std::uint64_t>(dice_.between(1, 6))};
    }
    std::uint32_t draw_count() { return static_cast<std::uint32_t>(dice_.between(1, 3)); }
    duration draw_lease() { return dice_.one_of<duration>({1ms, 500ms, 5s, 30s}); }
    counter_verb draw_verb() {
        using enum counter_verb;
        return dice_.one_of({add, add, take_back, set, set, set_new, give_back, give_back,
                             set_lease, dice_.percent(20) ? erase : set_lease});
    }

    sim::dice dice_;
    time_point now_{};
    server_clock clock_{[this] { return now_; }};
    permit_table table_{clock_};
    bool exists_ = false;
    std::int64_t all_ = 0; ///< the held ones, too
    std::map<std::string, time_point> held_;
    std::deque<known> requests_;
    std::int64_t freed_ = 0; ///< by the last change of how many there are
    std::uint64_t last_request_ = 0;
    int granted_ = 0, ended_ = 0;
};

TEST(PermitModel, TheTableCountsWhatTheModelKnows) {
    int granted = 0, ended = 0;
    for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        permit_world w{seed};
        w.run(200);
        granted += w.granted();
        ended += w.ended();
    }
    EXPECT_GT(granted, 1'000);
    EXPECT_GT(ended, 1'000);
}

} // namespace
} // namespace holdfast::memory
