// SPDX-License-Identifier: Apache-2.0
// Rate limiters of Redisson and holdfast: each side can read the data that the other side stores.
#include "interop/counter_histories.hpp"
#include "interop/counter_meeting.hpp"

#include <cstdint>
#include <future>
#include <numeric>
#include <string_view>

namespace holdfast::interop {

// A JVM and a holdfast process with one rate limiter, "L". holdfast writes draws in the form of the
// JVM's version.

class rate_meeting : public counter_meeting {
protected:
    using config = remote_rate::config;

    void SetUp() override {
        meeting::SetUp();
        // An age that no test reaches: who waits asks when the answer said, and not before.
        have_clients({.poll_bound = 1h, .redisson_form = form()});
    }
    static std::optional<std::string> form() { return form_of(GetParam().redisson); }
    static std::size_t length_of_draws() {
        return is_at_least(GetParam().redisson, 3, 17) ? 21 : 8;
    }

    remote_rate of_first(const std::string& actor = "alice", const std::string& name = "L") {
        return remote_rate{first().thread(actor), name};
    }
    remote_rate of_second(const std::string& actor = "bob", const std::string& name = "L") {
        return remote_rate{second().thread(actor), name};
    }

    std::map<std::string, std::string> draws(const std::string& of = {}) {
        return state_of(server())["{L}:permits" + of].fields;
    }
    std::int64_t drawn(const std::string& of = {}) {
        std::int64_t sum = 0;
        for (const auto& [draw, at] : draws(of))
            sum += permits_in(draw);
        return sum;
    }
};

namespace {

using testing::HasSubstr;
using testing::SizeIs;

class Rate : public rate_meeting {
protected:
    /// Nothing: it was not refused.
    static std::string refusal(remote_rate limiter, int permits = 1) {
        try {
            (void)limiter.try_acquire(permits);
            return {};
        } catch (const peer_failure& failure) {
            return failure.what();
        }
    }
};
HOLDFAST_BOTH_WAYS_AT(Rate, "getRateLimiter");

TEST_P(Rate, IsAHashThatEachSideReads) {
    remote_rate alice = of_first(), bob = of_second();
    const config slow{"OVERALL", 3, 1h}, fast{"PER_CLIENT", 100, 1s};
    EXPECT_TRUE(alice.try_set_rate(slow));
    EXPECT_FALSE(bob.try_set_rate(fast));
    EXPECT_EQ(bob.current(), slow);
    EXPECT_EQ(alice.current(), slow);
    const auto stored = state_of(server())["L"].fields;
    EXPECT_EQ(stored.at("rate"), "3");
    EXPECT_EQ(stored.at("interval"), "3600000");
    EXPECT_EQ(stored.at("type"), "0");
    bob.set_rate(fast);
    EXPECT_EQ(alice.current(), fast);
    EXPECT_EQ(bob.current(), fast);
    EXPECT_EQ(alice.available_permits(), 100);
    alice.set_rate(slow);
    EXPECT_EQ(bob.current(), slow);
    EXPECT_TRUE(alice.erase());
    EXPECT_FALSE(bob.try_set_rate(slow) && alice.try_set_rate(slow));
}

TEST_P(Rate, IsDrawnFromByBothAndNeverExceeded) {
    remote_rate alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_rate({"OVERALL", 6, 1h}));
    EXPECT_EQ(bob.available_permits(), 6);
    EXPECT_TRUE(alice.try_acquire());
    EXPECT_TRUE(bob.try_acquire(2));
    bob.acquire();
    EXPECT_EQ(alice.available_permits(), 2);
    EXPECT_EQ(bob.available_permits(), 2);
    EXPECT_FALSE(alice.try_acquire(3));
    EXPECT_FALSE(bob.try_acquire(3));
    EXPECT_TRUE(alice.try_acquire(2));
    for (remote_rate* each : {&alice, &bob}) {
        EXPECT_EQ(each->available_permits(), 0);
        EXPECT_FALSE(each->try_acquire());
        EXPECT_FALSE(each->try_acquire_for(5ms));
    }
    EXPECT_EQ(drawn(), 6);
    for (const auto& [draw, at] : draws())
        EXPECT_THAT(draw, SizeIs(length_of_draws()));
    EXPECT_EQ(state_of(server()).at("{L}:value").value, "0");
}

TEST_P(Rate, ThatIsSetAnewForgetsTheOthersDraws) {
    remote_rate alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_rate({"OVERALL", 2, 1h}));
    EXPECT_TRUE(bob.try_acquire(2));
    EXPECT_FALSE(alice.try_acquire());
    alice.set_rate({"OVERALL", 3, 1h});
    EXPECT_TRUE(bob.try_acquire(2));
    EXPECT_TRUE(alice.try_acquire());
    EXPECT_FALSE(bob.try_acquire());
    EXPECT_EQ(drawn(), 3);
}

