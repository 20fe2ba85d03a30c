// SPDX-License-Identifier: Apache-2.0
// Requests about locks. There is one function for each script, and a table with the functions of
// each kind of lock (`verbs_of`).
#pragma once

#include "redis/node.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

using remote::attempt;
using remote::verdict;

/// Outcome of a release.
struct released {
    bool was_ours = false;
    bool denied_message = false; ///< true: the user has no permission to publish to the waiters
    std::int64_t receivers = 0;  ///< number of connections that were notified
    bool heard_late = false;     ///< true: some subscribers may have missed the message
    bool handed_on = false;      ///< true: the lock was granted to a waiting client
};

/// Result of a query about an owner's hold. `elsewhere` means that another server has the key of
/// the lock.
enum class standing : std::uint8_t { gone = 0, held = 1, elsewhere = 2 };

/// Outcome of a renewal of several holds.
struct renewed_holds {
    std::vector<standing> each;
    /// Remaining lease of each hold before the renewal; see `answer`. Empty if the script does not
    /// return these times.
    std::vector<duration> left_before{};
    /// Why too few replicas confirmed the renewal. Empty if enough replicas confirmed it.
    std::string unconfirmed{};
};

/// Row of the table of lock kinds: the functions of one kind (`verbs`). The arguments must live
/// until the request has completed.
struct verbs {
    /// Takes the lock. If the owner already holds the lock, grants it again. If the server executes
    /// the request after the deadline, it replies "late" and does nothing.
    asio::awaitable<attempt> (*take)(node&, const ask&, server_deadline);

    /// Ends the owner's hold, or removes the owner from the queue. A repeated call does no harm.
    asio::awaitable<released> (*release)(node&, const hold&);

    /// Renews several holds with one script, and returns which holds still exist. All holds must
    /// belong to one client, have this same function as their `renew`, and require the same number
    /// of replicas. If `at` is set, the request goes to the server `at`, and the names may be in
    /// any slots. If `at` is empty, all names must be in one slot.
    asio::awaitable<renewed_holds> (*renew)(node&, std::optional<shard> at, hold_list,
                                            const renewal_options&);

    /// Function that returns the channel on which waiters are notified of releases. Null if there
    /// is no channel; waiters then poll.
    channel_name (*told_on)(const hold&);
    linger afterwards = linger::usual;
    /// Whether waiting clients stand in a queue for a direct hand-off (lock_in_queue()).
    bool has_queue = false;
};

/// Returns the row of a kind of lock, or null if this store does not support the kind.
const verbs* verbs_of(lock_kind) noexcept;

/// Returns the row of a kind of lock at a server. With `options::direct_hand_off`, a plain lock and
/// a fenced lock have other functions. Returns null if this store does not support the kind.
const verbs* verbs_of(lock_kind, const node&) noexcept;

// Requests about plain locks. Only this file knows the keys and arguments of the scripts.

// `verbs` has a pointer to each of the next functions, and a comment that explains it.
asio::awaitable<attempt> lock_mutex(node&, const ask&, server_deadline);
asio::awaitable<released> release_mutex(node&, const hold&);

// Requests about plain and fenced locks, if the option `direct_hand_off` is on
// (docs/protocol/mutex.md).

/// Length of the lease that a release grants to the next client in the queue. That client then
/// prolongs the lease. If it cannot use the grant, no other client gets the lock for this time.
inline constexpr duration handed_over_lease{2000};

/// Longest time between two requests of a client in the queue. It is shorter than
/// `handed_over_lease`, because a client counts the validity of a grant from its last request.
inline constexpr duration queue_poll_bound{1000};

/// Number of fencing tokens that an owner in the queue gets if it needs more than one. The number
/// is fixed, because a release grants the lock without a request of the owner.
inline constexpr std::uint32_t queue_tokens = 64;

