// SPDX-License-Identifier: Apache-2.0
// Servers of a quorum in the benchmark, and their statistics.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/server/server.hpp"

#include <string>
#include <vector>

namespace holdfast::bench {

/// Returns `count` running servers.
std::vector<const server*> nodes(const arena&, int count);

/// Sum of the statistics of all nodes of a quorum. The statistics of a single node say little,
/// because a pair of lock and unlock needs only a majority.
class books_of_nodes {
public:
    explicit books_of_nodes(const std::vector<const server*>&);

    void clear();

    std::vector<std::string> keys() const; ///< names of the keys

    /// Throws if the nodes together ran another number of scripts than `scripts`, or if a node
    /// still has a key.
    void expect(long long scripts) const;

private:
    std::vector<accounts> all_;
};

} // namespace holdfast::bench
