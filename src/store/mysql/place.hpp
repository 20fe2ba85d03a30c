// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/bell_wait.hpp"
#include "store/mysql/bells.hpp"
#include "store/mysql/kinds.hpp"
#include "store/mysql/poller.hpp"
#include "store/remote/attempts.hpp"
#include "store/remote/lately_busy.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::mysql {

/// One owner waiting for one lock of any kind: how its attempts went, and how it is woken.
class lock_place final : public place {
public:
    /// All but `want` must outlive it.
    lock_place(site&, bells&, poller&, remote::lately_busy&, ask want, alarm& wake);

    /// The first look is one statement, for most locks are free. The second one first begins to
    /// wait for the bell, or to poll.
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
    pace pace_ = pace::often; ///< of that
    duration round_trip_{};   ///< of the last look
};

} // namespace holdfast::mysql
