// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/bell_wait.hpp"
#include "store/mysql/bells.hpp"
#include "store/mysql/kinds.hpp"
#include "store/mysql/poller.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::mysql {

/// One waiter for a lock of any kind. It makes the attempts. It wakes the caller when the next
/// attempt may succeed.
class lock_place final : public place {
public:
    /// All arguments but `want` must outlive the object.
    lock_place(site&, bells&, poller&, remote::lately_busy&, ask want, alarm& wake);

    /// Makes one attempt. The first attempt is a single statement, because most locks are free. The
    /// second attempt begins by waiting for the user lock or by polling.
    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override { return attempts_.must_leave(); }
    bool uncertain() const noexcept override { return attempts_.uncertain(); }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<attempt> request(time_point deadline);
    void listen();

    site& at_;
    bells& bells_;
    poller& poller_;
    remote::lately_busy& busy_;
    ask want_;
    const verbs& how_;
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<bell_wait> bell_;
    std::unique_ptr<watch> poll_;
    pace pace_ = pace::often; ///< how often `poll_` polls
    duration round_trip_{};   ///< duration of the last attempt's round trip
};

} // namespace holdfast::mysql
