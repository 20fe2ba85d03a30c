// SPDX-License-Identifier: Apache-2.0
// Types of the reports about the servers of one deployment, and the questions to a Sentinel. Also
// functions that read the replies of Sentinels, and the lines about replicas in INFO. The functions
// do no I/O.
#pragma once

#include "redis/client/resp.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

// Questions to a Sentinel, and the meaning of its replies.

/// Appends three questions: which server is the primary, in which epoch, and which replicas it has.
///
/// SENTINEL MASTER comes first, and SENTINEL GET-MASTER-ADDR-BY-NAME second. The Sentinel that
/// leads a failover knows the new primary early, but for about a second its reply to SENTINEL
/// MASTER has the old address with the new epoch. GET-MASTER-ADDR-BY-NAME already returns the new
/// address. In the other order, a switch between the two questions would combine the old address
/// with the new epoch.
///
/// SENTINEL REPLICAS comes last. Its reply shows which Sentinels watch another service of the same
/// name.
void ask_sentinel(composer, std::string_view service);
constexpr std::size_t sentinel_questions = 3;

/// Reply to SENTINEL MASTER.
struct service_facts {
    server_address primary{};
    /// Epoch of the Sentinels' configuration, which each failover increases.
    std::optional<std::uint64_t> epoch{};
    bool down = false; ///< true: one or several Sentinels found the primary down
    bool failover_in_progress = false;
    /// Time without a reply after which Sentinels treat the primary as down.
    std::optional<duration> down_after{};
    std::optional<std::uint64_t> replicas{};
    std::optional<std::uint64_t> other_sentinels{};
    std::optional<std::uint64_t> quorum{}; ///< number of Sentinels that must find the primary down
};

/// Reads a reply to SENTINEL MASTER. Returns nothing if the Sentinel refuses the question, does not
/// know the service, or sends a malformed reply.
std::optional<service_facts> read_service(const reply&);

/// Reply of one Sentinel about the service.
struct sentinel_answer {
    std::optional<server_address> primary{}; ///< empty if the service is unknown
    std::optional<std::uint64_t> epoch{};    ///< empty if the Sentinel refuses to report it
    bool down = false;
    /// Replicas that the Sentinel knows. Empty if the Sentinel refuses to list them.
    std::optional<std::vector<server_address>> replicas{};
};

/// Reads the three replies of a Sentinel. Throws net::failure if a question was refused or the
/// address is malformed.
sentinel_answer read_sentinel(const reply& service, const reply& address,
                              const reply& replicas = {});

/// Channel on which Sentinels announce a switch of the primary. The subscription to this channel
/// needs its own connection.
inline constexpr std::string_view switch_channel = "+switch-master";
void hear_of_switches(composer);

struct primary_switch {
    server_address from{};
    server_address to{};
};

/// Reads a message of `switch_channel`. Returns nothing if the message is malformed or about
/// another service.
std::optional<primary_switch> read_switch(std::string_view message, std::string_view service);

enum class telling : std::uint8_t;

/// Bounds of the difference between a server's clock and this client's clock. One difference alone
/// has no meaning, because this client's clock shows no date. But two differences show how far the
/// clocks of two servers are apart.
struct clock_reading {
    std::chrono::microseconds least{};
    std::chrono::microseconds most{};
};

/// Slots that are being migrated to or from a server: the number of these slots, and the first of
/// them.
struct open_slots {
    std::size_t count = 0;
    std::uint16_t first = 0;
};

/// Slots for which a cluster node names another owner than most other nodes do.
struct disagreement {
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
    bool clock_jumps = false;     ///< true: the clock jumped between two replies
    std::string fsync{};          ///< appendfsync: when the append-only file is synced
    std::string wait_refusal{};   ///< error reply to WAIT, if the server refuses it
    bool closed_to_files = false; ///< true: CONFIG GET is refused

    // Members that are set only for a cluster node.
    std::optional<duration> node_timeout{};
    std::optional<bool> replicas_migrate{};
    std::optional<open_slots> open{};
    std::optional<disagreement> other_view{};
    /// Whether channels of locks have subscribers of the plain form, and of the sharded form.
    std::optional<bool> plain_listeners{};
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
    telling form{}; ///< set only for a cluster
};

// Functions that read the lines about replicas in a primary's INFO.

/// Returns the addresses of the replicas.
std::vector<server_address> replicas_in(std::string_view info);

/// Returns the number of replicas in the state `online`, which have the primary's data.
std::size_t replicas_online_in(std::string_view info);

} // namespace holdfast::redis
