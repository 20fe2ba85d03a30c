// SPDX-License-Identifier: Apache-2.0
// Checker: a semaphore does not give out more permits than it has. When a permit is newly leased,
// all held permits must fit. The number may be reduced later.
#pragma once

#include "sim/world.hpp"
#include "store/memory/server_state.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace holdfast::sim {

class capacity {
public:
    explicit capacity(world& w)
        : world_{w} {}

    void counted(int name, const memory::count_record& r) {
        if (world_.how.counts(name) == counter_kind::permits)
            known_[name].saw(std::max(r.before, r.after).value_or(0));
    }
    void look() {
        for (int name = 0; name < world_.names(); ++name)
            if (world_.how.counts(name) == counter_kind::permits)
                look_at(name);
    }

private:
    using leases = std::map<std::string, duration>; // remaining lease of each permit
    struct semaphore {
        std::int64_t most = 0; ///< greatest number of permits since the last check
        leases held{};
        void saw(std::int64_t all) { most = std::max(most, all); }
    };

    void look_at(int name) {
        semaphore& last = known_[name];
        const leases& held = world_.seen(name).permits;
        const std::int64_t all = world_.counter(name).value_or(0);
        last.saw(all);
        const auto is_new = [&](const auto& each) { return !last.held.contains(each.first); };
        const auto count = static_cast<std::int64_t>(held.size());
        // An expired permit is held again after the clock is stepped back.
        const bool grows = world_.stepped_back() == duration{} && std::ranges::any_of(held, is_new);
        if (grows && count > last.most)
            world_.violated("capacity", name,
                            std::to_string(count) + " permits are held, of " +
                                std::to_string(last.most));
        last.held = held;
        last.most = all;
    }

    world& world_;
    std::map<int, semaphore> known_; ///< semaphore of each name
};

} // namespace holdfast::sim
