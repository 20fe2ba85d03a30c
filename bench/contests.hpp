// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/contenders/arena.hpp"
#include "bench/failover/realm.hpp"
#include "bench/figures/figures.hpp"
#include "bench/server/server_groups.hpp"
#include "bench/standstill/troubled_server.hpp"

#include <memory>
#include <optional>

namespace holdfast::bench {

/// Comparison of our side with a yardstick, in one operation.
struct contest {
    std::string name;
    int at_once;
    made (*ours)(const arena&);
    made (*yardstick)(const arena&);
    goals wanted{};
    std::string query{}; ///< settings in the URL of our client: "?poll_bound=1s"
    const discipline* what = &pairs;
    std::optional<transport> way{}; ///< if set, used instead of the transport of the run
    int slowness = 1;               ///< factor by which turns are longer and rounds fewer
    bool only_when_named = false;   ///< an intermediate point of a curve, only run with --all
    site (*group)(server_groups&) = nullptr; ///< if set, the servers where the contest is held
};

std::vector<contest> contests();         ///< all of them
std::vector<contest> about_topologies(); ///< contests with a `group`
std::vector<contest> about_keepers();    ///< on ZooKeeper
std::vector<contest> about_databases();  ///< on MariaDB; empty without libmariadb

/// Many leases of one client, kept until each has been renewed.
struct vigil {
    std::string name;
    int leases;
    goals wanted{};
};

std::vector<vigil> vigils();

/// Many leases of one client over several servers, compared with another client on one server.
struct shared_vigil {
    std::string name;
    int leases;
    goals wanted;
    site (*group)(server_groups&);
};

std::vector<shared_vigil> shared_vigils();

/// A primary fails, and a replica takes its place.
struct failover {
    std::string name;
    std::unique_ptr<realm> (*where)(server_groups&);
    fault how;
    goals wanted;
};

std::vector<failover> failovers(); ///< only with --all: with Redisson, each takes some minutes

/// How long a user's executor is blocked by a client whose connections fail.
struct standstill {
    std::string name;
    std::unique_ptr<troubled_server> (*where)();
    goals wanted;

    /// Returns the goals for an executor that is blocked for at most this time in every case.
    static goals within(double milliseconds);
};

std::vector<standstill> standstills();              ///< all of them
std::vector<standstill> standstills_at_keepers();   ///< on ZooKeeper
std::vector<standstill> standstills_at_databases(); ///< on MariaDB; empty without libmariadb

/// Many threads of one client pass a lock on to each other, and another process wants it too.
enum class rival { holdfast, redisson };
struct rivalry {
    std::string name;
    int threads;
    rival other;
};

std::vector<rivalry> rivalries(); ///< only with --all, because they take some minutes

} // namespace holdfast::bench
