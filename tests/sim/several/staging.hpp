// SPDX-License-Identifier: Apache-2.0
// Plays one world of several servers, from its seed to its end or to the first broken invariant.
#pragma once

#include "sim/play.hpp"

#include <cstdint>
#include <iosfwd>

namespace holdfast::sim {

/// Subject of the seeds.
enum class repertoire {
    single,   ///< single locks on one server
    together, ///< several locks taken as one, on one or two servers
    quorum,   ///< one lock on three or five servers
    replicas, ///< like `single`, on a server with replicas
    sessions, ///< like `single`, with holds that last as long as a session
};

result play(repertoire, std::uint64_t seed, std::ostream& out, telling_of = telling_of::failures);

} // namespace holdfast::sim
