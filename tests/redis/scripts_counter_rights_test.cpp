// SPDX-License-Identifier: Apache-2.0
// What an ACL denies in the middle of a change of a counter leaves it as it was.
#include "counter_rights.hpp"
#include "permit_scripts.hpp"
#include "rate_scripts.hpp"

namespace holdfast {
namespace {

class SemaphoreRights : public on_denied_scripts<on_counter_scripts> {
protected:
    redis::reply take() {
        return run(redis::scripts::take_semaphore, {name_, requests_},
                   {"2", "0", "1", "0", memory_});
    }
    redis::reply change_it(const std::string& verb) {
        return run(redis::scripts::change_semaphore, {name_, requests_},
                   {verb, "3", "0", "60000", "1", "1", "0", memory_, "redisson_sc:{L}", "PUBLISH"});
    }
    redis::reply change_latch(const std::string& verb) {
        return run(redis::scripts::change_latch, {name_, requests_},
                   {verb, "3", "1", "1", "0", memory_, "redisson_countdownlatch__channel__{L}",
                    "PUBLISH"});
    }
    attempt begun_at(const std::string& count, std::function<redis::reply()> act) {
        return {[this, count] {
                    if (!count.empty())
                        others_set(count);
                },
                std::move(act), [this] { return value(); }};
    }
};
HOLDFAST_ON_EACH_SERVER(SemaphoreRights);

TEST_P(SemaphoreRights, ATakeIsDoneOrNot) {
    expect_all_or_nothing(begun_at("5", [this] { return take(); }));
}

TEST_P(SemaphoreRights, WhatWasTakenIsRevokedOnce) {
    expect_all_or_nothing({[this] {
                               others_set("5");
                               take();
                           },
                           [this] {
                               return run(redis::scripts::revoke_semaphore, {name_, requests_},
                                          {"2", "0", "1", memory_, "redisson_sc:{L}", "PUBLISH"});
                           },
                           [this] { return value(); }});
}

TEST_P(SemaphoreRights, AChangeIsDoneOrNot) {
    for (const char* const verb : {"add", "add_if_there", "take_back", "drain", "erase"}) {
        SCOPED_TRACE(verb);
        expect_all_or_nothing(begun_at("5", [this, verb] { return change_it(verb); }));
    }
    expect_all_or_nothing(begun_at("", [this] { return change_it("set_new"); }));
}

TEST_P(SemaphoreRights, ALatchIsChangedOrNot) {
    for (const char* const count : {"5", "3"})
        expect_all_or_nothing(begun_at(count, [this] { return change_latch("count_down"); }));
    expect_all_or_nothing(begun_at("5", [this] { return change_latch("erase"); }));
    expect_all_or_nothing(begun_at("", [this] { return change_latch("set_new"); }));
}

class PermitRights : public on_denied_scripts<on_permit_scripts> {
protected:
    /// Two of five are held, and one of these is over; it is counted as if it was back.
    void hold_some() {
        others_set("3");
        server().command({"PEXPIRE", name_, "3600000"});
        others_hold(other_, 30'000);
        others_hold("fedcba9876543210", -1'000);
    }
    std::string state() {
        const std::string now = std::to_string(server_micros() / 1000);
        const std::int64_t over = ask({"ZCOUNT", held_, "0", now});
        const std::string free = value();
        return std::to_string((free.empty() ? 0 : std::stoll(free)) + over) + " free, " +
               std::to_string(held_count() - over) + " held";
    }
    attempt with_some_held(std::function<redis::reply()> act) {
        return {[this] { hold_some(); }, std::move(act), [this] { return state(); }};
    }
};
HOLDFAST_ON_EACH_SERVER(PermitRights);

TEST_P(PermitRights, ATakeIsDoneOrNot) {
    expect_all_or_nothing(with_some_held([this] { return take({1, 2}); }));
    EXPECT_EQ(state(), "2 free, 3 held");
}

TEST_P(PermitRights, ATakeThatFindsTooFewGivesBackWhatIsOver) {
    expect_all_or_nothing(with_some_held([this] { return take({1, 9}); }));
    EXPECT_EQ(state(), "4 free, 1 held");
}

TEST_P(PermitRights, AReleaseIsDoneOrNot) {
    expect_all_or_nothing({[this] {
                               hold_some();
                               take({1, 2});
                           },
                           [this] {
                               return release({1, 2});
                           },
                           [this] { return state(); }});
    EXPECT_EQ(state(), "4 free, 1 held");
}

TEST_P(PermitRights, AReleaseBesideAForeignNumberLosesNothing) {
    hold_some();
    take({1, 2});
    server().command({"DEL", name_});
    server().command({"HSET", name_, "a", "b"});
    EXPECT_TRUE(is_error(release({1, 2}), "WRONGTYPE"));
    EXPECT_EQ(held_count(), 3);
}

TEST_P(PermitRights, AChangeIsDoneOrNot) {
    for (const char* const verb : {"add", "take_back", "set", "erase"}) {
        SCOPED_TRACE(verb);
        expect_all_or_nothing(with_some_held([this, verb] { return change(verb, 2, {}); }));
    }
    for (const char* const verb : {"give_back", "set_lease"}) {
        SCOPED_TRACE(verb);
        expect_all_or_nothing(
            with_some_held([this, verb] { return change(verb, 20'000, {}, other_); }));
    }
    expect_all_or_nothing(
        {[] {}, [this] { return change("set_new", 2, {}); }, [this] { return state(); }});
}

class RateRights : public on_denied_scripts<on_rate_scripts> {
protected:
    /// Three of five are drawn, and what was drawn before counts no more.
    void draw_some(manner how) {
        set(5, hour, how);
        drawn(2, now() - hour - 1'000);
        drawn(1, now() - 2);
        drawn(1, now() - 1);
        drawn(1, now());
        server().command({"SET", left_, "0"});
    }
    std::string state() {
        std::string all;
        for (const std::int64_t each : support::integers_of(inspect_rate()))
            all += std::to_string(each) + " ";
        return all + "drawn " +
               std::to_string(ask({"ZCOUNT", draws_, std::to_string(now() - hour), "+inf"}));
    }
    attempt with_some_drawn(std::function<redis::reply()> act, manner how = {}) {
        return {[this, how] { draw_some(how); }, std::move(act), [this] { return state(); }};
    }
};
HOLDFAST_ON_EACH_SERVER(RateRights);

TEST_P(RateRights, ADrawIsDoneOrNot) {
    for (const std::int64_t kept : {std::int64_t{0}, 2 * hour})
        expect_all_or_nothing(with_some_drawn([this] { return take(2, 1); }, {.kept = kept}));
    EXPECT_EQ(available(), 0);
}

TEST_P(RateRights, WhatWasDrawnIsGivenBackOrNot) {
    expect_all_or_nothing({[this] {
                               draw_some({});
                               take(2, 1);
                           },
                           [this] { return give_back(2, 1); }, [this] { return state(); }});
    EXPECT_EQ(available(), 2);
}

TEST_P(RateRights, AChangeIsDoneOrNot) {
    for (const char* const verb : {"add", "set", "erase"})
        for (const std::int64_t kept : {std::int64_t{0}, 2 * hour}) {
            SCOPED_TRACE(verb);
            const manner how{.kept = kept};
            expect_all_or_nothing(with_some_drawn(
                [this, verb, how] { return change(verb, 2, hour / 2, how, {}); }, how));
        }
    expect_all_or_nothing(
        {[] {}, [this] { return change("set_new", 2, hour, {}, {}); }, [this] { return state(); }});
}

} // namespace
} // namespace holdfast
