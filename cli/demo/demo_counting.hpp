// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cli {

class demo_screen;
class inheritance;

struct counting {
    int workers = 4;
    int adds_each = 250;
    std::string lock; ///< name of the lock; empty if the workers use no lock
};

struct counted {
    long number = 0;          ///< number in the file at the end
    bool all_finished = true; ///< false if a worker failed; the worker has printed the reason
};

/// Starts worker processes that add to the same number in the same file. Shows their progress.
/// Returns when all workers have ended.
counted count_with_processes(demo_screen&, const counting&, const inheritance&);

} // namespace cli
