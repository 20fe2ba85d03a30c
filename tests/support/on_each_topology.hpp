// SPDX-License-Identifier: Apache-2.0
// Runs tests once on every kind of server, on several servers that belong together:
//
//     class Slots : public support::on_each_topology<support::redis_cluster> {};
//     HOLDFAST_ON_EACH_SERVER(Slots);
//     TEST_P(Slots, AreShared) { servers().node_of("name").command({"PING"}); }
#pragma once

#include "support/on_each_server.hpp"
#include "support/shared_topology.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::support {

/// Base of tests that run on each kind of server in the topology `Topology`. The topology is made
/// once for each suite and kind of server, because this takes seconds. It is restored before each
/// test.
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
