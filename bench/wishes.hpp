// SPDX-License-Identifier: Apache-2.0
// Options of the command line.
#pragma once

#include "bench/server/server.hpp"

#include <string>
#include <string_view>

namespace holdfast::bench {

struct wishes {
    bool json = false;
    bool all = false;     ///< also run the contests that otherwise must be named
    std::string only;     ///< if not empty, run only this
    bool apart = false;   ///< the server gets a core of its own
    std::string record;   ///< file for all results; empty for none
    double seconds = 0.1; ///< length of one turn of one side
    int rounds = 40;      ///< even, so that each side goes first equally often
    transport way = transport::unix_socket;

    /// Returns whether to run this contest. `blocking` selects `blocking.1`, `blocking.8` and so
    /// on.
    bool wants(std::string_view name, bool only_when_named = false) const {
        if (only.empty() || name.starts_with(only + "."))
            return all || !only_when_named;
        return name == only;
    }
};

/// Parses the command line. Prints the help and ends the program if asked to. Throws if an argument
/// is wrong.
wishes read_wishes(int argc, char** argv);

} // namespace holdfast::bench
