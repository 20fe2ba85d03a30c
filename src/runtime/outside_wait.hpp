// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/visit.hpp"

#include <holdfast/time.hpp>

namespace holdfast::runtime {

/// Lets a visiting thread sleep until data arrives on a socket or another thread interrupts the
/// wait. An interruption does not close the connection, because other threads use the connection,
/// too. The thread then waits in another way.
class outside_wait final : public interruptible {
public:
    outside_wait() = default;
    outside_wait(const outside_wait&) = delete;
    ~outside_wait();

    /// Prepares a wait. Call it inside the monitor before each wait. Returns false if the process
    /// has no file descriptors left; the thread must then wait in another way.
    bool prepare() noexcept;

    /// Waits until the socket is readable. Returns false if the wait was interrupted, or if
    /// `longest` has passed.
    bool until_readable(int socket, duration longest) const noexcept;

    void interrupt() noexcept override;

private:
    int nudge_ = -1; // eventfd that interrupts the wait; it is created for the first wait
    bool nudged_ = false;
};

} // namespace holdfast::runtime
