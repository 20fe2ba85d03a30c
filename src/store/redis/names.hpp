// SPDX-License-Identifier: Apache-2.0
// Names of the keys and channels that belong to a lock or counter, as Redisson chooses them
// (docs/protocol/mutex.md). Also the ids of permits, and a function that groups keys by slot.
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

/// Returns the key for additional data of a lock: `prefix` and the lock's name. In a cluster, the
/// key has the same slot as the lock's name.
std::string with_prefix(std::string_view prefix, const lock_name& name);

/// Returns the channel on which a release of the lock notifies the waiters.
channel_name lock_channel(const lock_name& name);

/// Returns the channel on which a release of a token lock notifies the waiters. The key of a token
/// lock is a string with the token of its owner.
channel_name token_channel(const lock_name& name);

/// Returns the key with the last fencing token of a lock.
std::string token_key(const lock_name& name);

// Names for a direct hand-off (docs/protocol/mutex.md).
//     waiting_key      key of the queue of waiting clients
//     waiting_channel  all waiting clients subscribe to it, so that a release can count them
//     inbox            channel that notifies the owner's client of a grant
//     inbox_prefix     the start that all inbox names of this lock share
std::string waiting_key(const lock_name&);
channel_name waiting_channel(const lock_name&);
std::string inbox_prefix(const lock_name&);
channel_name inbox(const hold& waits);

// Names for a fair lock.
//     fair_queue      queue of the waiters; the next waiter is first
//     fair_deadlines  when each waiter's place expires, in ms of the server's clock
//     fair_channel    channel of one waiter
std::string fair_queue(const lock_name&);
std::string fair_deadlines(const lock_name&);
channel_name fair_channel(const hold&);

/// Names for a read-write lock: the channel of releases, the key of the waiting writers, the start
/// of the names of all readers' timer keys, and the timer key of one owner. Redisson does not read
/// the key of the waiting writers.
channel_name shared_channel(const lock_name& name);
std::string writers_key(const lock_name& name);
std::string timer_prefix(const lock_name& name);
std::string timer_key(const lock_name& name, std::string_view owner);

// Names of a wish, which is a request to the holders of a lock to release it soon: the key, and the
// channel that notifies the holders. Redisson uses neither.
std::string wish_key(const lock_name&);
channel_name wish_channel(const lock_name&);

// Names for counters: the channel of a semaphore, the channel of a latch, and the key in which the
// server remembers the requests of one client. Redisson does not read this key.
channel_name semaphore_channel(const lock_name& name);
std::string permits_key(const lock_name& name); ///< key of the permits that are held under a lease
/// Returns the key that lists the clients which wait for a spin lock.
std::string spinners_key(const lock_name& name);
channel_name latch_channel(const lock_name& name);
std::string requests_key(const lock_name& name, const owner_id& request);

/// Keys of a rate limiter: the number of free permits, and the draws. A draw is a granted request
/// whose interval has not ended. A limiter for a single client uses the keys `own_left` and
/// `own_draws` instead.
struct rate_keys {
    std::string left, own_left, draws, own_draws;
};
rate_keys rate_keys_of(const lock_name&, const std::array<std::uint8_t, 16>& client);

/// Returns why `name` cannot be used, as text for the user. The result is empty if the name can be
/// used with one server, with Sentinels and with a cluster.
std::optional<std::string> objection_to_name(const lock_name& name, std::size_t bytes_max);

// Ids of permits, in the formats of the Redisson versions: docs/protocol/permits.md.

/// Returns a permit id as the server stores it. From Redisson 3.17 on, the server stores the bytes
/// of the id; before 3.17, it stores the hexadecimal digits. `id` must consist of an even number of
/// hexadecimal digits.
std::string stored_permit(std::string_view id, redisson_form);

/// Returns the start that all permit ids of a client share. A script appends the number of the
/// permit.
std::string permit_prefix(const owner_id&, redisson_form);

/// Returns the keys in one group for each slot, so that one request can use all keys of a group.
/// Without a cluster, all keys are in one group.
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
