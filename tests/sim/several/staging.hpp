// SPDX-License-Identifier: Apache-2.0
// The life of one world of several servers, from its seed to its end or to the first broken
// invariant.
#pragma once

#include "sim/play.hpp"

#include <cstdint>
#include <iosfwd>

namespace holdfast::sim {

/// What the seeds are about.
enum class repertoire {
    single,   ///< one lock each, on one server
    together, ///< several taken as one, on one server or two
    quorum,   ///< one lock, on three servers or five
    replicas, ///< as single, and the server has replicas
    sessions, ///< as single, and holds last as long as a session
};

result play(repertoire, std::uint64_t seed, std::ostream& out, telling_of = telling_of::failures);

} // namespace holdfast::sim
