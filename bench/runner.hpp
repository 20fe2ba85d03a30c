// SPDX-License-Identifier: Apache-2.0
// Runs the measurements: one measurement (turn) of one program, a comparison of two programs, and
// all comparisons of a run.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/contenders/other_programs.hpp"
#include "bench/contests.hpp"
#include "bench/figures/figures.hpp"
#include "bench/server/cpu_time.hpp"
#include "bench/server/server.hpp"
#include "bench/user_interface.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Runs a program for the time `length`, and adds its samples to `samples`. Throws if the program
/// fails, or if its counts contradict the server's statistics.
turn take_turn(contender&, ledger&, nanoseconds length, std::vector<nanoseconds>& samples);

// Two programs run alternately on one server, in many short rounds, and the result is the median of
// the rounds' ratios. A busy machine slows down two consecutive measurements in the same way, so
// their ratio is reliable. Values that were measured minutes apart have no reliable ratio. The
// first program of a round is the second in the next.

struct course {
    nanoseconds turn_length;
    int rounds;
    std::function<void(int round)> progress; ///< called before each round; round 0 is the warm-up
};

/// Compares the two programs in a number of rounds. Throws if a program fails, or if its counts
/// contradict the server's statistics.
outcome duel(contender& ours, contender& yardstick, ledger&, const course&);

/// Returns a contender in which many threads of this process want one lock all the time, and the
/// process `rival` wants it from time to time. The contender counts the hand-overs between the
/// threads. Its samples are the waits of `rival`.
made crowd_and_rival(const arena&, peer& rival);

/// Compares values of `options::hand_off::within`, the time for local hand-overs: how many
/// hand-overs the threads of one process make, and how long another process waits for the lock.
/// Each round measures each value once.
std::vector<figure> compare_budgets(const rivalry&, arena, accounts&, const course&);

/// Runs measurements, and writes their figures to the record. Skips a measurement, and records
/// this, if the machine lacks something that it needs.
class meeting {
public:
    meeting(const wishes&, const server& home);

    void hold(const contest&);
    void hold(const rivalry&);
    void hold(const failover&); ///< compares with Redisson, if Redisson is installed
    void hold(const vigil&);
    void hold(const shared_vigil&);
    void hold(const standstill&);

    void close();

private:
    void hold(const std::string& name, const char* first, const std::function<void()>& all_of_it);
    void keep(const std::vector<figure>&);
    void skip(const std::string& name, const not_here& missing);

    arena arena_for(std::optional<transport>, const std::string& query, int at_once);
    course course_of(const std::string& name, int slowness) const;

    const wishes& how_;
    const server& home_;
    accounts books_;
    more_servers more_;
    server_groups groups_;
    redisson java_;
    const onlooker watching_;
    record record_;
};

} // namespace holdfast::bench
