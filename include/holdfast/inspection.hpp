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

/// Description of a holdfast client. The client itself writes this description to the store
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
    /// When the owner acquired the lock: milliseconds since 1970, on the server's clock. Empty if
    /// the owner's client does not report the time. A client reports a hold only after the hold has
    /// lasted for a second.
    std::optional<std::chrono::milliseconds> held_since{};
    /// How long the owner had held the lock when the server replied. Empty if `held_since` is
    /// empty.
    std::optional<duration> held_for{};
};

/// A waiter for a lock. Either the waiter has an entry at the lock, for example in the queue of a
/// fair lock, or the waiter's client lists it in its own description (`options::announce`).
struct lock_waiter {
    /// Text that identifies the waiter at the store, in the form of `lock_owner::text`. If the
    /// store did not list the waiter's entry, the text is only the uuid of the waiter's client.
    std::string text{};
    bool is_holdfast = false;            ///< true if the waiter is a holdfast client
    std::optional<client_info> client{}; ///< set if the waiter's client has described itself
    /// How long the waiter stays in the queue if it sends no more requests. Zero means that this
    /// time has passed, and that the next request of any client removes the waiter. Empty if the
    /// store does not report the time.
    std::optional<duration> remaining{};
    /// For the queue of a fair lock: whether the waiter is subscribed to its notification. A waiter
    /// that is not subscribed has just arrived, has lost its connection, or is dead. Empty if the
    /// store does not report this.
    std::optional<bool> listens{};
    /// False if the lock has no entry of this waiter. In that case, only the waiter's client
    /// reports the waiter.
    bool registered = true;
    /// Kind of the lock that the waiter wants: "plain", "spin", "fenced", "fair", "read", "write",
    /// "token" or "permit". Empty if the waiter's client does not report the kind.
    std::string kind{};
    /// When the call began to wait: milliseconds since 1970, on the server's clock. Empty if the
    /// waiter's client does not report the time. A client reports a call only after the call has
    /// waited for a second.
    std::optional<std::chrono::milliseconds> waiting_since{};
    /// How long the call had waited when the server replied. Empty if `waiting_since` is empty.
    std::optional<duration> waiting_for{};
    /// Time that is left until the timeout of the waiting call. Empty if the call has no timeout,
    /// or if the waiter's client does not report the timeout.
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
    /// Owners of the lock. If a read-write lock has a writer, the writer comes first. The list is
    /// empty if the lock has very many readers.
    std::vector<lock_owner> owners{};
    /// Remaining time of the lease. Empty if the lease never expires.
    std::optional<duration> remaining{};
    /// Number of connections that are subscribed to the release of the lock. Each connection
    /// belongs to a client that has waiting threads, or had such threads a few seconds ago. For a
    /// fair lock, the number also includes every entry of `waiters`. Empty if the store does not
    /// report the number.
    std::optional<std::size_t> listeners{};
    /// Fencing token of the current hold, if the store assigns a token to each grant (MySQL,
    /// ZooKeeper). The value is 0 if the store does not report a token.
    std::uint64_t token = 0;
    /// Greatest fencing token that the fenced lock with this name ever had; the holder may have
    /// been a JVM. The value is 0 if the lock never had a token, or if the store does not report
    /// the token.
    std::uint64_t last_token = 0;
    /// Waiters of the lock. First come the waiters that have an entry at the lock: the queue of a
    /// fair lock in its order, or the holdfast writers that wait for a read-write lock. If there
    /// are very many such waiters, the list has only the first of them, and at most 100 others that
    /// their clients report. Then come the waiters that only their clients report
    /// (`lock_waiter::registered` is false): the oldest 100, with the oldest first. Redisson's
    /// waiters that only subscribe to the release are not in the list.
    std::vector<lock_waiter> waiters{};
    /// Number of waiters that have an entry at the lock. The waiters that only their clients report
    /// are not counted. Empty if the store does not report the number.
    std::optional<std::size_t> waiting{};
    /// Number of waiters that only their clients report, also of those that are not in `waiters`.
    std::size_t reported_waiting = 0;
    /// False if nobody holds the fair lock, but the store reserves it for the next waiter. Only one
    /// waiter can then acquire the lock: the first waiter in `waiters` whose time in the queue has
    /// not expired.
    bool is_held = true;
};

/// Data about a lock that `client::inspect()` reads.
enum class lock_details : std::int32_t {
    /// The data that the store has about the lock, and also the holds and waits that clients
    /// report for it (`options::announce`). On Redis, the call reads the descriptions of all
    /// clients that report something, at most 1,000.
    all = 1,
    /// Only the data that the store has about the lock, and who its owners are. On Redis, the
    /// call sends one or two requests.
    stored,
};

/// The locks that `client::list()` found, sorted by name.
struct lock_list {
    std::vector<lock_state> locks{};
    bool complete = true; ///< false: the list reached its limit, or some servers did not reply
    /// One error text for each server that could not be asked. The list is always empty if all
    /// locks are on one server.
    std::vector<std::string> unreachable{};
    /// Number of requests that `client::list_active()` sent to the store. 0 means that the requests
    /// were not counted.
    std::size_t requests = 0;
};

/// Order of the locks in the result of `client::list_active()`.
enum class active_order {
    wait, ///< the oldest wait first, then the oldest hold
    held, ///< the oldest hold first, then the oldest wait
    name  ///< by name
};

} // namespace holdfast
