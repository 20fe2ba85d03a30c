// SPDX-License-Identifier: Apache-2.0
// Redisson's names of the keys and channels that belong to a lock (docs/protocol/mutex.md).
#pragma once

#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// Returns the name of a key that belongs to `name` and is on the same node of a cluster.
std::string with_prefix(std::string_view prefix, const lock_name& name);

/// Returns the channel of messages about releases of `name`.
channel_name lock_channel(const lock_name& name);

/// Returns the same for a token lock (a string with its owner's token).
channel_name token_channel(const lock_name& name);

/// Returns the key of the last fencing token of `name`.
std::string token_key(const lock_name& name);

// Names of a fair lock: the queue of waiters, the next one first; the time (ms of the server's
// clock) until which each waiter counts; the channel of one waiter.
std::string fair_queue(const lock_name&);
std::string fair_deadlines(const lock_name&);
channel_name fair_channel(const hold&);

/// Names of a read-write lock: the channel of releases, the marks of waiting writers (which no JVM
/// reads), the prefix of all readers' timers, and the timer of one owner.
channel_name shared_channel(const lock_name& name);
std::string writers_key(const lock_name& name);
std::string timer_prefix(const lock_name& name);
std::string timer_key(const lock_name& name, std::string_view owner);

// Names of counters: channel of a semaphore, channel of a latch, and the remembered requests of one
// client (which no JVM reads).
channel_name semaphore_channel(const lock_name& name);
std::string permits_key(const lock_name& name);  ///< permits that are held under a lease
std::string spinners_key(const lock_name& name); ///< clients that wait for a spin lock
channel_name latch_channel(const lock_name& name);
std::string requests_key(const lock_name& name, const owner_id& request);

/// Keys of a rate limiter: the permits left and the draws that still count. The keys `own_` are
/// those of a single client.
struct rate_keys {
    std::string left, own_left, draws, own_draws;
};
rate_keys rate_keys_of(const lock_name&, const std::array<std::uint8_t, 16>& client);

/// Returns, in words for the user, why Redis cannot have `name` in every topology; empty if it can.
std::optional<std::string> objection_to_name(const lock_name& name, std::size_t bytes_max);

} // namespace holdfast::redis
