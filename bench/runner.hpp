// SPDX-License-Identifier: Apache-2.0
// Runs the measurements: one turn of a contender, a contest of two contenders, a rivalry of two
// processes, and all contests of a run.
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

/// Runs a contender for the time `length` (one turn), and adds its samples to `samples`. Throws if
/// the contender fails, or if its counts contradict the server's statistics.
turn take_turn(contender&, ledger&, nanoseconds length, std::vector<nanoseconds>& samples);

// Runs two contenders alternately on one server. In each round, the other side goes first. A noisy
// machine disturbs two consecutive turns in the same way. So the median of the ratios of many short
// rounds is reliable, while the ratio of two figures that were measured minutes apart is not.

struct course {
    nanoseconds turn_length;
    int rounds;
    std::function<void(int round)> progress; ///< called before each round; round 0 is the warm-up
};

/// Compares the two contenders in a number of rounds. Throws if a contender fails, or if a
/// contender's counts contradict the server's statistics.
outcome duel(contender& ours, contender& yardstick, ledger&, const course&);

/// Returns a contender with many threads of this process that want one lock all the time. `rival`
/// is another process that wants the same lock from time to time. The contender counts the
/// hand-overs between its threads. Its samples are the waiting times of `rival`.
made crowd_and_rival(const arena&, peer& rival);

/// Runs each value of `options::hand_off::within` once in each round. Measures how much faster the
/// threads of one process are with hand-over than without, and how long another process waits.
std::vector<figure> compare_budgets(const rivalry&, arena, accounts&, const course&);

/// Runs all contests, and has the state that they share. Writes the figures to the record. If the
/// machine lacks something that a contest needs, skips the contest and records that. Throws the
/// errors of the contests.
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
