// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/nodes.hpp"

#include <stdexcept>
#include <thread>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// A node that was not waited for may be late with its grant, and with the release after it.
constexpr auto nodes_settle_within = 2s;

void expect_no_keys(const server& node, transport way) {
    const connection to = node.connect(way);
    const auto deadline = stopwatch::now() + nodes_settle_within;
    while (const long long left = ask(to, {"DBSIZE"})->integer) {
        if (stopwatch::now() > deadline)
            throw std::runtime_error{std::to_string(left) + " keys are left on a node"};
        std::this_thread::sleep_for(1ms);
    }
}

} // namespace

std::vector<const server*> nodes(const arena& where, int count) {
    std::vector<const server*> all{&where.home};
    for (int i = 1; i < count; ++i)
        all.push_back(&where.more.at(i - 1));
    return all;
}

void expect_no_keys(const std::vector<const server*>& nodes, transport way) {
    for (const server* node : nodes)
        expect_no_keys(*node, way);
}

} // namespace holdfast::bench
