// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/basic_mutex.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace holdfast {

/// Options of `quorum_mutex`.
struct quorum_options {
    std::optional<lease_time> lease{}; ///< overrides the first client's lease time
    recursion again = recursion::refused;
    /// Kind of the locks on the nodes. `plain`: compatible with Redisson's RedLock on the same
    /// servers. `token`: compatible with redsync and node-redlock. No other kind is allowed.
    lock_kind kind = lock_kind::plain;
    /// How long an attempt waits for the reply of a node: 1 ms to a quarter of the lease time. If
    /// the other nodes granted the lock, a vote that arrives later is added to the hold.
    duration node_timeout{50};
    /// The longest lease time that any client of these nodes uses for the lock. After a restart, a
    /// node's vote does not count for this time, because the node may have forgotten its grants.
    /// The default (empty) is the lease time of this object, which is also the minimum.
    std::optional<lease_time> longest_lease{};
    /// Promise of the user that every node keeps all its grants across a restart, because it writes
    /// each change to disk before it replies. If true, the vote of a restarted node counts at once.
    bool nodes_remember = false;
    /// Number of replicas of each node that must confirm its vote, and each renewal of the vote.
    /// Overrides `options::required_replicas` of the node's own client.
    std::optional<unsigned> required_replicas{};
};

/// Votes for a lease of a `quorum_mutex`: the number of nodes, the number of votes that make a
/// majority, and the number of votes that the lease has now.
struct quorum_votes {
    std::size_t nodes = 0;
    std::size_t majority = 0;
    std::size_t held = 0;
};

/// Lock on several independent servers (nodes). A client holds the lock while a majority of the
/// nodes has granted it to the client. This is the Redlock algorithm; the lock is compatible with
/// Redisson's RedLock.
///
///     holdfast::quorum_mutex stock{{a, b, c, d, e}, "stock:42"}; // five clients
///     if (stock.try_lock_for(2s)) …
///
/// *When to use it.* The lock works while a minority of the servers is down. But it has no fencing
/// tokens, and it is not safer than a lock on one server that writes each change to its disk.
/// docs/guarantees.md lists the assumptions of the lock and the events that break it. Use it if the
/// failure of any single server must not stop the lock.
///
/// *Votes.* All nodes are asked at the same time, and the replies of a majority are enough. A vote
/// counts if the node granted the lock in time, and has not restarted within the last
/// `longest_lease`. While the lock is held, missing and lost votes are requested again. The lock is
/// lost when fewer than a majority of the votes are valid. A release goes to all nodes that granted
/// the lock or may have granted it.
///
/// *Validity time.* `remaining()` of a lease returns for how long a majority of the nodes still
/// keeps the lock. The time counts from the sending of the requests. It is shortened by an
/// allowance for the drift of the clocks.
///
/// *Errors.* If a majority cannot be reached for `unavailable_timeout`, an attempt throws
/// `unreachable`, and the text names each node. unlock() reports `lease_lost` only if fewer than a
/// majority of the votes were still held. It reports `outcome_unknown` if fewer than a majority
/// acknowledged the release.
///
/// *Questions.* `is_locked()` returns true if no other client could get a majority now, for example
/// if three of five nodes are locked. `remaining_lease()` returns how long this will last.
/// `force_unlock()` removes the lock on all nodes. These functions throw `unreachable` if too few
/// nodes reply.
///
/// *Clients.* The first client runs the calls on its executor and reports the events. It must stay
/// open as long as the lock is used, but its server may be down. The lock works best if all clients
/// share one executor. Each client must use a different server. If two clients use the same server,
/// the constructor or a later call throws `invalid_argument`. With fewer than three nodes the lock
/// works, but it reports the event `impaired` to the observer once.
///
/// Thread safety: any thread may call every member function. The clients must live as long as this
/// object.
class HOLDFAST_EXPORT quorum_mutex : public basic_mutex {
public:
    static constexpr std::size_t nodes_max = 15;
    using nodes = std::vector<std::reference_wrapper<client>>;

    /// Creates the lock object; sends nothing. Throws `errc::invalid_argument` if there are no
    /// nodes or more than `nodes_max`, if a client is given twice, or if the name or an option is
    /// not allowed.
    quorum_mutex(const nodes&, lock_name, quorum_options = {});

    using basic_mutex::async_lock;

    /// Completes with a second lease for the hold that the lease `outer` owns; see
    /// `recursive_mutex::async_lock`. Fails with `already_held` if this lock does not have the
    /// option `recursion::counted`.
    template <asio::completion_token_for<void(error_code, lease)> Token>
    auto async_lock(const lease& outer, Token&& token) {
        return initiate_share(outer, std::forward<Token>(token));
    }

    /// Returns the current votes of a lease of a quorum_mutex. For the lease of another lock, all
    /// numbers are zero.
    static quorum_votes votes(const lease&) noexcept;
};

} // namespace holdfast