TEST_P(Rate, PerClientIsEachSidesOwn) {
    remote_rate alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_rate({"PER_CLIENT", 2, 1h}));
    EXPECT_TRUE(alice.try_acquire(2));
    EXPECT_FALSE(alice.try_acquire());
    EXPECT_EQ(bob.available_permits(), 2);
    EXPECT_TRUE(bob.try_acquire());
    EXPECT_EQ(bob.available_permits(), 1);
    EXPECT_EQ(alice.available_permits(), 0);
    EXPECT_EQ(drawn(":" + first().id()), 2);
    EXPECT_EQ(drawn(":" + second().id()), 1);
    const auto state = state_of(server());
    EXPECT_TRUE(state.at("{L}:permits:" + ours().id()).left) << "nobody deletes it";
    EXPECT_FALSE(state.contains("{L}:permits"));
}

TEST_P(Rate, WhatIsGivenBackIsTheOthers) {
    if (!is_at_least(GetParam().redisson, 3, 52))
        return; // such a JVM gives nothing back
    remote_rate alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_rate({"OVERALL", 3, 1h}));
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(bob.try_acquire());
    alice.release(2);
    EXPECT_EQ(alice.available_permits(), 2);
    EXPECT_EQ(bob.available_permits(), 2);
    EXPECT_TRUE(bob.try_acquire(2));
    EXPECT_FALSE(alice.try_acquire());
}

TEST_P(Rate, ThatNobodySetIsAnErrorOnBothSides) {
    EXPECT_THAT(refusal(remote_rate{ours().thread("alice")}),
                HasSubstr("the rate limiter is not set"));
    EXPECT_THAT(refusal(remote_rate{jvm().thread("bob")}), HasSubstr("not initialized"));
}

TEST_P(Rate, MoreThanItIsRefusedByBoth) {
    remote_rate by_ours{ours().thread("alice")}, by_jvm{jvm().thread("bob")};
    EXPECT_TRUE(of_first().try_set_rate({"OVERALL", 2, 1h}));
    EXPECT_THAT(refusal(by_jvm, 3), HasSubstr("exceed defined rate"));
    EXPECT_THAT(refusal(by_ours, 3), HasSubstr("3 permits are more than the rate of 2"));
    EXPECT_TRUE(by_jvm.try_acquire(2));
    EXPECT_THAT(refusal(by_ours, 3), HasSubstr("3 permits are more than the rate of 2"));
}

TEST_P(Rate, ThatOneSideErasesIsGoneForBoth) {
    remote_rate alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_rate({"OVERALL", 2, 1h}));
    EXPECT_TRUE(alice.try_acquire());
    EXPECT_TRUE(bob.try_acquire());
    EXPECT_TRUE(alice.erase());
    expect_nothing();
    EXPECT_NE(refusal(bob), "");
    EXPECT_TRUE(bob.try_set_rate({"OVERALL", 1, 1h}));
    EXPECT_TRUE(alice.try_acquire());
}

// Its end is that of what was drawn, too; a JVM of 3.13 leaves that behind.
TEST_P(Rate, ThatEndsTakesItsDrawsAlong) {
    remote_rate by_ours{ours().thread("ours")}, by_jvm{jvm().thread("jvm")};
    EXPECT_TRUE(of_first().try_set_rate({"OVERALL", 3, 1h}));
    server().command({"PEXPIRE", "L", "60000"});
    for (remote_rate* each : {&by_ours, &by_jvm}) {
        if (each == &by_jvm && !is_at_least(GetParam().redisson, 3, 17))
            continue;
        EXPECT_TRUE(each->try_acquire());
        for (const char* key : {"L", "{L}:value", "{L}:permits"})
            EXPECT_LE(state_of(server()).at(key).left.value(), 60s) << key;
        for (const char* key : {"{L}:value", "{L}:permits"})
            server().command({"PERSIST", key});
    }
}

