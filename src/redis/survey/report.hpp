// SPDX-License-Identifier: Apache-2.0
// What servers that belong together say when they are examined. Values.
#pragma once

#include "redis/sentinel/sentinel_words.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

enum class telling : std::uint8_t;

/// Between which two lengths lies how far a server's date is ahead of this client's clock. Of use
/// only beside that of another server.
struct clock_reading {
    std::chrono::microseconds least{};
    std::chrono::microseconds most{};
};

/// Slots that are on their way to a server, or away from it.
struct open_slots {
    std::size_t count = 0;
    std::uint16_t first = 0;
};

/// A node of a cluster names another server for some slots than most others do.
struct dissent {
    std::size_t slots = 0;
    std::uint16_t first = 0;
    server_address named{};
};

/// What one server said. Empty is what it did not let us ask, and all of it if it did not answer.
struct server_report {
    std::string address{}; ///< for people
    std::string trouble{}; ///< why it did not answer
    std::string info{};    ///< what INFO says
    std::optional<clock_reading> clock{};
    bool clock_jumps = false;     ///< between two answers over one connection
    std::string fsync{};          ///< when its append-only file is written to the disk
    std::string wait_refusal{};   ///< its own words, if it does not do WAIT
    bool closed_to_files = false; ///< CONFIG GET is denied

    // Of a node of a cluster.
    std::optional<duration> node_timeout{};
    std::optional<bool> replicas_migrate{};
    std::optional<open_slots> open{};
    std::optional<dissent> other_view{};
    std::optional<bool> plain_listeners{}; ///< to locks' channels, in that form
    std::optional<bool> shard_listeners{};
};

/// A primary, and the replicas that may take its place.
struct shard_report {
    server_report primary{};
    std::vector<server_report> replicas{};
};

struct sentinel_report {
    std::string address{};
    std::string trouble{}; ///< why it does not say where the primary is
    std::optional<server_address> primary{};
    std::optional<service_facts> service{};
};

struct topology_report {
    enum class kind : std::uint8_t {
        unknown, ///< nobody was asked
        single,
        sentinels,
        cluster,
    };
    kind what = kind::unknown;
    bool over_tls = false;
    std::vector<shard_report> shards{};

    std::string service{}; ///< by whose Sentinels it was found
    std::vector<sentinel_report> sentinels{};

    std::size_t unserved_slots = 0;
    telling form{}; ///< of a cluster
};

} // namespace holdfast::redis
