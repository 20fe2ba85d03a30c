// SPDX-License-Identifier: Apache-2.0
// Questions to a Sentinel, and the meaning of its replies.
#pragma once

#include "redis/wire/composer.hpp"
#include "redis/wire/reply.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::redis {

/// Appends the questions: where the primary is, in which epoch, and which replicas it has.
///
/// First SENTINEL MASTER, then SENTINEL GET-MASTER-ADDR-BY-NAME. Both are needed. The Sentinel that
/// leads a failover knows the new primary early. For about a second its reply to SENTINEL MASTER
/// still has the old address, but the new epoch. The other order would be wrong: a switch between
/// the two would join the old address to the new epoch.
///
/// Then SENTINEL REPLICAS. Its reply shows which Sentinels watch another service of the same name.
void ask_sentinel(composer, std::string_view service);
constexpr std::size_t sentinel_questions = 3;

/// Reply to SENTINEL MASTER.
struct service_facts {
    server_address primary{};
    /// Epoch of the configuration, increased by each failover.
    std::optional<std::uint64_t> epoch{};
    bool down = false; ///< this Sentinel, or several, found it down
    bool failover_in_progress = false;
    std::optional<duration> down_after{}; ///< time without a reply after which it counts as down
    std::optional<std::uint64_t> replicas{};
    std::optional<std::uint64_t> other_sentinels{};
    std::optional<std::uint64_t> quorum{}; ///< number of Sentinels that must find it down
};

/// Reads a reply to SENTINEL MASTER. Returns nothing if the Sentinel refuses the question, does not
/// know the service, or gives a malformed reply.
std::optional<service_facts> read_service(const reply&);

/// What one Sentinel said about the service.
struct sentinel_answer {
    std::optional<server_address> primary{}; ///< empty if the service is unknown
    std::optional<std::uint64_t> epoch{};    ///< empty if the Sentinel refuses to tell
    bool down = false;
    /// Empty if the Sentinel refuses to tell.
    std::optional<std::vector<server_address>> replicas{};
};

/// Reads the three replies. Throws net::failure if a question was refused or the address is
/// malformed.
sentinel_answer read_sentinel(const reply& service, const reply& address,
                              const reply& replicas = {});

/// Channel on which Sentinels announce a switch of the primary. Its subscription needs a connection
/// of its own.
inline constexpr std::string_view switch_channel = "+switch-master";
void hear_of_switches(composer);

struct primary_switch {
    server_address from{};
    server_address to{};
};

/// Reads a message on that channel. Returns nothing if it is malformed or about another service.
std::optional<primary_switch> read_switch(std::string_view message, std::string_view service);

} // namespace holdfast::redis
