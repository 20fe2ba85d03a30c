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
    bool is_holdfast = false; ///< false: a Redisson client, or a program that writes as it does;
                              ///< of a token lock: any other program
    std::optional<client_card> client{}; ///< of a holdfast client, if it has described itself
    bool writes = false; ///< of a read-write lock: it has the lock alone; false: it shares it
    /// Of the reader's own lease; zero: it is over, and whoever writes next removes the owner.
    /// Empty if the hold ends with the lock's lease, or if the store does not tell.
    std::optional<duration> remaining{};
};

/// One that waits, and has written that down at the store.
struct lock_waiter {
    std::string text{};                  ///< as in `lock_owner`
    bool is_holdfast = false;            ///< likewise
    std::optional<client_card> client{}; ///< likewise
    /// For so long its place counts if it does not ask again; zero: it counts no more, and the next
    /// to ask removes it. Empty if the store does not tell.
    std::optional<duration> remaining{};
    /// In the queue of a fair lock: whether it listens for its turn. One that does not has just
    /// come, has lost its connection or is dead. Empty if that is not known.
    std::optional<bool> listens{};
};

/// The kind of thing that the store has under a lock's name.
enum class key_kind : std::int32_t {
    lock = 1, ///< one owner: mutex, recursive_mutex; Redisson's RLock, fair, spin, fenced lock
    read_write_lock, ///< Redisson's RReadWriteLock
    other,           ///< something else, or a kind of lock that is not known here
    token_lock,      ///< token_mutex; the locks of redis-py, redsync, node-redlock
};

/// "lock", "read-write lock", "other", "token lock".
HOLDFAST_EXPORT const char* to_string(key_kind) noexcept;

/// One lock, as the store reported it a moment ago.
struct lock_state {
    std::string name{}; ///< in the store: with the client's prefix
    key_kind kind = key_kind::lock;
    std::string type{};               ///< the store's own word for it: "hash", "string", …
    std::vector<lock_owner> owners{}; ///< empty for a lock with very many readers; a writer first
    std::optional<duration> remaining{}; ///< of the lease; empty if it has no end
    /// Connections that listen for its release. Each is a client with one or more waiting threads,
    /// or one that waited a few seconds ago; in a fair lock's queue each of `waiters` counts.
    /// Empty if the store does not report them.
    std::optional<std::size_t> listeners{};
    /// The fencing token of the present hold, where the store gives each grant one: MySQL,
    /// ZooKeeper. 0: the store does not tell.
    std::uint64_t token = 0;
    /// Of the fenced lock of that name, JVMs' too: no hold ever had a greater fencing token. 0:
    /// there was none, or the store does not tell.
    std::uint64_t last_token = 0;
    /// The queue of a fair lock, the next one first; the writers of holdfast that wait for a
    /// read-write lock while others read. If they are very many, the first of them. Who waits for
    /// another lock, or to read, and a writer of Redisson's, listens and leaves no other trace.
    std::vector<lock_waiter> waiters{};
    std::optional<std::size_t> waiting{}; ///< so many are those; empty if the store does not tell
    /// False: nobody holds the lock, but it is somebody's turn. It is a fair lock, and only the
    /// first of `waiters` that still counts can take it.
    bool is_held = true;
};

/// The locks that `client::list()` found, in the order of their names.
struct lock_list {
    std::vector<lock_state> locks{};
    bool complete = true; ///< false: it stopped at its limit, or not all servers could be asked
    /// Of several servers that share out the names, those that could not be asked: why, for people.
    std::vector<std::string> unreachable{};
};

} // namespace holdfast
