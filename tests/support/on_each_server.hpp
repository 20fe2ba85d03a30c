// SPDX-License-Identifier: Apache-2.0
// Runs tests once on every server:
//
//     class Scripts : public support::on_each_server {};
//     HOLDFAST_ON_EACH_SERVER(Scripts);
//     TEST_P(Scripts, DoWhatTheySay) { server().command({"PING"}); }
#pragma once

#include "support/redis_server.hpp"

#include <cctype>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::support {

// prints a server in GoogleTest's messages
inline void PrintTo(const server_binary& which, std::ostream* out) {
    *out << which.label;
}

/// Calls `make`, which makes the servers of a test. If a server is missing, skips the test with the
/// reason. Fails instead if servers are required.
template <typename Make>
void make_or_skip(Make make) {
    try {
        make();
    } catch (const server_unavailable& why) {
        if (servers_are_required())
            FAIL() << why.what();
        GTEST_SKIP() << why.what();
    }
}

/// Base of tests that make servers of the kind `GetParam()` themselves.
class on_each_kind_of_server : public ::testing::TestWithParam<server_binary> {
protected:
    void SetUp() override {
        make_or_skip([] { const redis_server there{GetParam()}; });
    }
};

/// Base of tests that each get a fresh server.
class on_each_server : public ::testing::TestWithParam<server_binary> {
protected:
    explicit on_each_server(redis_server::options how = {})
        : how_{std::move(how)} {}

    void SetUp() override {
        make_or_skip([this] { server_ = std::make_unique<redis_server>(GetParam(), how_); });
    }

    redis_server& server() { return *server_; }

private:
    redis_server::options how_;
    std::unique_ptr<redis_server> server_;
};

inline std::string test_name_of(const ::testing::TestParamInfo<server_binary>& info) {
    std::string name = info.param.label;
    for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
            letter = '_';
    return name;
}

} // namespace holdfast::support

#define HOLDFAST_ON_EACH_SERVER(suite)                                                             \
    INSTANTIATE_TEST_SUITE_P(Servers, suite, ::testing::ValuesIn(::holdfast::support::servers()),  \
                             ::holdfast::support::test_name_of)

/// Runs a suite only on newer servers, to test differences between the versions.
#define HOLDFAST_ON_NEWER_SERVERS(suite)                                                           \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                          \
    INSTANTIATE_TEST_SUITE_P(NewerServers, suite,                                                  \
                             ::testing::ValuesIn(::holdfast::support::newer_servers()),            \
                             ::holdfast::support::test_name_of)