/// Takes the lock. If the lock is busy and `number` is not 0, the owner joins the queue
/// (`attempt::queued` says whether it did). `number` is the number of this request; each request
/// has the next number. For a fenced lock, `ask::tokens` must be 1 or `queue_tokens`.
asio::awaitable<attempt> lock_in_queue(node&, const ask&, server_deadline, std::uint64_t number);

/// Returns the message by which a release grants the lock to an owner whose last request had this
/// number. If the lock is fenced, the message of the release has a space and the fencing token at
/// its end, too. The queue stores the numbers modulo 1024. So from number 1024 on, an old message
/// could have the same text; the function then returns an empty text, and the owner has to confirm
/// a grant with a request.
std::string grant_message(const owner_id&, std::uint64_t number);

/// Reads a message of the inbox. `expected` is the result of grant_message(). The message of a
/// fenced lock must be this text, a space and the fencing token; the function then returns the
/// token. The message of another lock must be exactly this text; the function then returns 0.
/// Returns nothing for any other message.
std::optional<std::uint64_t> token_in_grant(lock_kind, std::string_view message,
                                            std::string_view expected);

// `verbs` has a pointer to each of the next functions, and a comment that explains it.
asio::awaitable<attempt> lock_outside_queue(node&, const ask&, server_deadline);
asio::awaitable<released> release_to_queue(node&, const hold&);

// Requests about spin locks. Waiters of a spin lock get no notifications; instead, they record at
// the server that they are waiting.
asio::awaitable<attempt> lock_spin(node&, const ask&, server_deadline);
asio::awaitable<released> release_spin(node&, const hold&);
asio::awaitable<renewed_holds> renew_leases(node&, std::optional<shard> at, hold_list,
                                            const renewal_options&);

// Requests about locks with fencing tokens, if they differ from the requests about plain locks.

/// Takes the lock; see `verbs::take`.
asio::awaitable<attempt> lock_fenced(node&, const ask&, server_deadline);

/// Returns the greatest token that was granted, or reserved for grants; 0 if there was none.
asio::awaitable<std::uint64_t> last_token(node&, const lock_name&);

// Requests about fair locks, with the keys of Redisson's RedissonFairLock (docs/protocol/fair.md).

// `verbs` has a pointer to each of the next functions, and a comment that explains it.
asio::awaitable<attempt> lock_fair(node&, const ask&, server_deadline);
asio::awaitable<released> release_fair(node&, const hold&);

// Requests about read-write locks. Only this file knows the keys and arguments of the scripts.
// Write holds are renewed together with plain locks (`renew_leases`).

// `verbs` has a pointer to each of the next functions, and a comment that explains it.
asio::awaitable<attempt> lock_read(node&, const ask&, server_deadline);
asio::awaitable<released> release_read(node&, const hold&);
asio::awaitable<renewed_holds> renew_reads(node&, std::optional<shard> at, hold_list,
                                           const renewal_options&);
asio::awaitable<attempt> lock_write(node&, const ask&, server_deadline);
asio::awaitable<released> release_write(node&, const hold&);

// Requests about token locks. A token lock is a string with the token of its owner: `SET key token
// NX PX`.

// `verbs` has a pointer to each of the next functions, and a comment that explains it.
asio::awaitable<attempt> lock_token(node&, const ask&, server_deadline);
asio::awaitable<released> release_token(node&, const hold&);
asio::awaitable<renewed_holds> renew_tokens(node&, std::optional<shard> at, hold_list,
                                            const renewal_options&);

/// Gives a hold of any kind but `read` and `permit` to the owner in `wanted`
/// (`lock_store::transfer`). The verdict is `busy` if neither owner holds the lock.
asio::awaitable<attempt> move_hold(node&, const hold&, const ask& wanted, server_deadline);

/// Renews holds (`lock_store::renew`). One script renews at most a hundred holds, and all scripts
/// run at the same time. The outcome of a script's holds is reported as soon as the script has a
/// reply or has failed.
asio::awaitable<void> renew_holds(node&, asio::any_io_executor, hold_list, const renewal_options&,
                                  renewal_sink&);

} // namespace holdfast::redis
