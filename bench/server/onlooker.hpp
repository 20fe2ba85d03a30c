// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/cpu.hpp"

#include <functional>

namespace holdfast::bench {

/// Measures, from its construction on, how much of the machine other programs use. If they use
/// much, client and server no longer have a core each. Then the side that needs more CPU loses,
/// even if its work overlaps well.
class onlooker {
public:
    /// `ours` returns the CPU time of the run so far, in seconds.
    explicit onlooker(std::function<double()> ours);

    /// Returns the share of other programs so far, in percent of all cores.
    double others_share() const;

    /// Warns on standard error.
    void warn_if_crowded() const;

private:
    const std::function<double()> ours_;
    const machine_time machine_before_;
    const double ours_before_;
};

} // namespace holdfast::bench
