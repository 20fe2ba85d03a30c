// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cli {

class demo_screen;
class inheritance;

struct counting {
    int workers = 4;
    int adds_each = 250;
    std::string lock; ///< empty: without one
};

struct counted {
    long number = 0;          ///< what the file says at the end
    bool all_finished = true; ///< false: a worker failed, and has said why
};

/// Lets worker processes add to one number in one file, and shows how they get on.
counted count_with_processes(demo_screen&, const counting&, const inheritance&);

} // namespace cli
