// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/visit.hpp"

#include <holdfast/time.hpp>

namespace holdfast::runtime {

/// How a visiting thread waits for what arrives on a socket: asleep, until somebody interrupts it.
/// The connection is not cut then, for others use it too; the thread only waits in another way.
class outside_wait final : public interruptible {
public:
    outside_wait() = default;
    outside_wait(const outside_wait&) = delete;
    ~outside_wait();

    /// Before each wait, inside. False: the process has no file numbers left; do not wait here.
    bool prepare() noexcept;

    /// False: it was interrupted, or nothing came for so long.
    bool until_readable(int socket, duration longest) const noexcept;

    void interrupt() noexcept override;

private:
    int nudge_ = -1; // an eventfd, from the first wait on
    bool nudged_ = false;
};

} // namespace holdfast::runtime
