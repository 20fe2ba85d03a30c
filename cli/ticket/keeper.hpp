// SPDX-License-Identifier: Apache-2.0
// Background process of `holdfast take --while PID`. It renews a detached hold until another
// process ends.
#pragma once

#include "cli/descriptor.hpp"

#include <holdfast/ticket.hpp>
#include <holdfast/time.hpp>

#include <string>

namespace cli {

/// Work of the background process: which hold it renews, and for how long.
struct keeping {
    std::string server; ///< URL of the server
    holdfast::ticket which;
    holdfast::duration lease;
};

/// Starts a process that renews the hold until the process of the pidfd `whose` ends. Then it
/// releases the lock. The new process keeps none of the caller's files and terminals. Call it while
/// this process has no client. Throws `std::system_error` if no process can be created.
void start_keeper(const keeping&, const descriptor& whose);

} // namespace cli
