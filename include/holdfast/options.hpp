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

/// How often, and for how long, a client may pass a lock from one of its own waiters to the next
/// without a request to the store. The next one then has it in microseconds instead of two round
/// trips; other processes wait meanwhile. A lock is not passed on beyond its lease, nor if one of
/// the two holds is not renewed. Both limits count from the store's grant; if other clients are
/// known to wait for the lock, the time is half. Zero: every release is sent to the store.
struct hand_off {
    unsigned times_max = 10'000;
    duration within{20}; ///< 0 ms to 1 day
};

/// How a client reaches its store, and how long it waits. Every length of time is in whole
/// milliseconds, within the bounds beside it (both are allowed). `client`'s constructor checks
/// them: it throws `errc::invalid_argument`, and the text names the field and its bounds.
///
///     client c{options{.url = "redis://db.internal/2", .prefix = "shop:"}};
struct options {
    /// redis://, unix://, zk:// and others, mysql:// with its component, memory:NAME. Parameters
    /// (`?lease_time=10s&prefix=shop:`) override most of the fields below. All: docs/url.md.
    std::string url = "redis://127.0.0.1:6379";

    /// User name and password, unless `url` has them: a user or a password in the URL overrides the
    /// one from here. Keeps passwords out of URLs, and lets them change (credentials.hpp).
    credential_provider credentials{};

    /// The store, from a `make_store` or elsewhere; `url` and `credentials` are then not used.
    store_factory store{};

    /// Is put before every name, in all that the store has. Redisson calls this a NameMapper.
    std::string prefix{};
    /// Your own mapping of names, instead of `prefix`. It must be pure, thread-safe and injective.
    std::function<std::string(std::string_view)> name_mapper{};

    /// After this time a lock is free when its holder has died, unless the lock or the call has a
    /// lease time of its own. A living holder renews it after a third of that time ("watchdog").
    /// Redisson's lockWatchdogTimeout. ZooKeeper: docs/guarantees.md. 1 ms to 3652 days.
    duration lease_time = std::chrono::seconds{30};

    /// So many replicas of the server must have confirmed a grant or a renewal before it counts:
    /// then a failover to one of them does not lose it. With fewer, `lock()` waits and a hold ends
    /// with its term (docs/topologies.md). A lock's own options override it. Never more than the
    /// server has: then nothing is granted. 0 to 100; above 0 only where the store has replicas.
    unsigned required_replicas = 0;

    /// This long after it was granted, a hold is not renewed any more, and ends with its term.
    /// Empty: no limit. 1 ms and more.
    std::optional<duration> max_hold{};

    // Patience: 0 ms and more; `duration::max()` is for ever.

    /// How long a call waits for a store that cannot be reached before it fails, as a rule with
    /// `unreachable`. Empty: the usual length of an outage, which is 10 s, and 30 s where another
    /// server may have to take over (Sentinel, Cluster).
    std::optional<duration> unavailable_patience{};
    /// How long `unlock()` waits for its answer. After that, the release is repeated in the
    /// background until it is acknowledged or the lease has ended.
    duration release_patience = std::chrono::seconds{3};
    /// How long `close()` waits for holders to release before it stops renewing.
    duration close_patience = std::chrono::seconds{3};
    /// True: after `close_patience`, `close()` releases the locks that are still held, even if
    /// somebody still works under them. False: they end with their leases.
    bool release_on_close = false;

    /// A waiter that gets no message asks again after this time at the latest (jittered):
    /// correctness never depends on a message. 1 ms to 1 day.
    duration poll_bound = std::chrono::seconds{5};

    struct hand_off hand_off {};

    /// How many calls of one client may wait for locks at the same time; further calls fail with
    /// `overloaded`. 1 and more.
    std::size_t waiters_max = 1'000'000;

    /// True: the executor given to the client runs one thing at a time by itself (an io_context
    /// that one thread runs, a strand), and the client puts no strand of its own around it. That is
    /// faster, but the client breaks if the executor runs two things at a time.
    bool executor_is_serial = false;

    std::string label{}; ///< a name for people to read; shown by `holdfast ls`

    /// True: while this client holds locks, or has a place in the queue of one, the server has its
    /// host, process id, program and label, so that `client::inspect` and `holdfast ls` can show
    /// who holds a lock and who is next. No lock depends on that. On Redis it is a key, which ends
    /// soon after the client has died (docs/protocol/client.md); elsewhere it is part of the row or
    /// the node of a hold.
    bool announce = true;

    std::shared_ptr<holdfast::observer> observer{};

    /// Returns 64 random bits, for identity and jitter; must be thread-safe. Empty: the system's.
    std::function<std::uint64_t()> random{};
};

} // namespace holdfast
