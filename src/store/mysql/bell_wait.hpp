// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast::mysql {

/// A wait in GET_LOCK, on its own connection. For each lock there is a user lock (the bell) that
/// its holder has. A release gives it back, and the server passes it to the next waiter as a
/// notification. The user lock is only a notification: if this connection is cut, refused or stuck,
/// the waiter asks the lock's row instead.
class bell_wait {
public:
    /// Returns whether the server has user locks and the time limit is long enough for a wait.
    static bool is_of_use(const site&);

    /// Begins to wait. The site and the alarm must outlive the object.
    bell_wait(site&, const lock_name&, alarm& wake);
    bell_wait(const bell_wait&) = delete;
    ~bell_wait(); ///< cuts the connection, unless the user lock was handed over

    /// Returns whether it still waits for the user lock; `wake` rings when that ends. False: the
    /// user lock was granted, or there is no connection to wait on. The caller then polls.
    bool is_waiting() const noexcept;

    /// Returns the connection that has the user lock now; the attempt must use it. Null: none has
    /// it.
    std::shared_ptr<carrier> rung_on() const noexcept;

    /// Leaves the user lock and its connection to the hold, which releases them later.
    void is_handed_over() noexcept;

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace holdfast::mysql
