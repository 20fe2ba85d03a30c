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
    std::optional<redis::reply> fair(const command&);
    redis::reply acquire_fair(const command&);
    redis::reply unlock_fair(const command&);
    redis::reply give_up_fair(const command&);
    redis::reply force_unlock_fair(const command&);
    void purge(const std::string& queue, const std::string& deadlines);
    void tell_head(const command&);
    std::int64_t now(); ///< ms of the server's clock
    std::int64_t moment(const std::string& recorded);

    support::redis_server& server_;
};

/// Whether a recorded command is one that this knows: of a lock that one owner holds alone.
bool is_known(const command&);
bool is_of_a_fair_lock(const command&);

} // namespace holdfast::trace
