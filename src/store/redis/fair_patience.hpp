// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace holdfast::redis {

/// Decides how long this client's places in the queues of fair locks last after a request. A JVM
/// whose clock is ahead may remove living waiters from a queue. Then this client's places for that
/// lock last longer, but no longer than a JVM's.
class fair_patience {
public:
    /// `context` must outlive this object.
    fair_patience(const store_context& context, duration longest)
        : context_{context}
        , longest_{std::min<duration>(longest, std::chrono::hours{1})} {}

    duration of(const ask&) const;

    /// Notes that a place was missing, and tells the observer. `in_time`: the owner had asked
    /// before the place expired, so places under this name last longer from now on.
    void lost(const ask&, bool in_time);

private:
    /// Bound on the number of names whose places last longer.
    static constexpr std::size_t names_max = 1000;

    const store_context& context_;
    const duration longest_;                           // an hour at most, as for users' options
    std::unordered_map<std::string, duration> longer_; // by name
};

} // namespace holdfast::redis
