// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/nodes.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::bench {

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

std::vector<std::string> books_of_nodes::keys() const {
    std::vector<std::string> left;
    for (const accounts& each : all_)
        for (std::string& key : each.keys())
            left.push_back(std::move(key));
    return left;
}

void books_of_nodes::expect(long long scripts) const {
    if (const std::vector<std::string> left = keys(); !left.empty())
        throw std::runtime_error{std::to_string(left.size()) + " keys are left on the nodes, '" +
                                 left.front() + "' among them"};
    long long counted = 0;
    for (const accounts& each : all_)
        counted += each.scripts_run();
    if (counted < scripts)
        throw std::runtime_error{"the nodes ran " + std::to_string(counted) +
                                 " scripts together, and not " + std::to_string(scripts)};
}

} // namespace holdfast::bench
