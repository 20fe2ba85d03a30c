// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/denials.hpp"
#include "store/redis/request_slots.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>

#include <memory>

namespace holdfast::redis {

/// One request that waits for a counter: whether it listens, where it is remembered, and how its
/// attempts went. At a latch it takes nothing, and so leaves nothing.
class counter_place final : public place {
public:
    /// All but `want` must outlive it.
    counter_place(node& server, const store_context& context, denials&, request_slots&,
                  counter_ask want, alarm& wake);
    ~counter_place() override;

    /// As of a lock: the first look is one script, and the second one listens first.
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
    const ask in_time_; ///< by when it wants it
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<hearing> ear_;
    bool listening_ = false;
};

} // namespace holdfast::redis
