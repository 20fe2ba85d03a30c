// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/poller.hpp"
#include "store/mysql/site.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>

#include <memory>

namespace holdfast::mysql {

/// Waiter for a latch to open. A latch has no holds, so there is nothing to release.
class latch_place final : public place {
public:
    /// All arguments but `want` must outlive the object.
    latch_place(site&, poller&, const counter_ask& want, alarm& wake);

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;
    bool must_leave() const noexcept override { return false; }
    bool uncertain() const noexcept override { return false; }
    time_point settled_at() const noexcept override { return attempts_.settled_at(); }

private:
    asio::awaitable<attempt> request();

    site& at_;
    poller& poller_;
    const ask want_;
    alarm& wake_;
    remote::attempts attempts_;
    std::unique_ptr<watch> poll_;
};

} // namespace holdfast::mysql
