// SPDX-License-Identifier: Apache-2.0
// Checker: a waiter for a counter is served. If there are permits for all waiters, if as much can
// be drawn as they want, or if the latch is open, their calls end soon.
#pragma once

#include "sim/world.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

class served {
public:
    explicit served(world& w)
        : world_{w}
        , enough_since_(static_cast<std::size_t>(w.names())) {}

    void look() {
        for (int name = 0; name < world_.names(); ++name) {
            std::optional<time_point>& since = enough_since_[static_cast<std::size_t>(name)];
            if (!world_.how.counts(name) || !is_enough(name))
                since.reset();
            else if (!since)
                since = world_.clock.now();
            if (since)
                check(name, *since);
        }
    }

private:
    bool is_enough(int name) const {
        const std::int64_t count = world_.available(name);
        if (world_.how.counts(name) == counter_kind::latch)
            return count <= 0;
        if (world_.how.counts(name) == counter_kind::rate && world_.is_drawn_by_each(name))
            return false;
        std::int64_t wanted = 0;
        for (const auto& [id, o] : world_.books.under_way())
            wanted += o.what == deed::acquire && o.who.name == name ? o.amount : 0;
        return count >= wanted;
    }

    void check(int name, time_point enough_since) {
        for (const auto& [id, o] : world_.books.under_way()) {
            const network& net = world_.seats[static_cast<std::size_t>(o.who.client)].net;
            const time_point since = std::max({enough_since, o.started_at, net.troubled_until()});
            if (o.who.name == name && counts(o.what) && !net.cut_off() &&
                world_.clock.now() - since > within(net, o))
                world_.violated("liveness", name,
                                "there is enough of it, and client" + std::to_string(o.who.client) +
                                    "." + std::to_string(o.who.actor) + " still waits after " +
                                    std::to_string((world_.clock.now() - since).count()) + " ms");
        }
    }

    /// Returns the time in which a waiter must be served. When a latch opens, all waiters are
    /// notified. When permits become free, the first waiters with fitting requests are notified. A
    /// notified waiter that has just given up does not notify another waiter.
    duration within(const network& net, const operation& o) const {
        const bool all_told = o.what == deed::wait && net.flawless() && world_.server_is_faithful();
        constexpr duration longest_pause{1000};
        const duration round_trips = 16 * net.latency() + duration{50};
        return round_trips + (all_told ? world_.how.poll_bound / 50 + duration{200}
                                       : world_.how.poll_bound + longest_pause);
    }

    world& world_;
    /// time since which enough permits are free, by name
    std::vector<std::optional<time_point>> enough_since_;
};

} // namespace holdfast::sim
