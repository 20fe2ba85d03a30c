// SPDX-License-Identifier: Apache-2.0
// What a store reports about a lock, whether a holdfast client or Redisson holds it.
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

/// How a holdfast client describes itself at the store (`options::announce`).
struct client_card {
    std::string host{};
    std::int64_t pid = 0; ///< on that host, or in its container
    std::string program{};
    std::string label{};          ///< `options::label`
    std::chrono::seconds since{}; ///< when the client was made, since 1970 by its own clock
};

/// One owner of a lock.
struct lock_owner {
    std::string text{}; ///< as the store has it: `<uuid>:<number>`, or Redisson's `<uuid>:<thread>`
    std::int64_t count = 1;   ///< how often it was entered; holdfast counts that itself: 1
    bool is_holdfast = false; ///< false: a Redisson client, or a program that writes as it does
    std::optional<client_card> client{}; ///< of a holdfast client, if it has described itself
};

/// The kind of thing that the store has under a lock's name.
enum class key_kind : std::int32_t {
    lock = 1, ///< one owner: mutex, recursive_mutex; Redisson's RLock, fair, spin, fenced lock
    read_write_lock, ///< Redisson's RReadWriteLock
    other,           ///< something else, or a kind of lock that is not known here
};

/// "lock", "read-write lock", "other".
HOLDFAST_EXPORT const char* to_string(key_kind) noexcept;

/// One lock, as the store reported it a moment ago.
struct lock_state {
    std::string name{}; ///< in the store: with the client's prefix
    key_kind kind = key_kind::lock;
    std::string type{};                  ///< the store's own word for it: "hash", "string", …
    std::vector<lock_owner> owners{};    ///< empty for a lock with very many readers
    std::optional<duration> remaining{}; ///< of the lease; empty if it has no end
    /// Connections that listen for its release. Each is a client with one or more waiting threads,
    /// or one that waited a few seconds ago. Empty if the store does not report them.
    std::optional<std::size_t> listeners{};
    /// Of the fenced lock of that name, JVMs' too: no hold ever had a greater fencing token. 0:
    /// there was none, or the store does not tell.
    std::uint64_t last_token = 0;
};

/// The locks that `client::list()` found, in the order of their names.
struct lock_list {
    std::vector<lock_state> locks{};
    bool complete = true; ///< false: it stopped at its limit, and there may be more
};

} // namespace holdfast
