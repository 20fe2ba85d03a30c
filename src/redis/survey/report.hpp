// SPDX-License-Identifier: Apache-2.0
// Reports about the servers of one deployment. The types have values only, no functions.
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

/// Lower and upper bound of the difference between a server's date and this client's clock. This
/// client's clock does not show a date. Therefore one reading alone is useless, but two readings
/// show the difference between two servers.
struct clock_reading {
    std::chrono::microseconds least{};
    std::chrono::microseconds most{};
};

/// Slots that are being migrated to or from a server: their number, and the first slot.
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

/// Replies of one server. A member is empty if the server refused the question. All members are
/// empty if the server did not reply.
struct server_report {
    std::string address{}; ///< address for messages
    std::string trouble{}; ///< why the server did not reply
    std::string info{};    ///< reply to INFO
    std::optional<clock_reading> clock{};
    bool clock_jumps = false;     ///< the clock jumped between two replies of one connection
    std::string fsync{};          ///< appendfsync: when the append-only file is written to disk
    std::string wait_refusal{};   ///< the error reply to WAIT, if WAIT is refused
    bool closed_to_files = false; ///< whether CONFIG GET is refused

    // Only for a cluster node.
    std::optional<duration> node_timeout{};
    std::optional<bool> replicas_migrate{};
    std::optional<open_slots> open{};
    std::optional<dissent> other_view{};
    std::optional<bool> plain_listeners{}; ///< lock channels have subscribers in the plain form
    std::optional<bool> shard_listeners{};
};

/// A primary and its replicas.
struct shard_report {
    server_report primary{};
    std::vector<server_report> replicas{};
};

struct sentinel_report {
    std::string address{};
    std::string trouble{}; ///< why the Sentinel did not name the primary
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
