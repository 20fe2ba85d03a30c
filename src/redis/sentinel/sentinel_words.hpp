// SPDX-License-Identifier: Apache-2.0
// What is said to a Sentinel, and what its answers mean.
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

/// Where the primary is and how sure that is, in two questions: SENTINEL MASTER and then SENTINEL
/// GET-MASTER-ADDR-BY-NAME. Neither will do alone: the Sentinel that leads a failover knows the new
/// primary for a second while SENTINEL MASTER still tells the old address, with the new epoch. And
/// not the other way round: a switch between the two would join the old address to the new epoch.
/// Then SENTINEL REPLICAS, by which Sentinels of another service of the same name are found out.
void ask_sentinel(composer, std::string_view service);
constexpr std::size_t sentinel_questions = 3;

/// Of SENTINEL MASTER.
struct service_facts {
    server_address primary{};
    std::optional<std::uint64_t> epoch{}; ///< of its configuration; each failover makes it greater
    bool down = false;                    ///< it does not answer this Sentinel, or several
    bool failover_in_progress = false;
    std::optional<duration> down_after{}; ///< it is down if it has not answered for so long
    std::optional<std::uint64_t> replicas{};
    std::optional<std::uint64_t> other_sentinels{};
    std::optional<std::uint64_t> quorum{}; ///< so many of them must find it down
};

/// Nothing, if the Sentinel does not let us ask, knows no such service or makes no sense.
std::optional<service_facts> read_service(const reply&);

/// What one Sentinel answered to both questions.
struct sentinel_answer {
    std::optional<server_address> primary{}; ///< nothing: it knows no such service
    std::optional<std::uint64_t> epoch{};    ///< nothing: it does not let us ask
    bool down = false;
    std::optional<std::vector<server_address>> replicas{}; ///< nothing: it does not let us ask
};

/// Throws net::failure: what was refused, or what makes no sense.
sentinel_answer read_sentinel(const reply& service, const reply& address,
                              const reply& replicas = {});

/// To be heard on a connection of its own.
inline constexpr std::string_view switch_channel = "+switch-master";
void hear_of_switches(composer);

struct primary_switch {
    server_address from{};
    server_address to{};
};

/// A message on that channel. Nothing, if it is about another service or makes no sense.
std::optional<primary_switch> read_switch(std::string_view message, std::string_view service);

} // namespace holdfast::redis
