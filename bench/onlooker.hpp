// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/accounts.hpp"
#include "bench/cpu.hpp"

namespace holdfast::bench {

/// Sees, from its making on, how much of the machine others use. Then client and server no longer
/// have a core each, and what takes more CPU loses, however well it would overlap.
class onlooker {
public:
    explicit onlooker(const accounts&);

    /// On standard error.
    void warn_if_crowded() const;

private:
    double ours() const;

    const accounts& books_;
    const machine_time machine_before_;
    const double ours_before_;
};

} // namespace holdfast::bench
