// SPDX-License-Identifier: Apache-2.0
// Runs tests on every server program, for example redis 7.0 and valkey 8, or on a topology of each.
#pragma once

#include "support/redis_server.hpp"

#include <cctype>
#include <map>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::support {

// Runs tests once on every server:
//
//     class Scripts : public support::on_each_server {};
//     HOLDFAST_ON_EACH_SERVER(Scripts);
//     TEST_P(Scripts, DoWhatTheySay) { server().command({"PING"}); }

// Prints a server in GoogleTest's messages.
inline void PrintTo(const server_binary& which, std::ostream* out) {
    *out << which.label;
}

/// Calls `make`, which creates the servers of a test. If a server is missing, skips the test, or
/// fails it if HOLDFAST_REQUIRE_SERVERS=1 is set.
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

/// Base of tests that themselves create servers of the program `GetParam()`.
class on_each_kind_of_server : public ::testing::TestWithParam<server_binary> {
protected:
    void SetUp() override {
        make_or_skip([] { const redis_server there{GetParam()}; });
    }
};

/// Base of tests in which each test has a new server.
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

/// Runs a suite only on newer server programs, to test what has changed in them.
#define HOLDFAST_ON_NEWER_SERVERS(suite)                                                           \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                          \
    INSTANTIATE_TEST_SUITE_P(NewerServers, suite,                                                  \
                             ::testing::ValuesIn(::holdfast::support::newer_servers()),            \
                             ::holdfast::support::test_name_of)

namespace holdfast::support {

/// Restores a topology that several tests share, because it takes seconds to create its servers.
/// Creates the topology if there is none, or if it cannot be restored.
template <typename Topology>
Topology& restored_or_new(std::unique_ptr<Topology>& kept, const server_binary& which,
                          const typename Topology::options& how) {
    try {
        if (kept) {
            kept->restore();
            return *kept;
        }
    } catch (const std::runtime_error&) {
        kept.reset();
    }
    kept = std::make_unique<Topology>(which, how);
    return *kept;
}

// Runs tests on every server program, on several servers that belong together:
//
//     class Slots : public support::on_each_topology<support::redis_cluster> {};
//     HOLDFAST_ON_EACH_SERVER(Slots);
//     TEST_P(Slots, AreShared) { servers().node_of("name").command({"PING"}); }

/// Base of tests on servers in the topology `Topology`, for example a cluster. The topology is
/// created once for each suite and server program, because this takes seconds, and is restored
/// before each test.
template <typename Topology>
class on_each_topology : public ::testing::TestWithParam<server_binary> {
protected:
    using options = typename Topology::options;

    explicit on_each_topology(options how = {})
        : how_{std::move(how)} {}

    void SetUp() override {
        make_or_skip([this] { servers_ = &shared(); });
    }

    Topology& servers() { return *servers_; }

private:
    Topology& shared() {
        static std::map<std::string, std::unique_ptr<Topology>> made;
        static std::string suite;
        const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
        if (suite != test.test_suite_name())
            made.clear();
        suite = test.test_suite_name();
        return restored_or_new(made[GetParam().label], GetParam(), how_);
    }

    options how_;
    Topology* servers_ = nullptr;
};

} // namespace holdfast::support
