// SPDX-License-Identifier: Apache-2.0
// All kinds of measurements: holdfast compared with another program, the cost of many leases,
// failovers, blocked executors, and two processes that want the same lock.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/figures/figures.hpp"
#include "bench/server/server_groups.hpp"

#include <memory>
#include <optional>

namespace holdfast::bench {

/// Comparison of holdfast with another program (the yardstick) in one operation.
struct contest {
    std::string name;
    int at_once;
    made (*ours)(const arena&);
    made (*yardstick)(const arena&);
    goals wanted{};
    std::string query{}; ///< URL parameters of the holdfast client: "?poll_bound=1s"
    const discipline* what = &pairs;
    std::optional<transport> way{}; ///< if set, is used instead of the run's transport
    int slowness = 1;               ///< multiplies the time of a measurement, divides the rounds
    /// If true, the contest runs only with --all or by its name, for example for an intermediate
    /// point of a curve.
    bool only_when_named = false;
    site (*group)(server_groups&) = nullptr; ///< if set, starts the servers of the contest
};

std::vector<contest> contests();         ///< contests on single servers
std::vector<contest> about_topologies(); ///< contests with a `group`
std::vector<contest> about_keepers();    ///< on ZooKeeper
std::vector<contest> about_databases();  ///< on MariaDB; empty without libmariadb

/// Measurement of one client that holds many leases until each lease was renewed once.
struct vigil {
    std::string name;
    int leases;
    goals wanted{};
};

std::vector<vigil> vigils();

/// Measurement of many leases of one client on several servers, compared with one client on one
/// server.
struct shared_vigil {
    std::string name;
    int leases;
    goals wanted;
    site (*group)(server_groups&);
};

std::vector<shared_vigil> shared_vigils();

/// Measurement of a failover: a primary fails, and a replica takes its place.
struct failover {
    std::string name;
    std::unique_ptr<realm> (*where)(server_groups&);
    fault how;
    goals wanted;
};

/// Failovers, which run only with --all, because with Redisson each failover takes some minutes.
std::vector<failover> failovers();

/// Measurement of how long a client whose connections fail blocks the user's executor.
struct standstill {
    std::string name;
    std::unique_ptr<troubled_server> (*where)();
    goals wanted;

    /// Returns goals with a maximum time. In each kind of failure, the executor may be blocked for
    /// at most this time.
    static goals within(double milliseconds);
};

std::vector<standstill> standstills();              ///< on Redis
std::vector<standstill> standstills_at_keepers();   ///< on ZooKeeper
std::vector<standstill> standstills_at_databases(); ///< on MariaDB; empty without libmariadb

/// A `rivalry` is a measurement. Many threads of one client hand a lock over to each other, while
/// another process wants the lock, too. `rival` is the library that this other process uses.
enum class rival { holdfast, redisson };
struct rivalry {
    std::string name;
    int threads;
    rival other;
};

std::vector<rivalry> rivalries(); ///< run only with --all, because they take some minutes

} // namespace holdfast::bench
