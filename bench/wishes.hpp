// SPDX-License-Identifier: Apache-2.0
// What the command line asks for.
#pragma once

#include "bench/server/server.hpp"

#include <string>
#include <string_view>

namespace holdfast::bench {

struct wishes {
    bool json = false;
    bool all = false;     ///< the contests too that otherwise must be named
    std::string only;     ///< empty: no more than that
    bool apart = false;   ///< the server has a core that nobody else uses
    std::string record;   ///< a file for all that was seen; empty: none
    double seconds = 0.1; ///< of one turn of one side
    int rounds = 40;      ///< even, so that each side goes first as often as the other
    transport way = transport::unix_socket;

    /// `blocking` names all of `blocking.1`, `blocking.8` and so on.
    bool wants(std::string_view name, bool only_when_named = false) const {
        if (only.empty() || name.starts_with(only + "."))
            return all || !only_when_named;
        return name == only;
    }
};

/// Prints its help, and ends the program, where that is asked for; throws what it does not
/// understand.
wishes read_wishes(int argc, char** argv);

} // namespace holdfast::bench
