// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace holdfast {

/// For `quorum_mutex`.
struct quorum_options {
    std::optional<lease_time> lease{}; ///< instead of the first client's
    recursion again = recursion::refused;
    /// `plain`: the locks of Redisson's RedLock over the same servers. `token`: those of redsync
    /// and node-redlock. No other kind.
    lock_kind kind = lock_kind::plain;
    /// For so long an attempt waits for the answer of a node; what comes later is still taken, if
    /// the lock is held by then. 1 ms to a quarter of the lease time.
    duration node_patience{50};
    /// The longest lease that any client of these nodes uses for the lock. For so long a node that
    /// was restarted has no vote, since it may have forgotten what it gave away. Empty: the lease
    /// time of this object. Not shorter than that.
    std::optional<lease_time> longest_lease{};
    /// True: every node remembers all that it granted when it is restarted (it writes each change
    /// to its disk before it answers), so a restarted node votes at once.
    bool nodes_remember = false;
    /// So many replicas of each node must confirm its vote, and each renewal of it: instead of the
    /// number of the node's own client (options.hpp).
    std::optional<unsigned> required_replicas{};
};

/// How many nodes are asked, how many must agree, and how many do now.
struct quorum_votes {
    std::size_t nodes = 0;
    std::size_t majority = 0;
    std::size_t held = 0;
};

/// One lock on several independent servers: whoever has a majority of them holds it. Redlock;
/// Redisson's RedLock.
///
///     holdfast::quorum_mutex stock{{a, b, c, d, e}, "stock:42"}; // five clients
///     if (stock.try_lock_for(2s)) …
///
/// It goes on while a minority of the servers is down. It is not safer than one server that writes
/// to its disk, and it cannot give fencing tokens: docs/guarantees.md says which assumptions it
/// stands on, and what breaks it. Use it where no single server may be the one that is missing.
///
/// All nodes are asked at once, and the answer of a majority is enough. A vote counts if the node
/// granted the lock in time and did not start again within `longest_lease` before. `remaining()` of
/// a lease is the *validity time*: so long a majority of the nodes keeps the lock, from when they
/// were asked, less the drift of the clocks. While it is held, votes that are missing or lost are
/// asked for again; it is lost when fewer than a majority are believed. A release goes to all nodes
/// that have, or may have, granted it.
///
/// *When a majority cannot be asked* for `unavailable_patience`, an attempt throws `unreachable`,
/// and the text names each node. unlock() reports `lease_lost` only if fewer than a majority were
/// still held, and `outcome_unknown` if fewer than a majority acknowledged the release.
/// *Questions*: `is_locked()`: so many nodes report it held that nobody else could have a majority;
/// `remaining_lease()`: for so long they do; `force_unlock()` takes it away on all nodes. They
/// throw `unreachable` if too few nodes answer.
///
/// Its calls run on the executor of the first client, and its events are reported there: that
/// client must be open for as long as the lock is used, and its server may be down as any other.
/// The lock works best when all clients share one executor. Each client must lead to another
/// server: `invalid_argument` if two are the same, at the constructor or when the servers have said
/// so. With fewer than three nodes it works, and the observer is told once that it is `impaired`.
/// Thread safety: as `basic_mutex`. The clients must live as long as this object.
class HOLDFAST_EXPORT quorum_mutex : public basic_mutex {
public:
    static constexpr std::size_t nodes_max = 15;
    using nodes = std::vector<std::reference_wrapper<client>>;

    /// No I/O. Throws `errc::invalid_argument` if there are no nodes or more than `nodes_max`, if a
    /// client is there twice, or if the name or an option is not allowed.
    quorum_mutex(const nodes&, lock_name, quorum_options = {});

    using basic_mutex::async_lock;

    /// As of `recursive_mutex`, with `recursion::counted`; else it completes with `already_held`.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }

    /// Of a lease of a quorum_mutex, now. All zero: it is no such lease.
    static quorum_votes votes(const lease&) noexcept;
};

} // namespace holdfast
