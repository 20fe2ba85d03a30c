// SPDX-License-Identifier: Apache-2.0
// Plan of a simulation with several servers, drawn from its seed, and the faults of the plan.
#pragma once

#include "sim/plan.hpp"
#include "sim/play.hpp"
#include "sim/several/realm.hpp"

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace holdfast::sim::several {

// Plan of a simulation with several servers, drawn from its seed.

/// Frequency of each action of the simulated programs, in percent, and lengths of time.
struct manners {
    int single = 30; ///< takes one lock instead of several
    int any = 0;
    int fixed = 0;
    int impatient = 0;
    int timed = 0; ///< uses a timeout; in percent of the calls that wait
    int cancels = 0;
    int drops = 0;
    int outlasts = 0;
    int extends = 0;
    int asks = 0;
    int forces = 0;
    int re_enters = 0;
    duration pause{}, holds{}, timeout{}; ///< maximum lengths
};

/// Usual pause between two faults of each kind. Zero: this fault never happens.
struct trials {
    duration cuts{}, cut_lasts{};
    duration closes{};
    duration foreigners{};
    bool rude_foreigners = false;
    duration restarts{};
    duration evictions{};
    duration steps{};
    int slow_node = -1; ///< number of a server that always answers late, or -1
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

/// Random faults of the servers, connections and programs in a simulation with several servers.
class trouble {
public:
    trouble(realm&, const script&, time_point end);

    void begin(); ///< starts the faults of the plan, which happen until `end`
    void heal();  ///< ends all faults

private:
    asio::awaitable<void> cut(terminal&, dice);
    asio::awaitable<void> replace(int program, dice);
    asio::awaitable<void> occupy(dice);
    asio::awaitable<void> restart(dice);
    asio::awaitable<void> evict(dice);
    asio::awaitable<void> step(dice);
    asio::awaitable<void> pause(dice&, duration usual);
    bool over() const { return realm_.clock.now() >= end_; }
    int any_server(dice& d) const { return d.between(0, realm_.servers() - 1); }
    spot any_spot(dice& d) const { return {any_server(d), d.between(0, realm_.names() - 1)}; }

    realm& realm_;
    const script& plan_;
    const time_point end_;
};

} // namespace holdfast::sim::several
