// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/figures/tally.hpp"
#include "support/child_process.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Contender in its own process. The process is bench/redisson or a second instance of this program
/// (neighbour.hpp). It reads commands line by line. It lives as long as this object.
class peer {
public:
    /// Starts the process. Throws if the process does not reply. The exception's message contains
    /// the errors that the process wrote to `log`.
    peer(std::vector<std::string> command, std::filesystem::path log);

    const std::string& version() const { return version_; } ///< first line of its output

    /// Begins one turn. Until `finish`, the caller may run operations too. `more_words` has further
    /// arguments of the turn, each after a space.
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

} // namespace holdfast::bench
