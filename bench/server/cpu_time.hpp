// SPDX-License-Identifier: Apache-2.0
// Measures CPU time of this process, of other processes and of the machine, and binds threads to
// cores.
#pragma once

#include <functional>

#include <sys/types.h>

namespace holdfast::bench {

/// Returns the CPU time of this process with all its threads, including the kernel's work for it.
double own_cpu_seconds();

/// Returns the CPU time of another process; 0 if it has ended.
double cpu_seconds_of(pid_t);

/// Returns the CPU time of the calling thread.
double thread_cpu_seconds();

/// Returns how long the calling thread was ready to run but waited for a core. Returns 0 if the
/// kernel does not measure this time.
double thread_seconds_without_core();

/// Returns the CPU time of all ended child processes.
double ended_children_cpu_seconds();

/// CPU time of all cores since the machine was started.
struct machine_time {
    double busy, all;
};
machine_time machine_cpu_seconds();

/// Binds the calling thread to the given cores. Threads and processes that it starts later are
/// bound to these cores, too. Throws if the machine has only one core.
enum class cores { the_last, all_others };
void run_on(cores);

/// Measures the CPU time of other programs since its construction. If other programs use much CPU
/// time, client and server do not have a core each, and a program that needs more CPU time looks
/// slower than it is.
class onlooker {
public:
    /// Starts the measurement. `ours` returns the CPU time of the run so far, in seconds.
    explicit onlooker(std::function<double()> ours);

    /// Returns the CPU use of other programs so far, in percent of all cores.
    double others_share() const;

    /// Prints a warning on stderr if other programs use much CPU time.
    void warn_if_crowded() const;

private:
    const std::function<double()> ours_;
    const machine_time machine_before_;
    const double ours_before_;
};

} // namespace holdfast::bench
