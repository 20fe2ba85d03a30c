// SPDX-License-Identifier: Apache-2.0
// Checker: the reports of a client to its observer add up. Each hold is acquired once and ends
// once, so a count of holds returns to zero. A hold that is handed over has ended, and is acquired
// again.
#pragma once

#include "sim/world.hpp"

#include <map>
#include <string>
#include <tuple>

namespace holdfast::sim {

class reports {
public:
    explicit reports(world& w)
        : world_{w} {}

    void heard(int client, int generation, const event& e) {
        if (e.owner_number == 0)
            return;
        record& r = records_[{client, generation, e.owner_number}];
        const bool closing = e.kind == event_kind::lost && e.cause == event_cause::closed;
        if (e.kind == event_kind::acquired) {
            if (r.acquired && !r.ended)
                fail(e, "was acquired twice");
            r = {.acquired = true}; // the hold may be granted once more, after a hand-over
            return;
        }
        if (!r.acquired)
            fail(e, "was never acquired, and something of it is reported");
        if (ends(e.kind) && !closing && r.ended)
            fail(e, "ended twice");
        r.ended = r.ended || (ends(e.kind) && !closing);
    }

    void at_peace() {
        for (const auto& [of, r] : records_) {
            const auto& [client, generation, number] = of;
            const seat& place = world_.seats[static_cast<std::size_t>(client)];
            if (!r.ended && generation == place.generation)
                world_.violated("reports add up", -1,
                                "client" + std::to_string(client) + " never reported the end of " +
                                    std::to_string(number));
        }
    }

private:
    struct record {
        bool acquired = false;
        bool ended = false;
    };

    static bool ends(event_kind k) {
        return k == event_kind::released || k == event_kind::lost ||
               k == event_kind::release_failed;
    }

    void fail(const event& e, const std::string& what) {
        world_.violated("reports add up", world::number_of({e.name, e.name_size}),
                        "number " + std::to_string(e.owner_number) + " " + what);
    }

    world& world_;
    std::map<std::tuple<int, int, std::uint64_t>, record> records_;
};

} // namespace holdfast::sim