TEST_P(Rate, ThatIsKeptForAWhileIsKeptOnByWhoeverDraws) {
    if (!is_at_least(GetParam().redisson, 3, 38))
        return; // such a JVM keeps it for ever
    remote_rate alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_rate({"OVERALL", 3, 1min}, 1h));
    EXPECT_EQ(state_of(server()).at("L").fields.at("keepAliveTime"), "3600000");
    for (remote_rate* each : {&alice, &bob}) {
        server().command({"PEXPIRE", "L", "60000"});
        EXPECT_TRUE(each->try_acquire());
        for (const char* key : {"L", "{L}:value", "{L}:permits"})
            EXPECT_GT(state_of(server()).at(key).left.value(), 50min) << key;
    }
}

TEST_P(Rate, OfAnyNameIsTheSame) {
    for (const char* name : {"plain", "order:42", "a{b}c", "{a}{b}", "two words", "k\xc3\xbchl"}) {
        SCOPED_TRACE(name);
        remote_rate alice = of_first("alice", name), bob = of_second("bob", name);
        EXPECT_TRUE(alice.try_set_rate({"OVERALL", 3, 1h}));
        EXPECT_TRUE(alice.try_acquire());
        EXPECT_EQ(bob.available_permits(), 2);
        EXPECT_TRUE(bob.try_acquire(2));
        EXPECT_FALSE(alice.try_acquire());
    }
}

/// Why the setting `redisson` is needed: JVMs can read only their own form.
class RateOfAnotherForm : public rate_meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        have_clients({.poll_bound = 1h, .redisson_form = form() ? "3.17" : "3.13"});
    }
};
INSTANTIATE_TEST_SUITE_P(Redisson, RateOfAnotherForm,
                         testing::ValuesIn(one_way_at({"getRateLimiter"})), name_of);

TEST_P(RateOfAnotherForm, IsRefusedByOursWhichNameTheSetting) {
    remote_rate by_ours{ours().thread("ours")}, by_jvm{jvm().thread("jvm")};
    EXPECT_TRUE(by_jvm.try_set_rate({"OVERALL", 2, 1h}));
    EXPECT_TRUE(by_jvm.try_acquire());
    try {
        by_ours.try_acquire();
        ADD_FAILURE() << "it was drawn";
    } catch (const peer_failure& failure) {
        EXPECT_THAT(failure.what(), HasSubstr("redisson=" + form().value_or("3.17")));
    }
    EXPECT_EQ(drawn(), 1);
}

TEST_P(RateOfAnotherForm, IsMisreadByJvmsWhereOursDrewFirst) {
    constexpr duration interval{300};
    remote_rate by_ours{ours().thread("ours")}, by_jvm{jvm().thread("jvm")};
    EXPECT_TRUE(by_jvm.try_set_rate({"OVERALL", 2, interval}));
    EXPECT_TRUE(by_ours.try_acquire());
    const std::string draw = draws().begin()->first;
    const std::chrono::microseconds end = time_of(server()) + interval + 1ms;
    EXPECT_TRUE(eventually([&] { return time_of(server()) > end; }));
    int passed = 0;
    std::string said;
    try {
        while (passed < 100 && by_jvm.try_acquire())
            ++passed;
    } catch (const peer_failure& failure) {
        said = failure.what();
    }
    // One of 3.13 takes bytes of our name for a count of billions, and lets all through. A later
    // one takes the first byte for a length, and fails until ours take the draw out; only where so
    // short a length leaves room for a count (4 of 256 bytes) does it read one, and not believe it
    // beyond the rate.
    const auto length = static_cast<unsigned char>(draw.front());
    if (!form() && length > 3)
        EXPECT_THAT(said, HasSubstr("data string too short"));
    else
        EXPECT_EQ(passed, form() ? 100 : 2) << said;
}

// Who waits for a rate limiter, also asynchronously, draws when the other side's draws are over.
// Nobody is told anything: a JVM sleeps as long as the server said, and so do ours.

class RateWaiting : public rate_meeting {
protected:
    static constexpr duration interval{700};

