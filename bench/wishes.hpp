// SPDX-License-Identifier: Apache-2.0
// Command-line options of the benchmark.
#pragma once

#include "bench/server/server.hpp"

#include <string>
#include <string_view>

namespace holdfast::bench {

struct wishes {
    bool json = false;
    bool all = false;     ///< also run the contests that otherwise run only by name
    std::string only;     ///< if not empty, the only contest to run
    bool apart = false;   ///< the server gets a core for itself
    std::string record;   ///< file for all results; empty: no file
    double seconds = 0.1; ///< length of one turn of one side
    int rounds = 40;      ///< even, so that each side goes first in half of the rounds
    transport way = transport::unix_socket;

    /// Returns whether to run this contest. If the user gave `blocking`, `blocking.1` and
    /// `blocking.8` run too.
    bool wants(std::string_view name, bool only_when_named = false) const {
        if (only.empty() || name.starts_with(only + "."))
            return all || !only_when_named;
        return name == only;
    }
};

/// Parses the command line. If the user asks for help, prints it and ends the program. Throws if an
/// argument is wrong.
wishes read_wishes(int argc, char** argv);

} // namespace holdfast::bench
