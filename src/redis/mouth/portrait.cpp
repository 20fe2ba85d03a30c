// SPDX-License-Identifier: Apache-2.0
#include "redis/mouth/portrait.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

/// Largest error of an uptime. Servers compute it from two times in whole seconds, so an uptime of
/// 5 may mean a start 4 seconds ago.
constexpr std::chrono::seconds uptime_rounding{1};

std::optional<time_point> later_of(std::optional<time_point> one, std::optional<time_point> other) {
    return std::max(one, other); // an empty time is earlier than any other
}

} // namespace

// Compares the history of the data, not only the process. A primary that was demoted and promoted
// again keeps its run_id, but it may have another server's data.
portrait::meeting portrait::meet(const introduction& told, time_point now) {
    const bool same = !told.replication_id.empty() && told.replication_id == replication_id_;
    const bool same_process = same && !told.run_id.empty() && told.run_id == run_id_;
    may_be_another_ = met_ && (told.run_id.empty() || told.run_id != run_id_);
    run_id_ = told.run_id;
    replication_id_ = told.replication_id;
    if (same_process)
        forgets_before_ = before_loss_; // the connection was lost, but the server kept its data
    if (told.uptime)
        forgets_before_ = later_of(forgets_before_, now - *told.uptime + uptime_rounding);
    before_loss_ = forgets_before_;
    if (!std::exchange(met_, true))
        return meeting::first;
    return same ? meeting::same : meeting::other_or_unknown;
}

void portrait::lost(time_point now) {
    forgets_before_ = now;
}

} // namespace holdfast::redis