    /// When the only draw that there is was made.
    duration drawn_at() {
        const auto all = draws();
        EXPECT_THAT(all, SizeIs(1));
        return duration{std::stoll(all.begin()->second)};
    }
    void all_is_drawn_by(remote_rate& limiter) {
        EXPECT_TRUE(limiter.try_set_rate({"OVERALL", 2, interval}));
        EXPECT_TRUE(limiter.try_acquire(2));
    }
};
HOLDFAST_BOTH_WAYS_AT(RateWaiting, "getRateLimiter");

TEST_P(RateWaiting, DrawsOfTheOtherSideAreWaitedForByTheirInterval) {
    remote_rate alice = of_first(), bob = of_second();
    all_is_drawn_by(alice);
    const duration before = drawn_at();
    bob.acquire(2);
    const duration waited = drawn_at() - before;
    EXPECT_GE(waited, interval);
    EXPECT_LT(waited, interval + 1s);
    EXPECT_FALSE(alice.try_acquire());
}

TEST_P(RateWaiting, DrawsOfTheOtherSideAreWaitedForAsynchronouslyToo) {
    remote_rate alice = of_first(), bob = of_second();
    all_is_drawn_by(alice);
    const duration before = drawn_at();
    ongoing one = bob.begin_acquire_async(), other = bob.begin_acquire_async();
    (void)soon(std::move(one.answer));
    (void)soon(std::move(other.answer));
    const auto all = draws();
    EXPECT_THAT(all, SizeIs(2));
    for (const auto& [draw, at] : all)
        EXPECT_GE(duration{std::stoll(at)} - before, interval);
}

TEST_P(RateWaiting, ATimedAsynchronousWaitEndsWithItsTimeoutOrADraw) {
    remote_rate alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_rate({"OVERALL", 2, 1h}));
    EXPECT_TRUE(alice.try_acquire(2));
    EXPECT_FALSE(soon(bob.begin_try_acquire_async_for(50ms).answer).as_bool());
    EXPECT_EQ(drawn(), 2);
    alice.set_rate({"OVERALL", 2, interval});
    EXPECT_TRUE(alice.try_acquire(2));
    const duration before = drawn_at();
    EXPECT_TRUE(soon(bob.begin_try_acquire_async_for(10min, 2).answer).as_bool());
    EXPECT_GE(drawn_at() - before, interval);
}

// A JVM's draws all the same, and nobody is told.
TEST_P(RateWaiting, AWaitOfOursThatIsCalledOffDrawsNothing) {
    remote_rate given_up{ours().thread("gives up")}, by_jvm{jvm().thread("bob")};
    all_is_drawn_by(by_jvm);
    transcript seen{server().socket_path()};
    ongoing never = given_up.begin_acquire_async();
    EXPECT_TRUE(eventually([&] { return times_read(seen, "{L}:value") > 0; }));
    EXPECT_TRUE(given_up.cancel(never));
    EXPECT_THROW((void)soon(std::move(never.answer)), peer_failure);
    by_jvm.acquire(2);
    by_jvm.acquire();
    EXPECT_EQ(std::ranges::count_if(seen.all(), [](const entry& each) { return each.is("ZADD"); }),
              2);
}

TEST_P(RateWaiting, AKilledDrawersDrawsCountOn) {
    const bool of_jvm = first().is_jvm();
    const std::unique_ptr<peer> doomed = new_process(of_jvm);
    const std::unique_ptr<remote_client> gone = client_of(*doomed, of_jvm);
    remote_rate last{gone->thread("last")}, bob = of_second();
    all_is_drawn_by(last);
    const duration before = drawn_at();
    doomed->kill();
    bob.acquire(2);
    EXPECT_GE(drawn_at() - before, interval);
}

// Many of both sides draw from one rate limiter: is more ever drawn than the rate?

class RateCrowd : public rate_meeting {
protected:
    static constexpr limit five{5, duration{600}};

    void SetUp() override {
        rate_meeting::SetUp();
        if (IsSkipped() || HasFailure())
            return;
        remote_rate keeper{jvm().thread("keeper")};
        ASSERT_TRUE(keeper.try_set_rate({"OVERALL", five.permits, five.interval}));
    }

