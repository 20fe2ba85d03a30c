// SPDX-License-Identifier: Apache-2.0
// Redisson's names of the keys and channels that belong to a lock or counter
// (docs/protocol/mutex.md), the ids of permits, and the grouping of keys by slot.
#pragma once

#include "redis/node.hpp"

#include <holdfast/redis/options.hpp>
#include <holdfast/store.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// Returns the key for additional data of a lock. The key begins with `prefix`. In a cluster, it
/// has the same slot as `name`.
std::string with_prefix(std::string_view prefix, const lock_name& name);

/// Returns the channel of the release notifications of a lock.
channel_name lock_channel(const lock_name& name);

/// Returns the channel of the release notifications of a token lock (a string with its owner's
/// token).
channel_name token_channel(const lock_name& name);

/// Returns the key with the last fencing token of a lock.
std::string token_key(const lock_name& name);

// Names for a direct hand-off (docs/protocol/mutex.md). waiting_key: the queue of waiting clients.
// waiting_channel: a channel to which all these clients subscribe, so that a release can count
// them. inbox_prefix: the start of the names of the clients' inboxes. inbox: the channel of the
// owner's client.
std::string waiting_key(const lock_name&);
channel_name waiting_channel(const lock_name&);
std::string inbox_prefix(const lock_name&);
channel_name inbox(const hold& waits);

// Names for a fair lock. fair_queue: the queue of waiters, with the next waiter first.
// fair_deadlines: the time at which each waiter expires, in ms of the server's clock. fair_channel:
// the channel of one waiter.
std::string fair_queue(const lock_name&);
std::string fair_deadlines(const lock_name&);
channel_name fair_channel(const hold&);

/// Names for a read-write lock: the channel of releases, the key with the marks of waiting writers
/// (JVMs do not read this key), the prefix of all readers' timers, and the timer of one owner.
channel_name shared_channel(const lock_name& name);
std::string writers_key(const lock_name& name);
std::string timer_prefix(const lock_name& name);
std::string timer_key(const lock_name& name, std::string_view owner);

// Names of a wish (a request to the holders of a lock to release it soon): its key, and the channel
// of its notification. JVMs use neither.
std::string wish_key(const lock_name&);
channel_name wish_channel(const lock_name&);

// Names for counters: the channel of a semaphore, the channel of a latch, and the key with the
// recorded requests of one client (JVMs do not read this key).
channel_name semaphore_channel(const lock_name& name);
std::string permits_key(const lock_name& name); ///< key of the permits that are held under a lease
/// Returns the key of the clients that wait for a spin lock.
std::string spinners_key(const lock_name& name);
channel_name latch_channel(const lock_name& name);
std::string requests_key(const lock_name& name, const owner_id& request);

/// Keys of a rate limiter: the number of permits that are left, and the draws (granted requests)
/// whose interval is not over. The keys `own_left` and `own_draws` belong to a single client.
struct rate_keys {
    std::string left, own_left, draws, own_draws;
};
rate_keys rate_keys_of(const lock_name&, const std::array<std::uint8_t, 16>& client);

/// Returns why `name` cannot be used in every Redis topology, as text for the user. The result is
/// empty if the name can be used.
std::optional<std::string> objection_to_name(const lock_name& name, std::size_t bytes_max);

// Ids of permits, in the formats of the Redisson versions: docs/protocol/permits.md.

/// Returns a permit in the form that the server stores. Since Redisson 3.17, this form is the bytes
/// of the id; before 3.17, it is the digits of the id. `id` must have an even number of hexadecimal
/// digits and nothing else.
std::string stored_permit(std::string_view id, redisson_form);

/// Returns the common beginning of all permit ids of a client. A script adds the number of the
/// permit.
std::string permit_prefix(const owner_id&, redisson_form);

/// Returns the keys in groups by slot, so that one request can use all keys of a group. Without a
/// cluster there is one group.
inline std::vector<std::vector<std::string>> by_slot(const node& server,
                                                     std::vector<std::string> keys) {
    std::map<std::uint16_t, std::vector<std::string>> sorted;
    for (std::string& each : keys)
        sorted[server.slot_of(each)].push_back(std::move(each));
    std::vector<std::vector<std::string>> all;
    all.reserve(sorted.size());
    for (auto& [slot, some] : sorted)
        all.push_back(std::move(some));
    return all;
}

} // namespace holdfast::redis
