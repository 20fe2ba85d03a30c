// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/later.hpp"
#include "redis/node_context.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::redis {

/// Hang detector of one connection. It notices that a reply has been missing for a quarter of
/// `command_timeout`, and reports this repeatedly until the reply comes. After a report, Sentinels
/// or cluster nodes are asked for a new primary, and `liveness` checks the connection. A report is
/// no proof: the server may only be slow.
class suspicion {
public:
    explicit suspicion(const node_context& of)
        : context_{of}
        , patience_{std::max(of.how.command_timeout / 4, duration{1})}
        , again_after_{std::max(patience_ / 3, duration{1})} {}

    /// Returns whether any callback receives the report.
    bool is_possible() const { return context_.in_trouble || context_.overdue; }

    /// Returns the time of the next call of look().
    time_point due(std::optional<time_point> owed_since) const {
        if (!owed_since || !is_possible())
            return time_point::max();
        return std::max(net::later(*owed_since, patience_), net::later(asked_at_, again_after_));
    }

    /// Reports a missing reply if the time for a report has come.
    void look(std::optional<time_point> owed_since, time_point now) {
        if (due(owed_since) > now)
            return;
        asked_at_ = now;
        if (context_.in_trouble)
            context_.in_trouble();
        if (context_.overdue)
            context_.overdue();
    }

private:
    const node_context& context_;
    const duration patience_;
    const duration again_after_;
    time_point asked_at_ = time_point::min();
};

} // namespace holdfast::redis
