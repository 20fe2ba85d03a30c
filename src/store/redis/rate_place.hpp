// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/denials.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>

namespace holdfast::redis {

/// Waiter for permits of a rate limiter (`place` for one request). The server sends no
/// notifications about free permits; its reply says when to ask again.
class rate_place final : public place {
public:
    /// All arguments but `want` must outlive this object.
    rate_place(node& server, const store_context& context, denials&, counter_ask want);

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return attempts_.must_leave(); }
    bool uncertain() const noexcept override { return attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<remote::attempt> request(time_point deadline);

    node& server_;
    const store_context& context_;
    denials& denials_;
    const counter_ask want_;
    const ask in_time_; ///< copy of `want` with its deadline, for `attempts_`
    remote::attempts attempts_;
};

} // namespace holdfast::redis
