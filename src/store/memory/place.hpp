// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/ear.hpp"
#include "store/memory/link.hpp"

#include <memory>

namespace holdfast::memory {

/// One owner waiting for one lock. The server keeps no queue, so a place is only what this client
/// remembers: whether it listens, and which of its requests may still be on their way.
class mutex_place final : public place {
public:
    /// `context` and `wake` must outlive it.
    mutex_place(std::shared_ptr<link>, const store_context& context, ask, alarm& wake);

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool uncertain() const noexcept override { return unanswered_until_ != none; }
    time_point settled_at() const noexcept override { return settled_at_; }

private:
    static constexpr time_point none = time_point::min();

    /// Until when a request may be granted, and whether that is the caller's own limit.
    struct limit {
        time_point at;
        bool is_callers;
    };
    limit next_limit(bool first) const;
    asio::awaitable<verdict_on_look> ask_until(time_point deadline);
    answer busy(std::optional<duration> left);
    void listen();

    std::shared_ptr<link> link_;
    const store_context& context_;
    ask want_;
    alarm& wake_;

    bool looked_ = false;
    bool found_busy_ = false;
    bool granted_ = false;
    std::unique_ptr<ear> ear_;

    time_point settled_at_ = none;       // latest deadline of a request that was sent
    time_point unanswered_until_ = none; // the same of those without an answer
};

} // namespace holdfast::memory
