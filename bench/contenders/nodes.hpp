// SPDX-License-Identifier: Apache-2.0
// The servers of a quorum: the one that all contests share, and others beside it.
#pragma once

#include "bench/contenders/arena.hpp"
#include "bench/server/accounts.hpp"

#include <string>
#include <vector>

namespace holdfast::bench {

/// So many, all living.
std::vector<const server*> nodes(const arena&, int count);

/// The books of all of them. A majority is enough for a pair, so those of one say little.
class books_of_nodes {
public:
    explicit books_of_nodes(const std::vector<const server*>&);

    void clear();

    std::vector<std::string> keys() const; ///< their names

    /// Throws if they did not carry out so many scripts together, or if a key is left on one.
    void expect(long long scripts) const;

private:
    std::vector<accounts> all_;
};

} // namespace holdfast::bench
