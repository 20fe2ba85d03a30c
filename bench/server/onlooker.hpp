// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/cpu.hpp"

#include <functional>

namespace holdfast::bench {

/// Measures how much CPU time other programs have used since its construction. If they use much,
/// client and server do not have a core each. Then the side that needs more CPU time loses, even if
/// it overlaps its work with the server's work.
class onlooker {
public:
    /// Starts the measurement. `ours` returns the CPU time of the run so far, in seconds.
    explicit onlooker(std::function<double()> ours);

    /// Returns the CPU use of other programs so far, in percent of all cores.
    double others_share() const;

    /// Prints a warning on stderr if other programs use much CPU time.
    void warn_if_crowded() const;

private:
    const std::function<double()> ours_;
    const machine_time machine_before_;
    const double ours_before_;
};

} // namespace holdfast::bench
