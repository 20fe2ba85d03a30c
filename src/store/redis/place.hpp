// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/denials.hpp"
#include "store/redis/fair_patience.hpp"
#include "store/redis/heartbeat.hpp"
#include "store/remote/attempts.hpp"
#include "store/remote/lately_busy.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::redis {

/// Waiter for one lock of any kind (`place` for one owner). It owns the subscription and the state
/// of the attempts.
class lock_place final : public place {
public:
    /// All arguments but `want` must outlive this object.
    lock_place(node& server, const store_context& context, denials& denied, fair_patience& patience,
               remote::lately_busy& busy, heartbeat* heart, ask want, alarm& wake);

    /// Asks for the lock. The first call sends a single script, because most locks are free. The
    /// second call subscribes first. For a fair lock that was busy lately, the first call
    /// subscribes too.
    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return attempts_.must_leave(); }
    bool uncertain() const noexcept override { return attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<attempt> request(time_point deadline);
    void note_place(const attempt&);
    void note_whether_busy(const attempt&);
    asio::awaitable<void> listen(duration patience);

    node& server_;
    const store_context& context_;
    denials& denials_;
    fair_patience& patience_;
    remote::lately_busy& busy_;
    heartbeat* const heart_;
    ask want_;
    const verbs& how_;
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<hearing> ear_;
    duration round_trip_{}; ///< round trip of the last request
    bool listening_ = false;
    bool was_busy_ = false;
    time_point place_lasts_until_{};
    bool loss_told_ = false;
};

} // namespace holdfast::redis
