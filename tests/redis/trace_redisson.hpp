// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/redis_server.hpp"
#include "wire_trace.hpp"

namespace holdfast::trace {

/// Redisson's part of a recording: does with plain commands what its scripts do (our own words,
/// and one at a time, so nobody comes in between), counts and cut leases included.
class redisson {
public:
    explicit redisson(support::redis_server& server)
        : server_{server} {}

    /// Nothing where the command needs no replaying: subscriptions and latches.
    std::optional<redis::reply> run(const command&);

private:
    redis::reply acquire(const command&);
    redis::reply fenced_acquire(const command&);
    redis::reply non_reentrant_acquire(const command&);
    redis::reply unlock(const command&);
    redis::reply spin_unlock(const command&);
    redis::reply leave(const std::string& name, const std::string& lease, const std::string& owner);
    redis::reply force_unlock(const command&);
    redis::reply renew(const command&);

    support::redis_server& server_;
};

/// Whether a recorded command is one of a lock's that one owner holds alone, in no order.
bool is_of_an_exclusive_lock(const command&);

} // namespace holdfast::trace