    struct draw {
        std::chrono::microseconds done; ///< by the server's clock
        duration at;                    ///< as it was written
        std::string member;
    };
    static std::vector<draw> drawn_in(transcript& seen) {
        std::vector<draw> all;
        for (const entry& each : seen.all())
            if (each.is("ZADD"))
                all.push_back({each.at, duration{std::stoll(each.words.at(2))}, each.words.at(3)});
        return all;
    }
    /// The most that any so long a time has, by the times that were written.
    static std::int64_t most_within(std::vector<draw> all, duration length) {
        std::ranges::sort(all, {}, &draw::at);
        std::int64_t most = 0, sum = 0;
        std::size_t oldest = 0;
        for (const draw& each : all) {
            sum += permits_in(each.member);
            for (; all[oldest].at <= each.at - length; ++oldest)
                sum -= permits_in(all[oldest].member);
            most = std::max(most, sum);
        }
        return most;
    }
    static void expect_never_too_many(const std::vector<draw>& all) {
        window counted{"L", five};
        std::map<std::string, duration> until_now;
        for (const draw& each : all) {
            until_now[each.member] = each.at;
            counted.saw(std::chrono::duration_cast<duration>(each.done), until_now);
        }
        EXPECT_THAT(counted.troubles(), testing::IsEmpty());
        EXPECT_GE(counted.most(), five.permits - 1) << "never at the rate: nobody wants above two";
    }
    static std::int64_t sum_of(const std::vector<draw>& all) {
        return std::accumulate(
            all.begin(), all.end(), std::int64_t{0},
            [](std::int64_t so_far, const draw& each) { return so_far + permits_in(each.member); });
    }

    /// A JVM of before 3.16.2 looks for draws up to the time at which it asked, and its script
    /// fails where another has drawn meanwhile: asked again, it answers.
    static bool is_overtaken(const peer_failure& failure) {
        return std::string_view{failure.what()}.find("to 'unpack'") != std::string_view::npos &&
               !is_at_least(GetParam().redisson, 3, 16);
    }
    static void acquire_unless_overtaken(remote_rate limiter, int permits) {
        constexpr int tries_max = 1'000;
        for (int i = 1;; ++i) {
            try {
                return limiter.acquire(permits);
            } catch (const peer_failure& failure) {
                if (!is_overtaken(failure) || i == tries_max)
                    throw;
            }
        }
    }
};
INSTANTIATE_TEST_SUITE_P(Redisson, RateCrowd, testing::ValuesIn(one_way_at({"getRateLimiter"})),
                         name_of);

TEST_P(RateCrowd, OfBothSidesNeverDrawsMoreThanTheRateInAnyInterval) {
    constexpr int of_each_side = 3, rounds = 4;
    transcript seen{server().socket_path()};
    std::vector<std::future<void>> all;
    for (int number = 1; number <= of_each_side; ++number)
        for (remote_client* side : {&jvm(), &ours()})
            all.push_back(
                std::async(std::launch::async,
                           [limiter = remote_rate{side->thread(std::to_string(number))}, number] {
                               for (int round = 0; round < rounds; ++round)
                                   acquire_unless_overtaken(limiter, 1 + (number + round) % 2);
                           }));
    for (std::future<void>& each : all)
        each.get();
    const std::vector<draw> draws = drawn_in(seen);
    EXPECT_EQ(sum_of(draws), 2 * of_each_side * rounds * 3 / 2);
    expect_never_too_many(draws);
    // A JVM writes the time at which it asked, which on a busy machine is a while before the draw.
    EXPECT_LE(most_within(draws, five.interval - 150ms), five.permits);
    EXPECT_GT(most_within(draws, 2 * five.interval), five.permits) << "it was never at the rate";
}

TEST_P(RateCrowd, ThatWaitsAsynchronouslyNeverDrawsMoreEither) {
    constexpr int of_each_side = 6;
    remote_rate by_jvm{jvm().thread("all")}, by_ours{ours().thread("all")};
    transcript seen{server().socket_path()};
    std::vector<ongoing> waiting;
    for (int number = 1; number <= of_each_side; ++number)
        for (remote_rate* side : {&by_jvm, &by_ours})
            waiting.push_back(side->begin_acquire_async(1 + number % 2));
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        try {
            (void)soon(std::move(waiting[i].answer));
        } catch (const peer_failure& failure) {
            if (!is_overtaken(failure))
                throw;
            acquire_unless_overtaken(by_jvm, 1 + static_cast<int>(i / 2 + 1) % 2);
        }
    }
    const std::vector<draw> draws = drawn_in(seen);
    EXPECT_EQ(sum_of(draws), 2 * of_each_side * 3 / 2);
    expect_never_too_many(draws);
}

} // namespace
} // namespace holdfast::interop
