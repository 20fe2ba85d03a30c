// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/denials.hpp"
#include "store/redis/request_slots.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>

#include <memory>

namespace holdfast::redis {

/// Waiter for a semaphore or a latch (`place` for one request). It owns the subscription, the slot
/// in which the server remembers the request, and the state of the attempts. A request to a latch
/// takes nothing, so there is nothing to undo.
class counter_place final : public place {
public:
    /// All arguments but `want` must outlive this object.
    counter_place(node& server, const store_context& context, denials&, request_slots&,
                  counter_ask want, alarm& wake);
    ~counter_place() override;

    /// Sends the request. The first call sends one script. The second call subscribes first, and so
    /// do later calls until the subscription is confirmed.
    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return takes() && attempts_.must_leave(); }
    bool uncertain() const noexcept override { return takes() && attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    bool takes() const noexcept { return want_.kind != counter_kind::latch; }
    asio::awaitable<remote::attempt> request(time_point deadline);
    asio::awaitable<void> listen();

    node& server_;
    const store_context& context_;
    denials& denials_;
    request_slots& slots_;
    const counter_ask want_;
    const ask in_time_; ///< copy of `want` with its deadline, for `attempts_`
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<hearing> ear_;
    bool listening_ = false;
};

} // namespace holdfast::redis
