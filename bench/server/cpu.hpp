// SPDX-License-Identifier: Apache-2.0
// Who used the processors.
#pragma once

#include <sys/types.h>

namespace holdfast::bench {

/// This process with all its threads, and the kernel's work for it.
double own_cpu_seconds();

/// The same for another process that lives; 0 if it does not.
double cpu_seconds_of(pid_t);

/// The same for the thread that calls this.
double thread_cpu_seconds();

/// How long that thread could have run and others had all cores. 0 where the kernel does not count
/// it.
double thread_seconds_without_core();

/// The same for all that this process has started, if they have ended.
double ended_children_cpu_seconds();

/// All cores since the machine was started.
struct machine_time {
    double busy, all;
};
machine_time machine_cpu_seconds();

/// From now on this thread, and whatever it starts, runs there only. Throws where there is one
/// core.
enum class cores { the_last, all_others };
void run_on(cores);

} // namespace holdfast::bench
