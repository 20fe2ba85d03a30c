// SPDX-License-Identifier: Apache-2.0
// What `make_store` refuses before anything is sent.
#include <holdfast/error.hpp>
#include <holdfast/redis/options.hpp>

#include <boost/system/system_error.hpp>

#include <functional>
#include <string>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using ::testing::HasSubstr;

std::string objection_to(const std::function<void(redis::options&)>& change) {
    redis::options how;
    change(how);
    try {
        (void)redis::make_store(how);
        return "none";
    } catch (const boost::system::system_error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
        return refused.what();
    }
}

TEST(RedisOptions, AsTheyComeAreFine) {
    EXPECT_EQ(objection_to([](redis::options&) {}), "none");
    EXPECT_EQ(objection_to([](redis::options& o) { o.unix_socket = "/run/redis"; }), "none");
    EXPECT_EQ(objection_to([](redis::options& o) { o.subscription_linger = {}; }), "none");
}

TEST(RedisOptions, EachObjectionNamesItsField) {
    using options = redis::options;
    EXPECT_THAT(objection_to([](options& o) { o.host = ""; }), HasSubstr("host"));
    EXPECT_THAT(objection_to([](options& o) { o.host = {"a\0b", 3}; }), HasSubstr("host"));
    EXPECT_THAT(objection_to([](options& o) { o.port = 0; }), HasSubstr("port"));
    EXPECT_THAT(objection_to([](options& o) { o.unix_socket = std::string(108, '/'); }),
                HasSubstr("unix_socket"));
    EXPECT_THAT(objection_to([](options& o) { o.connect_timeout = duration{0}; }),
                HasSubstr("connect_timeout is 0 ms; allowed are 1 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.command_timeout = duration{-1}; }),
                HasSubstr("command_timeout"));
    EXPECT_THAT(objection_to([](options& o) { o.command_timeout = duration::max(); }),
                HasSubstr("command_timeout"));
    EXPECT_THAT(objection_to([](options& o) { o.backoff_min = duration{0}; }),
                HasSubstr("backoff_min is 0 ms"));
    EXPECT_THAT(objection_to([](options& o) { o.backoff_min = duration{5'000}; }),
                HasSubstr("backoff_min is longer than backoff_max"));
    EXPECT_THAT(objection_to([](options& o) { o.backoff_max = duration::max(); }),
                HasSubstr("backoff_max is 9223372036854775807 ms"));
    EXPECT_THAT(objection_to([](options& o) { o.subscription_linger = duration{-1}; }),
                HasSubstr("subscription_linger is -1 ms; allowed are 0 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.lanes_max = 1001; }), HasSubstr("lanes_max"));
    EXPECT_THAT(objection_to([](options& o) { o.polling = std::chrono::microseconds{-1}; }),
                HasSubstr("polling is -1 us; allowed are 0 us to 10000 us"));
    EXPECT_THAT(objection_to([](options& o) { o.polling = std::chrono::milliseconds{11}; }),
                HasSubstr("polling"));
    EXPECT_THAT(objection_to([](options& o) { o.requests_max = 0; }), HasSubstr("requests_max"));
    EXPECT_THAT(objection_to([](options& o) { o.reply_bytes_max = 0; }),
                HasSubstr("reply_bytes_max"));
}

} // namespace
} // namespace holdfast
