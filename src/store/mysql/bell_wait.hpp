// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::mysql {

/// A wait in GET_LOCK, on its own connection. Each lock has a user lock (the `bell`), which the
/// lock's holder holds too. When the holder releases both, the server grants the user lock to the
/// next waiter, which is thereby notified. The user lock is only a notification. If this connection
/// is cut, refused or stuck, the waiter asks the lock's row instead.
class bell_wait {
public:
    /// Returns whether a wait is useful: the server has user locks, and the time limit is long
    /// enough.
    static bool is_of_use(const site&);

    /// Begins to wait. The site and the alarm must outlive the object.
    bell_wait(site&, const lock_name&, alarm& wake);
    bell_wait(const bell_wait&) = delete;
    ~bell_wait(); ///< cuts the connection, unless the user lock was handed over

    /// Returns whether the object still waits for the user lock. `wake` rings when the wait ends.
    /// False means that the user lock was granted, or that there is no connection for waiting. The
    /// caller polls in both cases.
    bool is_waiting() const noexcept;

    /// Returns the connection that holds the user lock now. The attempt must use this connection.
    /// Null: no connection holds the user lock.
    std::shared_ptr<carrier> rung_on() const noexcept;

    /// Leaves the user lock and its connection to the hold. The hold releases them later.
    void is_handed_over() noexcept;

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace holdfast::mysql
