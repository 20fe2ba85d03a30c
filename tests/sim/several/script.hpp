// SPDX-License-Identifier: Apache-2.0
// The world of several servers that one seed makes.
#pragma once

#include "sim/plan.hpp"
#include "sim/play.hpp"
#include "sim/several/realm.hpp"

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace holdfast::sim::several {

/// Frequency of each action of the programs, in percent, and durations.
struct manners {
    int single = 30; ///< takes one lock instead of several
    int any = 0;
    int fixed = 0;
    int impatient = 0;
    int timed = 0; ///< uses a timeout; percentage of the calls that wait
    int cancels = 0;
    int drops = 0;
    int outlasts = 0;
    int extends = 0;
    int asks = 0;
    int forces = 0;
    int re_enters = 0;
    duration pause{}, holds{}, timeout{}; ///< maximum durations of pauses, holds and timeouts
};

/// Faults, as the usual pause between two faults. Zero: the fault never happens.
struct trials {
    duration cuts{}, cut_lasts{};
    duration closes{};
    duration foreigners{};
    bool rude_foreigners = false;
    duration restarts{};
    duration evictions{};
    duration steps{};
    int slow_node = -1; ///< number of a server that always answers late; -1: none
    bool rates = false;
};

struct script {
    std::uint64_t seed;
    realm::customs ways;
    weather usual;
    manners people;
    trials fate;
    int servers = 1;
    int names = 2;
    int programs = 2;
    int actors = 2;
    std::vector<lock_kind> kinds{}; ///< kind of lock of each name
    duration safety_phase{};
};

script draw_script(std::uint64_t seed, bool is_quorum);
std::ostream& operator<<(std::ostream&, const script&);

} // namespace holdfast::sim::several
