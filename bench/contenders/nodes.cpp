// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/nodes.hpp"

#include <stdexcept>
#include <thread>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// A node that was not waited for may be late with its grant, and with the release after it.
constexpr auto nodes_settle_within = 2s;

void expect_no_keys(const accounts& books) {
    const auto deadline = stopwatch::now() + nodes_settle_within;
    while (const long long left = books.keys()) {
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

books_of_nodes::books_of_nodes(const std::vector<const server*>& nodes) {
    for (const server* node : nodes)
        all_.emplace_back(node->connect(transport::unix_socket));
}

void books_of_nodes::clear() {
    for (accounts& each : all_)
        each.clear();
}

void books_of_nodes::expect(long long scripts) const {
    long long counted = 0;
    for (const accounts& each : all_) {
        expect_no_keys(each);
        counted += each.scripts_run();
    }
    if (counted < scripts)
        throw std::runtime_error{"the nodes ran " + std::to_string(counted) +
                                 " scripts together, and not " + std::to_string(scripts)};
}

} // namespace holdfast::bench
