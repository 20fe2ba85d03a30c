// SPDX-License-Identifier: Apache-2.0
// The acquisition loop sends requests to the store until the store grants the lock or the call is
// over. It sends them through a waiter at the store (`place`), which `line_up` creates. Some calls
// take no lock, and only wait until a lock is free (`seen_free`).
#pragma once

#include "sync/acquisition.hpp"
#include "sync/held_lock.hpp"
#include "sync/lock_descriptor.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace holdfast::sync {

/// Asks the store for the lock until the store grants it or the call is over. Returns nothing if
/// the timeout has passed (`give_up_busy`), or if the call was completed in another way. Throws the
/// store's errors. If this function returns nothing or throws, it releases in the background
/// whatever the store may have granted.
asio::awaitable<std::optional<grant>> acquire(std::shared_ptr<acquisition>);

/// Maximum number of consecutive grants that arrive after their own lease has expired. After this
/// number, the call fails. A "busy" reply that arrives in time sets the count back to zero.
inline constexpr int late_grants_max = 3;

/// Maximum number of fencing tokens that one grant reserves. Reserved tokens that are not used are
/// never given to a later grant.
inline constexpr std::uint32_t tokens_reserved_max = 1000;

/// Creates the waiter (`place`) of this call, through which the acquisition loop sends its
/// requests. A grant belongs to `owner`. The kind of the lock or counter decides the type of the
/// waiter.
std::unique_ptr<place> line_up(acquisition&, owner_id owner);

/// Longest time between two checks if the holder's program sends no notification when it releases
/// the lock.
inline constexpr duration untold_poll_bound{250};

/// Waiter (`place`) that does not acquire the lock. The waiter reports "granted" when it finds the
/// lock free.
class seen_free final : public place {
public:
    /// Creates the waiter. `home` and `wake` must outlive it.
    seen_free(engine& home, lock_name name, alarm& wake)
        : home_{home}
        , name_{std::move(name)}
        , wake_{wake} {}

    asio::awaitable<answer> look() override;
    asio::awaitable<void> leave() override { co_return; }

    bool must_leave() const noexcept override { return false; }
    bool uncertain() const noexcept override { return false; }
    time_point settled_at() const noexcept override { return time_point::min(); }

private:
    engine& home_;
    const lock_name name_;
    alarm& wake_;
    std::unique_ptr<watch> subscriber_;
    bool found_busy_ = false;
};

/// Waits until no client holds the lock. The function runs the acquisition loop, but does not enter
/// the gate (local wait queue), because it acquires nothing. Returns false if the lock was not free
/// within `timeout`. If `timeout` is zero or less, asks the store once. Throws the errors of an
/// acquisition. Call this function on the executor only.
asio::awaitable<bool> wait_until_free(std::shared_ptr<const lock_descriptor>, duration timeout);

/// Waits until the lock is free, for a call that acquires nothing and can be cancelled. The call
/// completes without a hold, both when the lock is free and when the timeout has passed.
asio::awaitable<void> look_out(std::shared_ptr<acquisition>);

} // namespace holdfast::sync
