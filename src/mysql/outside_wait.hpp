// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/visit.hpp"

#include <holdfast/time.hpp>

namespace holdfast::mysql {

/// How a visiting thread waits for an answer: asleep, until somebody interrupts it. The connection
/// is not cut then, for others have user locks on it; it only waits in another way.
class outside_wait final : public runtime::interruptible {
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

} // namespace holdfast::mysql
