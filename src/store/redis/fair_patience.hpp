// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace holdfast::redis {

/// Decides how long this client's places in the queues of fair locks last without a look. A JVM
/// whose clock is ahead removes living waiters from a queue. Places under that name then last
/// longer, up to the wait of a JVM.
class fair_patience {
public:
    /// `context` must outlive this object.
    fair_patience(const store_context& context, duration longest)
        : context_{context}
        , longest_{std::min<duration>(longest, std::chrono::hours{1})} {}

    duration of(const ask&) const;

    /// Notes that a place was missing, and tells the observer. `in_time`: the owner had looked
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
