// SPDX-License-Identifier: Apache-2.0
#include "redis/mouth/portrait.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

/// Servers tell whole seconds.
constexpr std::chrono::seconds uptime_rounding{1};

} // namespace

// By the history of the data and not by the start: a primary that was demoted, took another's data
// and was promoted again has its old run_id.
portrait::meeting portrait::meet(const introduction& told, time_point now) {
    const bool same = !told.replication_id.empty() && told.replication_id == replication_id_;
    run_id_ = told.run_id;
    replication_id_ = told.replication_id;
    if (told.uptime) {
        const time_point began = now - *told.uptime - uptime_rounding;
        forgets_before_ = std::max(began, forgets_before_.value_or(began));
    }
    if (!std::exchange(met_, true))
        return meeting::first;
    return same ? meeting::same : meeting::other_or_unknown;
}

} // namespace holdfast::redis
