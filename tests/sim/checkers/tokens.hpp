// SPDX-License-Identifier: Apache-2.0
// A hold of a fenced lock that was asked for after another one was given has a greater token, and
// no two have the same.
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

    /// What a lock that is asked for now must be above.
    std::uint64_t greatest(int name) const {
        if (name < 0)
            return 0; // of no lock
        const std::set<std::uint64_t>& given = given_[static_cast<std::size_t>(name)];
        return given.empty() ? 0 : *given.rbegin();
    }

    void completed(const operation& o) { floor_ = o.token_floor; }

    /// By the operation that has just completed.
    void granted(const claim& c) {
        const std::uint64_t token = c.held.fencing_token();
        if (token == 0 || !world_.tokens_promised(c.who.name))
            return;
        // Who is given a hold that was forced, and does not know it yet, is behind: as it should
        // be.
        if (token <= floor_ && world_.exclusion_promised(c.who.name))
            fail(c, "is not above " + std::to_string(floor_) + ", which was given before");
        if (!given_[static_cast<std::size_t>(c.who.name)].insert(token).second)
            fail(c, "was given before");
    }

    /// The server counts from one again.
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
    std::vector<std::set<std::uint64_t>> given_; ///< by name
    std::uint64_t floor_ = 0;
};

} // namespace holdfast::sim
