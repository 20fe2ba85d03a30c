// SPDX-License-Identifier: Apache-2.0
// Checker: if a fenced lock is requested after another grant, its token is greater. No two grants
// have the same token.
#pragma once

#include "sim/world.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace holdfast::sim {

class tokens {
public:
    explicit tokens(world& w)
        : world_{w}
        , given_(static_cast<std::size_t>(w.names())) {}

    /// Returns the greatest token so far. The token of a lock that is requested now must be
    /// greater.
    std::uint64_t greatest(int name) const {
        if (name < 0)
            return 0; // an operation without a lock
        const std::set<std::uint64_t>& given = given_[static_cast<std::size_t>(name)];
        return given.empty() ? 0 : *given.rbegin();
    }

    void completed(const operation& o) { floor_ = o.token_floor; }

    /// Called when the operation that has just ended was granted a lock.
    void granted(const claim& c) {
        const std::uint64_t token = c.held.fencing_token();
        if (token == 0 || !world_.tokens_promised(c.who.name))
            return;
        // The token may be smaller if the caller gets a hold that was ended by force and does not
        // know this yet. This is correct.
        if (token <= floor_ && world_.exclusion_promised(c.who.name))
            fail(c, "is not above " + std::to_string(floor_) + ", which was given before");
        if (!given_[static_cast<std::size_t>(c.who.name)].insert(token).second)
            fail(c, "was given before");
    }

    /// Called when the server has lost its counters. Tokens then begin at one again.
    void forgotten() {
        given_.assign(given_.size(), {});
        for (const auto& [id, o] : world_.books.under_way())
            world_.books.at(id).token_floor = 0;
    }

private:
    void fail(const claim& c, const std::string& what) {
        world_.violated("tokens grow", c.who.name,
                        c.owner + ": its token " + std::to_string(c.held.fencing_token()) + " " +
                            what);
    }

    world& world_;
    std::vector<std::set<std::uint64_t>> given_; ///< granted tokens of each name
    std::uint64_t floor_ = 0;
};

} // namespace holdfast::sim
