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

/// How often programs do each action, in percent, and how long it takes.
struct manners {
    int single = 30; ///< one lock instead of several
    int any = 0;
    int fixed = 0;
    int impatient = 0;
    int timed = 0; ///< in percent of the calls that wait
    int cancels = 0;
    int drops = 0;
    int outlasts = 0;
    int extends = 0;
    int asks = 0;
    int forces = 0;
    int re_enters = 0;
    duration pause{}, holds{}, patience{}; ///< maximum times
};

/// Faults. Zero means never; otherwise the usual pause between two faults.
struct trials {
    duration cuts{}, cut_lasts{};
    duration closes{};
    duration foreigners{};
    bool rude_foreigners = false;
    duration restarts{};
    duration evictions{};
    duration steps{};
    int slow_node = -1; ///< always answers late
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
    std::vector<lock_kind> kinds{}; ///< of each name
    duration safety_phase{};
};

script draw_script(std::uint64_t seed, bool is_quorum);
std::ostream& operator<<(std::ostream&, const script&);

} // namespace holdfast::sim::several
