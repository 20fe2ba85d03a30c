// SPDX-License-Identifier: Apache-2.0
#include "redis/request.hpp"
#include "redis/wire/composer.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::literals;
using std::chrono::microseconds;

constexpr script greet{"greet", "0123456789012345678901234567890123456789", "return 1"};

std::string composed(const request& asked, const runtime::remote_clock& clock = {}) {
    std::string out;
    asked.compose(composer{out}, clock);
    return out;
}

TEST(Composer, GivesEachWordItsLength) {
    std::string out = "before";
    composer{out}.request({"SET", "a b\r\n"sv, "\0"sv, ""});
    EXPECT_EQ(out, "before*4\r\n$3\r\nSET\r\n$5\r\na b\r\n\r\n$1\r\n\0\r\n$0\r\n\r\n"s);
}

TEST(Composer, WritesEveryNumber) {
    std::string out;
    composer to{out};
    to.number(0);
    to.number(std::numeric_limits<std::int64_t>::min());
    to.number(std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(out, "$1\r\n0\r\n$20\r\n-9223372036854775808\r\n$19\r\n9223372036854775807\r\n");
}

TEST(Request, IsAnEvalshaWithKeysAndArguments) {
    const std::string_view keys[] = {"k1", "k2"};
    const argument arguments[] = {std::int64_t{-7}, std::string_view{"x"}};
    EXPECT_EQ(composed({greet, keys, arguments}),
              "*7\r\n$7\r\nEVALSHA\r\n$40\r\n0123456789012345678901234567890123456789\r\n"
              "$1\r\n2\r\n$2\r\nk1\r\n$2\r\nk2\r\n$2\r\n-7\r\n$1\r\nx\r\n");
}

TEST(Request, ToAServerThatDoesNotKnowTheScriptCarriesItsText) {
    request asked{greet, {}, {}};
    asked.with_text = true;
    EXPECT_EQ(composed(asked), "*3\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n0\r\n");
}

TEST(Request, TellsADeadlineByTheServersClock) {
    const argument arguments[] = {server_deadline{time_point{50s}}};
    runtime::remote_clock clock;
    clock.learn(time_point{10s}, time_point{10s}, microseconds{1'000'000'000});
    const std::string out = composed({greet, {}, arguments}, clock);
    EXPECT_NE(out.find(std::to_string(clock.no_later_than(time_point{50s})->count())),
              std::string::npos)
        << out;
}

TEST(Request, SwitchesTheDeadlineOffWhereTheServersClockIsNotKnown) {
    const argument arguments[] = {server_deadline{time_point{50s}}};
    EXPECT_TRUE(composed({greet, {}, arguments}).ends_with("$1\r\n0\r\n$1\r\n0\r\n"));
}

} // namespace
} // namespace holdfast::redis
