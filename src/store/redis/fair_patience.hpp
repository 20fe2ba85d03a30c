// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace holdfast::redis {

/// Decides how long this client's places in the queues of fair locks last after each request. A JVM
/// with a fast clock may remove living waiters from a queue. If that happens, this client's places
/// for the lock last longer, but no longer than a JVM's places.
class fair_patience {
public:
    /// `context` must outlive this object.
    fair_patience(const store_context& context, duration longest)
        : context_{context}
        , longest_{std::min<duration>(longest, std::chrono::hours{1})} {}

    duration of(const ask&) const;

    /// Records that a place was missing, and tells the observer. `in_time` means that the owner had
    /// sent its request before the place expired. In that case places for this lock last longer
    /// from now on.
    void lost(const ask&, bool in_time);

private:
    /// Maximum number of names with longer lasting places.
    static constexpr std::size_t names_max = 1000;

    const store_context& context_;
    const duration longest_;                           // an hour at most, as for users' options
    std::unordered_map<std::string, duration> longer_; // lifetime of a place, by lock name
};

} // namespace holdfast::redis
