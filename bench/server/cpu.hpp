// SPDX-License-Identifier: Apache-2.0
// Measures CPU time.
#pragma once

#include <sys/types.h>

namespace holdfast::bench {

/// Returns the CPU time of this process with all its threads, including the kernel's work for it.
double own_cpu_seconds();

/// Returns the CPU time of another process; 0 if it has ended.
double cpu_seconds_of(pid_t);

/// Returns the CPU time of the calling thread.
double thread_cpu_seconds();

/// Returns how long the calling thread was ready to run but waited for a core. Returns 0 if the
/// kernel does not measure it.
double thread_seconds_without_core();

/// Returns the CPU time of all ended child processes.
double ended_children_cpu_seconds();

/// CPU time of all cores since the machine was started.
struct machine_time {
    double busy, all;
};
machine_time machine_cpu_seconds();

/// Binds the calling thread, and all threads and processes that it starts later, to these cores.
/// Throws if the machine has only one core.
enum class cores { the_last, all_others };
void run_on(cores);

} // namespace holdfast::bench
