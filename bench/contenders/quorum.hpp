// SPDX-License-Identifier: Apache-2.0
// Servers of a quorum: the server that all contests use, and additional servers.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/server/server.hpp"

#include <string>
#include <vector>

namespace holdfast::bench {

/// Starts and returns `count` servers.
std::vector<const server*> nodes(const arena&, int count);

/// Statistics of all nodes of a quorum. The statistics of a single node are not useful, because a
/// pair needs only a majority.
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
