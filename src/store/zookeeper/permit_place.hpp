// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/claim.hpp"
#include "store/zookeeper/place.hpp"
#include "store/zookeeper/semaphore_paths.hpp"

#include <holdfast/store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::zookeeper {

/// Waiter for permits of a leased semaphore. It queues for the semaphore's mutex. Then it keeps the
/// mutex until enough permits are free. Therefore it gets all wanted permits or none.
class permit_place final : public place {
public:
    /// `wake` must outlive the object.
    permit_place(std::shared_ptr<household>, ask, alarm& wake);
    ~permit_place() override;

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override;

    bool must_leave() const noexcept override;
    bool uncertain() const noexcept override;
    time_point settled_at() const noexcept override { return time_point::min(); }

private:
    asio::awaitable<std::optional<std::int64_t>> capacity();
    asio::awaitable<bool> is_busy(std::int64_t capacity);
    asio::awaitable<bool> is_my_turn();
    asio::awaitable<bool> has_seats(std::int64_t capacity);
    asio::awaitable<answer> granted(time_point began);
    asio::awaitable<answer> busy();

    const std::shared_ptr<household> home_;
    const std::shared_ptr<void> session_lives_ = home_->in_use();
    const ask want_;
    alarm& wake_;
    const semaphore_paths at_;
    claim turn_;
    std::vector<std::unique_ptr<claim>> seats_;
    sentry before_;
    std::unique_ptr<watch> others_leases_;
    bool granted_ = false;
    bool leaving_ = false;
};

} // namespace holdfast::zookeeper
