// SPDX-License-Identifier: Apache-2.0
// Types in which a store reports the state of its locks. The holder of a lock can be a holdfast
// client or a Redisson client.
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

/// Description of a holdfast client. The client itself writes it to the store
/// (`options::announce`).
struct client_info {
    std::string host{};
    std::int64_t pid = 0; ///< process id of the client, on its host or in its container
    std::string program{};
    std::string label{}; ///< label of the client, from `options::label`
    /// Time at which the client was created, in seconds since 1970, by the client's clock.
    std::chrono::seconds since{};
};

/// An owner of a lock, which can be a holdfast client, a Redisson client or another program.
struct lock_owner {
    /// Text that identifies the owner at the store: `<uuid>:<number>` for holdfast,
    /// `<uuid>:<thread>` for Redisson.
    std::string text{};
    /// How many times the owner has locked the lock. For a holdfast owner the value is always 1,
    /// because holdfast counts repeated calls inside the client.
    std::int64_t count = 1;
    /// True if the owner is a holdfast client. False if it is a Redisson client, or another program
    /// that writes Redisson's format. For a token lock, false means any other program.
    bool is_holdfast = false;
    std::optional<client_info> client{}; ///< set if a holdfast client has described itself
    /// For a read-write lock: true if the owner has the write lock, false if it has a read lock.
    bool writes = false;
    /// Remaining time of this reader's own lease. Zero means that the lease has expired, and that
    /// the next writer removes the reader. Empty if the reader has no lease of its own, so that its
    /// hold ends with the lease of the whole lock. Also empty if the store does not report the
    /// time.
    std::optional<duration> remaining{};
    /// When the owner acquired the lock: milliseconds since 1970, on the server's clock. Empty: the
    /// owner's client does not report it. Clients report only holds that have lasted for a second.
    std::optional<std::chrono::milliseconds> held_since{};
    /// Time from `held_since` to the reply of the server. Set if `held_since` is set.
    std::optional<duration> held_for{};
};

/// A waiter for a lock. Either the waiter has an entry at the lock, for example in the queue of a
/// fair lock, or the waiter's client lists it in its own description (`options::announce`).
struct lock_waiter {
    /// Text that identifies the waiter at the store, in the form of `lock_owner::text`. If
    /// `registered` is false, it is only the uuid of the waiter's client.
    std::string text{};
    bool is_holdfast = false;            ///< true if the waiter is a holdfast client
    std::optional<client_info> client{}; ///< set if the waiter's client has described itself
    /// How long the waiter stays in the queue if it sends no more requests. Zero means that this
    /// time has passed, and that the next request of any client removes the waiter. Empty if the
    /// store does not report the time.
    std::optional<duration> remaining{};
    /// For the queue of a fair lock: whether the waiter is subscribed to its notification. A waiter
    /// that is not subscribed has just arrived, has lost its connection, or is dead. Empty if the
    /// store does not report whether it is subscribed.
    std::optional<bool> listens{};
    /// False: the lock has no entry of this waiter, and only the waiter's client reports it.
    bool registered = true;
    /// Kind of the lock that the waiter wants: "plain", "spin", "fenced", "fair", "read", "write",
    /// "token" or "permit". Empty: the waiter's client does not report it.
    std::string kind{};
    /// When the call began to wait: milliseconds since 1970, on the server's clock. Empty: the
    /// waiter's client does not report it. Clients report only calls that have waited for a second.
    std::optional<std::chrono::milliseconds> waiting_since{};
    /// Time from `waiting_since` to the reply of the server. Set if `waiting_since` is set.
    std::optional<duration> waiting_for{};
    /// Time until the timeout of the waiting call. Empty: the call has no timeout, or the waiter's
    /// client does not report it.
    std::optional<duration> timeout_left{};
};

/// The type of the value that the store has under a lock's name.
enum class key_kind : std::int32_t {
    /// Lock with one owner: `mutex`, `recursive_mutex`, and Redisson's RLock, fair lock, spin lock
    /// and fenced lock.
    lock = 1,
    read_write_lock, ///< Redisson's RReadWriteLock
    other,           ///< any other type, also a kind of lock that this version does not know
    token_lock,      ///< token_mutex; the locks of redis-py, redsync and node-redlock
};

/// Returns "lock", "read-write lock", "other" or "token lock".
HOLDFAST_EXPORT const char* to_string(key_kind) noexcept;

/// State of one lock, as the store reported it in its reply.
struct lock_state {
    std::string name{}; ///< name at the store, with the client's prefix
    key_kind kind = key_kind::lock;
    std::string type{}; ///< the store's own name for the type of the value: "hash", "string", …
    /// Owners of the lock. If a read-write lock has a writer, the writer comes first. Empty for a
    /// lock with very many readers.
    std::vector<lock_owner> owners{};
    /// Remaining time of the lease. Empty if the lease never expires.
    std::optional<duration> remaining{};
    /// Number of connections that are subscribed to the release of the lock. Each connection
    /// belongs to a client that has waiting threads, or had them a few seconds ago. For a fair
    /// lock, the number also includes every entry of `waiters`. Empty if the store does not report
    /// the number.
    std::optional<std::size_t> listeners{};
    /// Fencing token of the current hold, if the store assigns a token to each grant (MySQL,
    /// ZooKeeper). It is 0 if the store does not report a token.
    std::uint64_t token = 0;
    /// Greatest fencing token that the fenced lock with this name ever had; the holder may have
    /// been a JVM. It is 0 if the lock never had a token, or if the store does not report the
    /// token.
    std::uint64_t last_token = 0;
    /// Waiters of the lock. First come the waiters that have an entry at the lock: the queue of a
    /// fair lock in its order, or the holdfast writers that wait for a read-write lock. If there
    /// are very many, only the first are in the list. Then come the waiters that only their clients
    /// report (`lock_waiter::registered` is false), with the oldest first. Redisson's waiters that
    /// only subscribe to the release are not in the list.
    std::vector<lock_waiter> waiters{};
    /// Number of waiters that have an entry at the lock. Empty: the store does not report it. The
    /// waiters that only their clients report are not counted.
    std::optional<std::size_t> waiting{};
    /// False if nobody holds the fair lock, but the store reserves it for the next waiter. Only one
    /// waiter can then acquire the lock: the first waiter in `waiters` whose time in the queue has
    /// not expired.
    bool is_held = true;
};

/// The locks that `client::list()` found, sorted by name.
struct lock_list {
    std::vector<lock_state> locks{};
    bool complete = true; ///< false: the list reached its limit, or some servers did not reply
    /// One error text for each server that could not be asked. Empty if the locks are on one
    /// server.
    std::vector<std::string> unreachable{};
    /// Number of requests that `client::list_active()` sent to the store. 0: not counted.
    std::size_t requests = 0;
};

/// Order of the locks in the result of `client::list_active()`.
enum class active_order {
    wait, ///< the oldest wait first, then the oldest hold
    held, ///< the oldest hold first, then the oldest wait
    name  ///< by name
};

} // namespace holdfast
