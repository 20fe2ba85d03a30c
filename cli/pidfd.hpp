// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace cli {

/// Returns a descriptor, with close-on-exec, that becomes readable when the process has exited.
/// Returns a negative number if the kernel, or the seccomp profile of a container, does not have
/// the call. Then poll with waitid() instead.
inline int open_pidfd(pid_t id) noexcept {
    return static_cast<int>(::syscall(SYS_pidfd_open, id, 0U));
}

} // namespace cli
