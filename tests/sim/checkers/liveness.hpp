// SPDX-License-Identifier: Apache-2.0
// A free lock that somebody waits for is taken, within the poll bound of whoever can be reached.
#pragma once

#include "sim/world.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

class liveness {
public:
    explicit liveness(world& w)
        : world_{w}
        , free_since_(static_cast<std::size_t>(w.names())) {}

    void look() {
        for (int name = 0; name < world_.names(); ++name) {
            std::optional<time_point>& since = free_since_[static_cast<std::size_t>(name)];
            if (!world_.seen(name).owner.empty())
                since.reset();
            else if (!since)
                since = world_.clock.now();
            if (since)
                check(name, *since);
        }
    }

private:
    void check(int name, time_point free_since) {
        for (const auto& [id, o] : world_.books.under_way()) {
            if (o.who.name != name || !acquires(o.what) || o.what == deed::try_lock)
                continue;
            const network& net = world_.seats[static_cast<std::size_t>(o.who.client)].net;
            const time_point since = std::max({free_since, o.started_at, net.troubled_until()});
            if (net.cut_off() || world_.clock.now() - since <= taken_within(net))
                continue;
            world_.violated("liveness", name,
                            "the lock is free, and client" + std::to_string(o.who.client) + "." +
                                std::to_string(o.who.actor) + " still waits for it after " +
                                std::to_string((world_.clock.now() - since).count()) + " ms");
        }
    }

    /// The poll bound, the longest pause between two tries, and some round trips. A look may have
    /// been stopped by the deadline on a server's clock that was stepped: then two more.
    duration taken_within(const network& net) const {
        constexpr duration longest_pause{1000};
        return world_.how.poll_bound + longest_pause + 8 * net.latency() + duration{10};
    }

    world& world_;
    std::vector<std::optional<time_point>> free_since_;
};

} // namespace holdfast::sim
