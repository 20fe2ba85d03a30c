// SPDX-License-Identifier: Apache-2.0
#include "net/option_checks.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr option_checks check{"some::options"};

/// The text of the refusal; empty: it passes.
template <typename Call>
std::string refusal_of(Call call) {
    const support::thrown told = support::thrown_by(call);
    EXPECT_TRUE(!told.code || told.code == errc::invalid_argument);
    return told.text;
}

TEST(OptionChecks, SayWhoseOptionsTheyAre) {
    EXPECT_THAT(refusal_of([] { check.require(false, "it is odd"); }),
                HasSubstr("some::options: it is odd"));
    EXPECT_EQ(refusal_of([] { check.require(true, "it is odd"); }), "");
}

TEST(OptionChecks, TimesHaveBounds) {
    EXPECT_EQ(refusal_of([] { check.time(1ms, "x"); }), "");
    EXPECT_EQ(refusal_of([] { check.time(24h, "x"); }), "");
    EXPECT_THAT(refusal_of([] { check.time(0ms, "x"); }),
                HasSubstr("x is 0 ms; allowed are 1 ms to 1 day"));
    EXPECT_THAT(refusal_of([] { check.time(24h + 1ms, "x"); }), HasSubstr("x is 86400001 ms"));
    EXPECT_THAT(refusal_of([] { check.time(99ms, "x", 100ms); }),
                HasSubstr("allowed are 100 ms to 1 day"));
    EXPECT_THAT(refusal_of([] { check.backoff(2ms, 1ms); }),
                HasSubstr("backoff_min is longer than backoff_max"));
}

TEST(OptionChecks, ASocketHasAPathThatTheSystemAllows) {
    EXPECT_EQ(refusal_of([] { check.unix_socket(std::string(107, 'x')); }), "");
    EXPECT_THAT(refusal_of([] { check.unix_socket(std::string(108, 'x')); }),
                HasSubstr("unix_socket is longer than the 107 bytes"));
    EXPECT_THAT(refusal_of([] { check.unix_socket(std::string("a\0b", 3)); }),
                HasSubstr("unix_socket contains a NUL byte"));
}

TEST(OptionChecks, ListsOfServersHaveOneTo64WithAHostEach) {
    const auto refusal = [](std::vector<server_address> all) {
        return refusal_of([&] { (void)check.servers(all, 7, "list"); });
    };
    EXPECT_EQ(refusal({{"a", 0}, {"b", 0}}), "");
    EXPECT_THAT(refusal({}), HasSubstr("list has 0 entries; allowed are 1 to 64"));
    EXPECT_THAT(refusal(std::vector<server_address>(65)), HasSubstr("list has 65 entries"));
    EXPECT_THAT(refusal({{"", 1}}), HasSubstr("list: a host is empty"));
    EXPECT_THAT(refusal({{std::string{"a\0b", 3}, 1}}),
                HasSubstr("list: a host contains a NUL byte"));
}

TEST(OptionChecks, TheFirstServerThatIsThereTwiceIsNamed) {
    const auto twice = check.servers({{"a", 1}, {"b", 0}, {"b", 7}, {"", 0}}, 7, "list");
    ASSERT_TRUE(twice);
    EXPECT_EQ(twice->which, (server_address{"b", 7}));
    EXPECT_EQ(twice->numbers(), "number 2 and 3");
    EXPECT_FALSE(check.servers({{"a", 1}, {"a", 0}}, 7, "list"));
}

TEST(OptionChecks, ACertificateHasAKeyAndFilesCanBeRead) {
    tls_options tls;
    EXPECT_EQ(refusal_of([&] { check.certificate(tls, "tls"); }), "");
    tls.certificate_file = "/nowhere/cert.pem";
    EXPECT_THAT(refusal_of([&] { check.certificate(tls, "own.tls"); }),
                HasSubstr("own.tls.certificate_file and own.tls.key_file belong together"));
    tls.key_file = "/nowhere/key.pem";
    EXPECT_EQ(refusal_of([&] { check.certificate(tls, "tls"); }), "");
    EXPECT_THAT(refusal_of([&] { check.files(tls); }), HasSubstr("/nowhere/"));
}

} // namespace
} // namespace holdfast::net
