// SPDX-License-Identifier: Apache-2.0
// Background process of `holdfast take --while PID`. The process renews the lock until the process
// PID ends.
#pragma once

#include "cli/descriptor.hpp"

#include <holdfast/ticket.hpp>
#include <holdfast/time.hpp>

#include <string>

namespace cli {

/// The hold that the background process renews.
struct keeping {
    std::string server; ///< URL of the server
    holdfast::ticket which;
    holdfast::duration lease;
};

/// Starts a background process that renews the hold until the process of the pidfd `whose` ends,
/// and then releases the lock. The new process has none of the caller's files and terminals. Call
/// it while this process has no client. Throws `std::system_error` if fork fails.
void start_keeper(const keeping&, const descriptor& whose);

} // namespace cli
