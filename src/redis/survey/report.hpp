// SPDX-License-Identifier: Apache-2.0
// Reports about the servers of one deployment. Only values.
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

/// Bounds of the difference between a server's date and this client's clock. This client's clock
/// does not show a date. So a reading is useful only in comparison with the reading of another
/// server.
struct clock_reading {
    std::chrono::microseconds least{};
    std::chrono::microseconds most{};
};

/// Slots that are being migrated to or from a server: their number and the first of them.
struct open_slots {
    std::size_t count = 0;
    std::uint16_t first = 0;
};

/// Slots for which a cluster node names another owner than most nodes do.
struct dissent {
    std::size_t slots = 0;
    std::uint16_t first = 0;
    server_address named{};
};

/// What one server said. A member is empty if the server refused to tell it. All members are empty
/// if the server did not reply.
struct server_report {
    std::string address{}; ///< for messages
    std::string trouble{}; ///< why the server did not reply
    std::string info{};    ///< reply to INFO
    std::optional<clock_reading> clock{};
    bool clock_jumps = false;     ///< the clock jumped between two replies on one connection
    std::string fsync{};          ///< policy for writing the append-only file to disk
    std::string wait_refusal{};   ///< the error reply to WAIT, if WAIT is refused
    bool closed_to_files = false; ///< CONFIG GET is refused

    // Only for a cluster node.
    std::optional<duration> node_timeout{};
    std::optional<bool> replicas_migrate{};
    std::optional<open_slots> open{};
    std::optional<dissent> other_view{};
    std::optional<bool> plain_listeners{}; ///< lock channels have subscribers of this form
    std::optional<bool> shard_listeners{};
};

/// A primary and its replicas.
struct shard_report {
    server_report primary{};
    std::vector<server_report> replicas{};
};

struct sentinel_report {
    std::string address{};
    std::string trouble{}; ///< why it does not tell the primary
    std::optional<server_address> primary{};
    std::optional<service_facts> service{};
};

struct topology_report {
    enum class kind : std::uint8_t {
        unknown, ///< no server was asked
        single,
        sentinels,
        cluster,
    };
    kind what = kind::unknown;
    bool over_tls = false;
    std::vector<shard_report> shards{};

    std::string service{}; ///< name of the Sentinel service
    std::vector<sentinel_report> sentinels{};

    std::size_t unserved_slots = 0;
    telling form{}; ///< only for a cluster
};

} // namespace holdfast::redis
