// SPDX-License-Identifier: Apache-2.0
// Runs one simulation with several servers, from its seed to its end or to the first broken
// invariant.
#pragma once

#include "sim/play.hpp"

#include <cstdint>
#include <iosfwd>

namespace holdfast::sim {

/// Kinds of simulations that a seed can be used for.
enum class repertoire {
    single,   ///< single locks on one server
    together, ///< several locks combined into one, on one or two servers
    quorum,   ///< one lock on three or five servers
    replicas, ///< single locks on a server with replicas
    sessions, ///< single locks that last as long as their client's session
};

result play(repertoire, std::uint64_t seed, std::ostream& out, telling_of = telling_of::failures);

} // namespace holdfast::sim
