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

/// Ours against a yardstick, in one thing.
struct contest {
    std::string name;
    int at_once;
    made (*ours)(const arena&);
    made (*yardstick)(const arena&);
    goals wanted{};
    std::string query{}; ///< settings of our client, as its URL says them: "?poll_bound=1s"
    const discipline* what = &pairs;
    std::optional<transport> way{}; ///< given: this one, whatever the run uses otherwise
    int slowness = 1;             ///< turns that many times longer, and as many times fewer of them
    bool only_when_named = false; ///< a point between two others of a curve: for --all
    site (*group)(server_groups&) = nullptr; ///< given: it is held there
};

std::vector<contest> contests();         ///< all of them
std::vector<contest> about_topologies(); ///< those with a `group`
std::vector<contest> about_keepers();    ///< at ZooKeeper
std::vector<contest> about_databases();  ///< at MariaDB; none without libmariadb

/// Many leases of one client, renewed for as long as renewal takes to come round.
struct vigil {
    std::string name;
    int leases;
    goals wanted{};
};

std::vector<vigil> vigils();

/// As many by one client over several servers, beside another's at one.
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

std::vector<failover> failovers(); ///< for --all: beside Redisson each takes some minutes

/// For how long a user's executor stands still because of a client whose connections fail.
struct standstill {
    std::string name;
    std::unique_ptr<troubled_server> (*where)();
    goals wanted;

    /// The goals of one that stands still for so many milliseconds at most, whatever happens.
    static goals within(double milliseconds);
};

std::vector<standstill> standstills();              ///< all of them
std::vector<standstill> standstills_at_keepers();   ///< at ZooKeeper
std::vector<standstill> standstills_at_databases(); ///< at MariaDB; none without libmariadb

/// Many threads of one client hand a lock around, which another process wants too.
enum class rival { holdfast, redisson };
struct rivalry {
    std::string name;
    int threads;
    rival other;
};

std::vector<rivalry> rivalries(); ///< for --all, as it takes some minutes to hold them

} // namespace holdfast::bench
