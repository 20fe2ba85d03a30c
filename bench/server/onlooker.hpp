// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/cpu.hpp"

#include <functional>

namespace holdfast::bench {

/// Sees, from its making on, how much of the machine others use. Then client and server no longer
/// have a core each, and what takes more CPU loses, however well it would overlap.
class onlooker {
public:
    /// `ours`: what the run itself has used so far, in seconds.
    explicit onlooker(std::function<double()> ours);

    /// Of all cores, in percent, so far.
    double others_share() const;

    /// On standard error.
    void warn_if_crowded() const;

private:
    const std::function<double()> ours_;
    const machine_time machine_before_;
    const double ours_before_;
};

} // namespace holdfast::bench
