// SPDX-License-Identifier: Apache-2.0
// What the command line asks for.
#pragma once

#include "bench/server.hpp"

#include <string>
#include <string_view>

namespace holdfast::bench {

struct wishes {
    bool json = false;
    std::string only;     ///< empty: all
    double seconds = 0.1; ///< of one turn of one side
    int rounds = 40;      ///< even, so that each side goes first as often as the other
    transport way = transport::unix_socket;

    /// `blocking` names all of `blocking.1`, `blocking.8`, `blocking.64`.
    bool wants(std::string_view name) const {
        return only.empty() || name == only || name.starts_with(only + ".");
    }
};

/// Prints its help, and ends the program, where that is asked for; throws what it does not
/// understand.
wishes read_wishes(int argc, char** argv);

} // namespace holdfast::bench
