// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/figures/tally.hpp"
#include "support/child_process.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Contender in its own process, which is told line by line what to do: bench/redisson, or a second
/// instance of this program (neighbour.hpp). The process lives as long as this object.
class peer {
public:
    /// Starts the process. Throws if it does not answer; the message then has the errors that it
    /// wrote to `log`.
    peer(std::vector<std::string> command, std::filesystem::path log);

    const std::string& version() const { return version_; } ///< first line of its output

    /// Begins one turn. Until `finish`, the caller may take part itself. `more_words` are further
    /// arguments for this kind of turn, each after a space.
    void begin(const std::string& kind, int at_once, nanoseconds length,
               const std::string& more_words = {});
    tally finish(); ///< waits for the end of the turn; throws the error of the peer

    double cpu_seconds() const; ///< CPU time so far, including the time between turns

private:
    std::string answer();

    const std::filesystem::path log_;
    support::child_process process_;
    std::string version_;
};

} // namespace holdfast::bench
