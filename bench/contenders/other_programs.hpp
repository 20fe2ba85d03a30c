// SPDX-License-Identifier: Apache-2.0
// Programs in other processes with which holdfast is compared: Redisson, Curator and other
// libraries. A second process of this benchmark is started in the same way.
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

/// Process that runs measurements for this benchmark: bench/redisson, or this program itself
/// (`be_a_neighbour`). It reads one command per line, and lives as long as this object.
class peer {
public:
    /// Starts the process. Throws if the process does not reply; the message then contains the
    /// errors that the process has written to `log`.
    peer(std::vector<std::string> command, std::filesystem::path log);

    const std::string& version() const { return version_; } ///< first line of its output

    /// Begins one measurement of the time `length`. Until `finish`, the caller may run operations,
    /// too. `more_words` has further arguments, each with a space before it.
    void begin(const std::string& kind, int at_once, nanoseconds length,
               const std::string& more_words = {});
    tally finish(); ///< waits for the result; throws the error that the process reports

    double cpu_seconds() const; ///< CPU time since the start of the process

private:
    std::string answer();

    const std::filesystem::path log_;
    support::child_process process_;
    std::string version_;
};

/// Runs this program as a second process that wants the same lock, with its own client. Reads
/// commands from stdin until stdin ends, and writes one line with results for each command, in the
/// format of bench/redisson's Driver. `url` is the server of the lock.
void be_a_neighbour(const char* url);

/// Returns the path of a program of tests/interop. `./dev bench` lists these programs in the
/// environment variable HOLDFAST_NEIGHBOURS as `<name>=<program>;…`. Throws `not_here` if the
/// program is not in the list.
std::string program_of_neighbour(const std::string& name);

// Redisson in one or several JVMs (bench/redisson).

/// Exception: this machine lacks something that the contest needs.
struct not_here : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// JVMs with Redisson. Each JVM is started at its first use, and lives as long as this object.
/// `./dev bench` sets the environment variable HOLDFAST_BENCH_REDISSON to `<version>=<class path>`.
class redisson {
public:
    explicit redisson(const server& home)
        : home_{home} {}

    /// Returns a JVM, and starts it at the first call. Most measurements use JVM 0. Throws
    /// `not_here` if Redisson is missing, or the reason why the JVM did not start.
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
