// SPDX-License-Identifier: Apache-2.0
// What a store reports about a lock, whether a holdfast client or Redisson holds the lock.
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

/// Self-description of a holdfast client, which it keeps at the store (`options::announce`).
struct client_card {
    std::string host{};
    std::int64_t pid = 0; ///< process id on that host or in its container
    std::string program{};
    std::string label{}; ///< `options::label`
    /// creation time of the client: seconds since 1970, on the client's clock
    std::chrono::seconds since{};
};

/// An owner of a lock.
struct lock_owner {
    std::string text{}; ///< as stored: `<uuid>:<number>`, or Redisson's `<uuid>:<thread>`
    /// Number of entries; always 1 for holdfast, which counts entries itself.
    std::int64_t count = 1;
    /// False: a Redisson client, or a program that writes the same format. For a token lock, false
    /// means any other program.
    bool is_holdfast = false;
    std::optional<client_card> client{}; ///< set if a holdfast client has described itself
    /// For a read-write lock: true if the owner has the write lock, false if it shares the lock.
    bool writes = false;
    /// Remaining time of this reader's own lease. Zero: the lease has expired, and the next writer
    /// removes the owner. Empty: the hold ends with the lease of the whole lock, or the store does
    /// not report the time.
    std::optional<duration> remaining{};
};

/// A waiter that has registered itself at the store.
struct lock_waiter {
    std::string text{};                  ///< as in `lock_owner`
    bool is_holdfast = false;            ///< as in `lock_owner`
    std::optional<client_card> client{}; ///< as in `lock_owner`
    /// How long the waiter keeps its place if it sends no more requests. Zero: the place does not
    /// count any more, and the next request removes it. Empty: the store does not report the time.
    std::optional<duration> remaining{};
    /// For the queue of a fair lock: whether the waiter is subscribed to its notification. A waiter
    /// that is not subscribed has just arrived, has lost its connection, or is dead. Empty:
    /// unknown.
    std::optional<bool> listens{};
};

/// The type of the value that the store has under a lock's name.
enum class key_kind : std::int32_t {
    /// Lock with one owner: mutex, recursive_mutex; Redisson's RLock, fair, spin and fenced lock.
    lock = 1,
    read_write_lock, ///< Redisson's RReadWriteLock
    other,           ///< anything else, also a kind of lock that this version does not know
    token_lock,      ///< token_mutex; the locks of redis-py, redsync and node-redlock
};

/// Returns "lock", "read-write lock", "other" or "token lock".
HOLDFAST_EXPORT const char* to_string(key_kind) noexcept;

/// State of one lock, as the store reported it a moment ago.
struct lock_state {
    std::string name{}; ///< name at the store, with the client's prefix
    key_kind kind = key_kind::lock;
    std::string type{}; ///< the store's own word for the type: "hash", "string", …
    /// a writer comes first; empty for a lock with very many readers
    std::vector<lock_owner> owners{};
    /// remaining time of the lease; empty if the lease never expires
    std::optional<duration> remaining{};
    /// Number of connections that are subscribed to the release of the lock. Each is a client with
    /// one or more waiting threads, or a client that waited a few seconds ago. In a fair lock's
    /// queue, every entry of `waiters` counts. Empty: the store does not report the number.
    std::optional<std::size_t> listeners{};
    /// Fencing token of the current hold, if the store gives a token to each grant (MySQL,
    /// ZooKeeper). 0: the store does not report a token.
    std::uint64_t token = 0;
    /// Greatest fencing token that any hold of the fenced lock of that name ever had, including
    /// holds of JVMs. 0: there was no token, or the store does not report it.
    std::uint64_t last_token = 0;
    /// Waiters of a fair lock, the next in line first. For a read-write lock, the holdfast writers
    /// that wait while others read. If there are very many, only the first of them. Other waiters
    /// (waiters for other locks, readers, Redisson's writers) only subscribe to the release, so
    /// they are not listed.
    std::vector<lock_waiter> waiters{};
    /// total number of `waiters`; empty if the store does not report it
    std::optional<std::size_t> waiting{};
    /// False: nobody holds the lock, but a waiter is next in line. This happens with a fair lock.
    /// Then only the first of `waiters` that still counts can acquire the lock.
    bool is_held = true;
};

/// The locks that `client::list()` found, in the order of their names.
struct lock_list {
    std::vector<lock_state> locks{};
    bool complete = true; ///< false: the list reached its limit, or some servers could not be asked
    /// If several servers share the names: an error text for each server that could not be asked.
    std::vector<std::string> unreachable{};
};

} // namespace holdfast
