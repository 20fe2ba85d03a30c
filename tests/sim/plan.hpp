// SPDX-License-Identifier: Apache-2.0
// The world of one seed: its programs, their actions, and the faults. Some worlds have one subject.
#pragma once

#include "sim/dice.hpp"
#include "sim/network.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace holdfast::sim {

/// Frequency of each action of the programs, in percent, and durations.
struct habits {
    int recursive = 0;   ///< uses a recursive_mutex
    int own_lease = 20;  ///< gives the lock object its own lease time
    int fixed = 0;       ///< asks for a lease that is not renewed
    int impatient = 0;   ///< makes only one attempt
    int timed = 0;       ///< uses a timeout; percentage of the calls that may wait
    int cancels = 0;     ///< cancels an operation
    int drops = 0;       ///< destroys the lease instead of releasing it
    int outlasts = 0;    ///< holds the lock for several lease times
    int extends = 0;     ///< extends the lease; for each stage of a hold
    int asks = 0;        ///< asks whether the lock is held and for how long; for each stage
    int re_enters = 0;   ///< re-enters the lock; for each stage
    int forces = 0;      ///< ends another caller's hold by force instead of taking the lock
    int reacts = 0;      ///< in callbacks: releases when in danger, asks again when lost
    int throws_away = 0; ///< destroys the lock object while it waits
    int blunders = 0;    ///< uses a handler that throws
    /// re-enters a fixed lease in the way of a blocking lock(); the lease is then renewed
    int renews = 0;
    int reads = 50;     ///< takes the read lock, if there is one
    int upgrades = 0;   ///< takes the write lock in addition to a read hold; for each stage
    int downgrades = 0; ///< continues as a reader; for each stage
    int amount = 3;     ///< maximum number of permits, and maximum count of a latch
    int drains = 0;     ///< takes all permits
    int adds = 0;       ///< adds or removes permits
    int sets = 0;       ///< creates a counter, which may already exist
    duration pause{};   ///< maximum pause between two actions
    duration holds{};   ///< maximum duration of a hold
    duration timeout{};
};

/// Faults of the server and of the programs, as the usual pause between two faults. Zero: the fault
/// never happens.
struct mishaps {
    duration cuts{};
    duration cut_lasts{}; ///< maximum duration of a cut
    duration closes{};    ///< a program ends, and another program starts
    duration foreigners{};
    bool rude_foreigners = false; ///< foreign clients take the lock away from its holder
    duration silences{};          ///< a connection dies silently
    duration silence_lasts{};
    /// access to a name is denied for a while; other names stay allowed
    duration missing_permissions{};
    duration strangers{};          ///< a JVM asks for a fair lock
    duration server{};             ///< a fault of the server, from the list below
    duration failovers{};          ///< failovers; they and the next fault need replicas
    duration replicas{};           ///< a replica stops or falls behind
    bool promotes_best = false;    ///< promote the replica with the most data
    bool in_order = false;         ///< failovers on request, with all data on all replicas
    bool comes_back_empty = false; ///< a restarted server has lost its data
    bool promotes_empty = false;
    bool restarts = false;
    bool evicts = false;
    bool steps = false;
    double rate = 1;
};

/// Number of visits after which an actor stops. Most actors make fewer than 100 visits before the
/// safety phase ends. An actor makes thousands of visits only if each call fails at once.
constexpr int visits_max = 200;

struct plan {
    std::uint64_t seed;
    rules how;
    weather usual;
    habits people;
    mishaps fate;
    int clients = 2;
    int actors = 2;
    int names = 1;
    std::vector<lock_kind> kinds{}; ///< kind of lock of each name
    /// kind of counter of each name; empty: the name is a lock
    std::vector<std::optional<counter_kind>> counters{};
    fencing tokens = fencing::counted;
    bool shared = false; ///< whether the locks are read-write locks
    duration safety_phase{};
    int fair = 0; ///< number of names with fair locks; they are the first names
};

plan draw_plan(std::uint64_t seed);
/// Makes all names locks, so that there are no counters.
void keep_locks_only(plan&);
/// Removes all faults. A waiter then competes only with other waiters.
void leave_in_peace(dice&, plan&);
std::ostream& operator<<(std::ostream&, const plan&);

// Worlds about one subject: combinations that a mixture of all faults would hardly ever produce.

/// Changes the plan by chance. Most seeds stay the same, some get more of every event, and some get
/// a plot. Returns whether the seed has a plot.
bool draw_more(dice, plan&);

/// Chooses the kind of lock for each name.
void draw_families(dice, plan&);

} // namespace holdfast::sim
