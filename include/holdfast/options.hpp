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

/// How far a client may pass a lock around among its own waiters before the store hears of it. A
/// waiter of the same process then has it in microseconds instead of two round trips; other
/// processes wait meanwhile. Never beyond what the lease allows, and never for holds with a lease
/// time of their own. Both are counted from when the store granted the lock, and where other
/// clients are known to wait for it the time is half. Zero: the store hears of every release.
struct hand_off {
    unsigned times_max = 10'000;
    duration within{20}; ///< 0 ms to 1 day
};

/// How a client reaches its store, and how patient it is. Every length of time is in whole
/// milliseconds and has the bounds that stand beside it, both allowed. `client`'s constructor
/// checks them; it throws `errc::invalid_argument` and names the field and what is allowed.
///
///     client c{options{.url = "redis://db.internal/2", .prefix = "shop:"}};
struct options {
    /// redis://, unix://, memory:NAME, with parameters (`?lease_time=10s&prefix=shop:`) for most of
    /// what is below, which then win over the field. All of them: docs/url.md.
    std::string url = "redis://127.0.0.1:6379";

    /// Who the client is, where `url` does not say it: a user or a password in the URL wins over
    /// this. Keeps passwords out of URLs, and lets them change (credentials.hpp).
    credential_provider credentials{};

    /// A store given as an object; then neither `url` nor `credentials` is looked at.
    store_factory store{};

    /// Put before every name, in keys and channels alike. Redisson calls this a NameMapper.
    std::string prefix{};
    /// A mapping of the user's own, instead of `prefix`. Must be pure, thread-safe and injective.
    std::function<std::string(std::string_view)> name_mapper{};

    /// How long a hold outlives its holder, where the lock says nothing else. Renewed at a third
    /// of it ("watchdog"). Redisson's lockWatchdogTimeout. 1 ms to 3652 days (ten years).
    duration lease_time = std::chrono::seconds{30};

    /// Renewal of a hold stops that long after it was granted; nothing: never. 1 ms and more.
    std::optional<duration> max_hold{};

    // Patience: 0 ms and more; `duration::max()` is for ever.

    /// How long a wait survives a store that cannot be reached before it fails `unreachable`.
    /// Nothing: as long as an outage of such a store usually takes, which is 10 s for all there
    /// are.
    std::optional<duration> unavailable_patience{};
    /// How long `unlock()` waits for its answer. Afterwards the release is repeated in the
    /// background until it is acknowledged or the lease has ended.
    duration release_patience = std::chrono::seconds{3};
    /// How long `close()` lets holders finish before it stops renewing for them.
    duration close_patience = std::chrono::seconds{3};
    /// `close()` releases what is still held after `close_patience`, under the feet of whoever
    /// still works with it. Otherwise it ends with its lease.
    bool release_on_close = false;

    /// A waiter that hears nothing asks again after at most this (jittered): correctness never
    /// depends on a wake-up arriving. 1 ms to 1 day.
    duration poll_bound = std::chrono::seconds{5};

    struct hand_off hand_off {};

    /// Calls of one client that may wait for locks at the same time; more fail `overloaded`.
    std::size_t waiters_max = 1'000'000;

    /// The executor given to the client runs one thing at a time by itself (an io_context that one
    /// thread runs, a strand): the client then puts no strand of its own around it. Faster, and
    /// wrong if it is not so.
    bool executor_is_serial = false;

    std::string label{}; ///< who this is, for people; shown in the server's list of clients

    /// While this client holds locks, the server knows its host, process id, program and label: one
    /// key per client, written beside the locks and never instead of one, gone when the client
    /// closes or soon after it died (docs/protocol/client.md). Then `client::inspect` and
    /// `holdfast ls` can tell who holds a lock.
    bool announce = true;

    std::shared_ptr<holdfast::observer> observer{};

    /// 64 random bits per call, thread-safe; for identity and jitter. Empty: the system's.
    std::function<std::uint64_t()> random{};
};

} // namespace holdfast
