// SPDX-License-Identifier: Apache-2.0
// Many of both sides draw from one rate limiter: is more ever drawn than the rate?
#include "interop/rate_meeting.hpp"

#include <future>
#include <numeric>
#include <string_view>

namespace holdfast::interop {
namespace {

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
