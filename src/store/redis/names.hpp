// SPDX-License-Identifier: Apache-2.0
// What Redisson calls the keys and channels that belong to a lock (docs/protocol/mutex.md).
#pragma once

#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// The name of something that belongs to `name` and lives on the same node of a cluster.
std::string with_prefix(std::string_view prefix, const lock_name& name);

/// Where releases of `name` are told.
channel_name lock_channel(const lock_name& name);

/// Likewise, of a lock that is a string with its owner's token.
channel_name token_channel(const lock_name& name);

/// Where the last fencing token of `name` is.
std::string token_key(const lock_name& name);

// Of a fair lock: who waits, the next one first; until when (ms of the server's clock) each of them
// counts; and where one of them is told.
std::string fair_queue(const lock_name&);
std::string fair_deadlines(const lock_name&);
channel_name fair_channel(const hold&);

/// What belongs to a read-write lock: where its releases are told, where writers that wait are
/// marked (no JVM looks there), what all its readers' timers begin with, and one owner's.
channel_name shared_channel(const lock_name& name);
std::string writers_key(const lock_name& name);
std::string timer_prefix(const lock_name& name);
std::string timer_key(const lock_name& name, std::string_view owner);

// Where the permits of a semaphore are told; where a latch is; and which requests of one client
// changed such a counter (no JVM looks there).
channel_name semaphore_channel(const lock_name& name);
std::string permits_key(const lock_name& name);  ///< those that are held under a lease
std::string spinners_key(const lock_name& name); ///< the clients that wait for a spin lock
channel_name latch_channel(const lock_name& name);
std::string requests_key(const lock_name& name, const owner_id& request);

/// Of a rate limiter: how many permits are left, and the draws that still count; of all clients,
/// and of one.
struct rate_keys {
    std::string left, own_left, draws, own_draws;
};
rate_keys rate_keys_of(const lock_name&, const std::array<std::uint8_t, 16>& client);

/// Why no Redis could carry `name` in every topology, in words for its user; or nothing.
std::optional<std::string> objection_to_name(const lock_name& name, std::size_t bytes_max);

} // namespace holdfast::redis
