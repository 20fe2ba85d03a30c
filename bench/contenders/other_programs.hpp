// SPDX-License-Identifier: Apache-2.0
// Contenders in other processes: Redisson, Curator, and the locks of other libraries. Another
// instance of this program can also be such a process.
#pragma once

#include "bench/figures/samples.hpp"
#include "bench/server/server.hpp"
#include "support/child_process.hpp"

#include <cstddef>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Contender in its own process, which lives as long as this object. The process is bench/redisson
/// or another instance of this program (`be_a_neighbour`). It reads commands line by line.
class peer {
public:
    /// Starts the process. Throws if the process does not reply; the message then contains the
    /// errors that the process has written to `log`.
    peer(std::vector<std::string> command, std::filesystem::path log);

    const std::string& version() const { return version_; } ///< first line of its output

    /// Begins one turn (operations for a given time). Until `finish`, the caller may run
    /// operations, too. `more_words` contains further arguments of the turn, with a space in front
    /// of each.
    void begin(const std::string& kind, int at_once, nanoseconds length,
               const std::string& more_words = {});
    tally finish(); ///< waits for the end of the turn; throws the error that the process reports

    double cpu_seconds() const; ///< CPU time so far, including the time between turns

private:
    std::string answer();

    const std::filesystem::path log_;
    support::child_process process_;
    std::string version_;
};

/// Runs this program as another process that wants the same lock, sometimes or all the time. It has
/// its own client. It reads turns from stdin until stdin ends, and writes one line for each turn,
/// in the format of bench/redisson's Driver. `url` is the server of the lock.
void be_a_neighbour(const char* url);

/// Returns the path of a program of ./dev interop. The environment variable HOLDFAST_NEIGHBOURS,
/// which `./dev bench` sets, lists these programs as `<name>=<program>;…`. Throws `not_here`.
std::string program_of_neighbour(const std::string& name);

// Redisson in one or several JVMs (bench/redisson).

/// Exception: this machine lacks something that the contest needs.
struct not_here : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Starts the JVMs of a run. `./dev bench` sets the environment variable HOLDFAST_BENCH_REDISSON,
/// which has the form `<version>=<class path>`. A JVM is started at its first use, and lives as
/// long as this object.
class redisson {
public:
    explicit redisson(const server& home)
        : home_{home} {}

    /// Returns a JVM, and starts it at the first call. Most contests share JVM 0. Throws
    /// `not_here`, or the reason why the JVM did not start.
    peer& process(std::size_t number = 0);

    double cpu_seconds() const; ///< CPU time of all JVMs

    /// Returns for example "Redisson 4.7.0, Java 17.0.15". The result is empty if no JVM was
    /// started.
    const std::string& version() const { return version_; }

private:
    void start_one();

    const server& home_;
    std::deque<peer> processes_; // a deque does not move its elements
    std::string version_;
};

} // namespace holdfast::bench
