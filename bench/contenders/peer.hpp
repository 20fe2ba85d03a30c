// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/figures/tally.hpp"
#include "support/child_process.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::bench {

/// A contender in a process of its own, told line by line what to do: bench/redisson, or this
/// program once more (neighbour.hpp). The process lives as long as this object.
class peer {
public:
    /// Throws if it does not answer, with what it wrote into `log` as errors.
    peer(std::vector<std::string> command, std::filesystem::path log);

    const std::string& version() const { return version_; } ///< its first words

    /// One turn. In between, whoever told it may take part itself.
    /// `more_words`, each behind a space: what that kind wants to know besides.
    void begin(const std::string& kind, int at_once, nanoseconds length,
               const std::string& more_words = {});
    tally finish(); ///< throws what went wrong over there

    double cpu_seconds() const; ///< so far, with all it does beside the turns

private:
    std::string answer();

    const std::filesystem::path log_;
    support::child_process process_;
    std::string version_;
};

} // namespace holdfast::bench
