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

/// Appends three questions: where the primary is, in which epoch, and which replicas it has.
///
/// SENTINEL MASTER is sent first, and SENTINEL GET-MASTER-ADDR-BY-NAME second. Both are needed,
/// because the Sentinel that leads a failover knows the new primary early. For about a second its
/// reply to SENTINEL MASTER still has the old address, but the new epoch. The opposite order would
/// be wrong: a switch between the two questions would combine the old address with the new epoch.
///
/// SENTINEL REPLICAS is sent last. Its reply shows which Sentinels watch another service of the
/// same name.
void ask_sentinel(composer, std::string_view service);
constexpr std::size_t sentinel_questions = 3;

/// Reply to SENTINEL MASTER.
struct service_facts {
    server_address primary{};
    /// Epoch of the configuration. Each failover increases it.
    std::optional<std::uint64_t> epoch{};
    bool down = false; ///< this Sentinel, or several, found the primary down
    bool failover_in_progress = false;
    std::optional<duration> down_after{}; ///< time without a reply until it counts as down
    std::optional<std::uint64_t> replicas{};
    std::optional<std::uint64_t> other_sentinels{};
    std::optional<std::uint64_t> quorum{}; ///< number of Sentinels that must find the primary down
};

/// Reads a reply to SENTINEL MASTER. Returns nothing if the Sentinel refuses the question, does not
/// know the service, or gives a malformed reply.
std::optional<service_facts> read_service(const reply&);

/// Reply of one Sentinel about the service.
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

/// Channel on which Sentinels announce a switch of the primary. The subscription needs a separate
/// connection.
inline constexpr std::string_view switch_channel = "+switch-master";
void hear_of_switches(composer);

struct primary_switch {
    server_address from{};
    server_address to{};
};

/// Reads a message of that switch channel. Returns nothing if the message is malformed or about
/// another service.
std::optional<primary_switch> read_switch(std::string_view message, std::string_view service);

} // namespace holdfast::redis
