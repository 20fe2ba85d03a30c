// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/credentials.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/store.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

/// Limits for the local hand-over of a lock: on release, the client passes the lock to the next
/// waiter of this client without a request to the store. A hand-over takes microseconds instead of
/// two round trips, but other processes wait longer. When one of the limits is reached, the next
/// release goes to the store. Both limits count from the store's last grant of the lock.
///
/// A release always goes to the store in these cases: a limit is zero, the lease has expired, or
/// the lease of the old or the new holder is not renewed. It also goes there if more time of the
/// lease is left than the lease time that the waiter wants.
struct hand_off {
    unsigned times_max = 10'000; ///< maximum number of hand-overs
    duration within{20}; ///< maximum time, 0 ms to 1 day; halved if other clients are known to wait
};

/// Options of a client: how it reaches its store, and how long its calls wait. Every length of time
/// is in whole milliseconds, within the bounds that its comment gives (both bounds are allowed).
/// The constructor of `client` checks all values. For a wrong value, it throws
/// `errc::invalid_argument`; the text names the field and its bounds.
///
///     client c{options{.url = "redis://db.internal/2", .prefix = "shop:"}};
struct options {
    /// URL of the store: redis://, unix://, zk://, memory:NAME and others, or mysql:// in a program
    /// that uses holdfast::mysql. Parameters (`?lease_time=10s&prefix=shop:`) override most of the
    /// fields below. docs/url.md lists all schemes and parameters.
    std::string url = "redis://127.0.0.1:6379";

    /// Provider of the user name and the password. A user or a password in `url` overrides the
    /// value from the provider. With a provider, URLs need not contain passwords, and a password
    /// can change while the client runs (credentials.hpp).
    credential_provider credentials{};

    /// Factory of the store: the result of a `make_store` function, or your own function. If it is
    /// set, `url` and `credentials` are not used.
    store_factory store{};

    /// Text that the client puts before every lock name at the store. In Redisson, a NameMapper
    /// does this.
    std::string prefix{};
    /// Your own function that maps each lock name to the name at the store. If set, it is used
    /// instead of `prefix`. The function must be pure, thread-safe and injective (two names never
    /// become the same name).
    std::function<std::string(std::string_view)> name_mapper{};

    /// Default lease time: if a holder dies, its lock is free after at most this time. A lock or a
    /// call may set a lease time of its own. A live client renews its leases every third of the
    /// lease time ("watchdog"). Redisson calls this option lockWatchdogTimeout. For ZooKeeper, see
    /// docs/guarantees.md. Allowed: 1 ms to 3652 days.
    duration lease_time = std::chrono::seconds{30};

    /// Number of replicas that must confirm a grant or a renewal before the client relies on it. A
    /// failover to one of these replicas then does not lose the lock. While fewer replicas confirm,
    /// `lock()` waits, and a held lock is lost at the end of its validity (docs/topologies.md). The
    /// options of a lock override this value. If you require more replicas than the server has, no
    /// lock is ever granted. Allowed: 0 to 100, but above 0 only if the store has replicas.
    unsigned required_replicas = 0;

    /// Maximum time for which a lock is renewed, counted from its grant. After that time, the
    /// renewal stops and the lease expires. The caller can still prolong the lease with `extend()`.
    /// If this option is empty, there is no limit. Allowed: 1 ms and more.
    std::optional<duration> max_hold{};

    // The fields `unavailable_timeout`, `release_timeout` and `close_timeout` may be 0 ms and more;
    // `duration::max()` means no timeout.

    /// How long a call retries while the store cannot be reached. After that time, the call fails,
    /// usually with `unreachable`. The default (empty) is 10 s, or 30 s if another server can take
    /// over (Sentinel, Cluster). Blocking calls that only read, like `inspect()`, retry only if
    /// another server can take over. The time of a pause of the whole process (SIGSTOP, a suspended
    /// machine) does not count.
    std::optional<duration> unavailable_timeout{};
    /// How long `unlock()` waits for the reply of the store. If a request is under way at that
    /// time, `unlock()` also waits for the end of the request, at most one command timeout longer.
    /// After that, the client repeats the release in the background, until the store acknowledges
    /// it or the lease has expired.
    duration release_timeout = std::chrono::seconds{3};
    /// How long `close()` waits for holders to release their locks before it stops renewal.
    duration close_timeout = std::chrono::seconds{3};
    /// If true, `close()` releases the locks that are still held after `close_timeout`, even if a
    /// thread still works under such a lock. If false, these locks become free when their leases
    /// expire.
    bool release_on_close = false;

    /// Longest time between two polls of a waiter; jitter shortens this time at random. A waiter
    /// polls even if it receives no notification, so correctness never depends on notifications.
    /// Allowed: 1 ms to 1 day.
    duration poll_bound = std::chrono::seconds{5};

    struct hand_off hand_off {};

    /// Maximum number of calls of one client that wait for locks at the same time. Further calls
    /// fail with `overloaded`. Allowed: 1 and more.
    std::size_t waiters_max = 1'000'000;

    /// Promise of the user that the executor of the client never runs two handlers at the same time
    /// (a strand, or an io_context with one thread). If true, the client adds no strand of its own,
    /// which is faster. If the executor does run two handlers at the same time, the behaviour is
    /// undefined.
    bool executor_is_serial = false;

    std::string label{}; ///< free text that describes the client; shown by `holdfast ls`

    /// If true, the client stores its host, process id, program and label at the server while it
    /// holds locks or waits in a queue. `client::inspect` and `holdfast ls` can then show who holds
    /// a lock and who is next. No lock depends on this information. On Redis, the information is a
    /// key that expires soon after the client has died (docs/protocol/client.md). On other stores,
    /// the information is part of the row or the node of a lock.
    bool announce = true;

    std::shared_ptr<holdfast::observer> observer{};

    /// Function that returns 64 random bits. The client uses these bits for identities and for
    /// jitter (random changes of pauses). The function must be thread-safe. If this option is
    /// empty, the client uses the random numbers of the system.
    std::function<std::uint64_t()> random{};
};

} // namespace holdfast
