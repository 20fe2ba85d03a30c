// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace cli {

/// Returns a descriptor, with close-on-exec, that becomes readable when the process has exited. Is
/// negative where the kernel, or a container's seccomp profile, does not have the call: then ask
/// waitid() again and again.
inline int open_pidfd(pid_t id) noexcept {
    return static_cast<int>(::syscall(SYS_pidfd_open, id, 0U));
}

} // namespace cli
