// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace cli {

/// Returns a descriptor that becomes readable when the process has exited. The descriptor has
/// close-on-exec set. Returns a negative number if the system call is missing, or forbidden by the
/// seccomp profile of a container. Then poll with waitid() instead.
inline int open_pidfd(pid_t id) noexcept {
    return static_cast<int>(::syscall(SYS_pidfd_open, id, 0U));
}

} // namespace cli
