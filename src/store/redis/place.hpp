// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/mutex_requests.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::redis {

/// One owner waiting for one plain lock. Redisson keeps no queue for those, so a place is only
/// what this client remembers: whether it listens, and which of its requests may still be on
/// their way.
class mutex_place final : public place {
public:
    /// All but `want` must outlive it.
    mutex_place(node& server, const store_context& context, ask want, alarm& wake);

    /// The first look is one script, for most locks are free. The second one listens first.
    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool uncertain() const noexcept override { return unanswered_until_ != none; }
    time_point settled_at() const noexcept override { return settled_at_; }

private:
    static constexpr time_point none = time_point::min();

    /// Until when one request may be granted, and whether that is the caller's own limit.
    struct limit {
        time_point at;
        bool is_callers;
    };
    limit next_limit(bool first) const;

    asio::awaitable<void> listen();
    asio::awaitable<attempt> attempt_until(time_point deadline);
    void learn_clock(const attempt&);
    answer busy(const attempt&);

    node& server_;
    const store_context& context_;
    ask want_;
    alarm& wake_;

    bool looked_ = false;
    bool found_busy_ = false;
    bool granted_ = false;
    std::unique_ptr<hearing> ear_;
    bool listening_ = false;

    time_point settled_at_ = none;       // latest deadline of a request that was sent
    time_point unanswered_until_ = none; // the same of those without an answer
};

} // namespace holdfast::redis
