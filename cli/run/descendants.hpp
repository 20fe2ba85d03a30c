// SPDX-License-Identifier: Apache-2.0
// What the command starts: a process that makes itself a daemon leaves its group, not its lock.
#pragma once

#include <sys/types.h>

namespace cli {

/// From now on whatever loses its parent, of all that comes from us, becomes our child.
void adopt_descendants() noexcept;

/// Asked after a SIGCHLD: lets go of the adopted ones that have ended. `command` is not one.
void bury_adopted(pid_t command) noexcept;

/// Kills all of them, and returns when they are gone or, if they cannot be killed, a second later.
/// Call when the command has been waited for.
void kill_descendants();

} // namespace cli
