// SPDX-License-Identifier: Apache-2.0
// What a store can tell of a lock, whoever holds it.
#pragma once

#include <holdfast/export.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

/// Who a client of holdfast is, in its own words (`options::announce`).
struct client_card {
    std::string host{};
    std::int64_t pid = 0; ///< on that host, or in its container
    std::string program{};
    std::string label{};          ///< `options::label`
    std::chrono::seconds since{}; ///< when the client was made, since 1970 by its own clock
};

/// Who holds a lock.
struct lock_owner {
    std::string text{};     ///< in the store's own spelling: Redisson's `<uuid>:<thread>`, or ours
    std::int64_t count = 1; ///< how often it was entered; ours count that in the process
    bool is_holdfast = false; ///< else a Redisson client, or somebody who writes as it does
    std::optional<client_card> client{}; ///< of ours that said who they are, and still say so
};

/// What is kept under a lock's name.
enum class key_kind : std::int32_t {
    lock = 1, ///< one owner: mutex, recursive_mutex; Redisson's RLock, fair, spin, fenced lock
    read_write_lock, ///< Redisson's RReadWriteLock
    other,           ///< something else, or a kind of lock that is not known here
};

/// "lock", "read-write lock", "other".
HOLDFAST_EXPORT const char* to_string(key_kind) noexcept;

/// What the store told of one lock, a moment ago.
struct lock_state {
    std::string name{}; ///< as the store sees it: with the client's prefix
    key_kind kind = key_kind::lock;
    std::string type{};                  ///< the store's own word for it: "hash", "string", …
    std::vector<lock_owner> owners{};    ///< of a lock with very many readers: none
    std::optional<duration> remaining{}; ///< of the lease; empty if it has no end
    /// Connections that listen for its release: each is one waiting client with one or more
    /// waiting threads, or one that waited a few seconds ago. Empty if the store would not say.
    std::optional<std::size_t> listeners{};
};

/// What `client::list()` found, in the order of their names.
struct lock_list {
    std::vector<lock_state> locks{};
    bool complete = true; ///< false: it stopped at its limit, and there may be more
};

} // namespace holdfast
