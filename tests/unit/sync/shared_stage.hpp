// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unit/sync/stage.hpp"

#include <holdfast/shared_mutex.hpp>

#include <optional>
#include <utility>

namespace holdfast::sync {

/// Alice and Bob, and a lock that they can share.
class on_shared_stage : public on_stage {
protected:
    actor& alice = enter();
    actor& bob = enter();
    shared_mutex prices{alice, "prices"}, bobs{bob, "prices"};
    basic_mutex& alone = prices;

    lease read() { return taken(prices.shared()); }
    lease written() { return taken(alone); }
    said<lease> reader(shared_mutex& of) {
        said<lease> told;
        of.async_lock_shared(told.handler());
        settle();
        return told;
    }
    said<lease> writer(shared_mutex& of) {
        said<lease> told;
        static_cast<basic_mutex&>(of).async_lock(told.handler());
        settle();
        return told;
    }
    said<std::optional<lease>> upgraded(shared_mutex& of, const lease& from,
                                        duration timeout = 10min) {
        said<std::optional<lease>> told;
        of.async_try_upgrade_for(from, timeout, told.handler());
        settle();
        return told;
    }
    void release(lease held) {
        said<> told;
        held.async_unlock(told.handler());
        settle();
        EXPECT_TRUE(told.well());
    }
    std::size_t owners() { return inspect(server, "prices").value_or(holding{}).owners.size(); }
};

} // namespace holdfast::sync
