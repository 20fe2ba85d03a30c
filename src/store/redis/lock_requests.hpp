// SPDX-License-Identifier: Apache-2.0
// Functions that send requests about locks, one function for each script. Also a table with the
// functions of each kind of lock (`verbs_of`).
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
    bool denied_message = false; ///< true: the user has no permission to notify the waiters
    std::int64_t receivers = 0;  ///< number of connections that were notified
    bool heard_late = false;     ///< true: some subscribers may have missed the notification
    bool handed_on = false;      ///< true: the lock was granted to a waiting client
};

/// Whether an owner still holds a lock. `elsewhere`: the server that was asked does not know,
/// because another server has the lock's key.
enum class standing : std::uint8_t { gone = 0, held = 1, elsewhere = 2 };

/// Outcome of a renewal of several holds.
struct renewed_holds {
    std::vector<standing> each;
    /// Remaining lease of each hold before the renewal. Empty if the script does not return these
    /// times.
    std::vector<duration> left_before{};
    /// Why too few replicas confirmed the renewal. Empty if enough replicas confirmed it.
    std::string unconfirmed{};
};

/// Functions for one kind of lock. verbs_of() returns them. The arguments of each function must
/// live until the request has completed.
struct verbs {
    /// Takes the lock. If the owner already holds the lock, grants it again. If the request reaches
    /// the server after the deadline, the server replies "late" and does nothing.
    asio::awaitable<attempt> (*take)(node&, const ask&, server_deadline);

    /// Ends the owner's hold, or removes the owner from the queue of waiters. A repeated call
    /// does no harm.
    asio::awaitable<released> (*release)(node&, const hold&);

    /// Renews several holds with one script, and returns which holds still exist. All holds must
    /// belong to one client, use the same function `renew`, and require the same number of
    /// replicas. If `at` is set, the request goes to this server, and the names may be in any of
    /// its slots. If `at` is empty, all names must be in one slot.
    asio::awaitable<renewed_holds> (*renew)(node&, std::optional<shard> at, hold_list,
                                            const renewal_options&);

    /// Returns the channel on which a release notifies the waiters. Null if this kind has no
    /// channel; its waiters then poll.
    channel_name (*told_on)(const hold&);
    linger afterwards = linger::usual;
    /// true: waiting clients form a queue, and a release grants the lock to the next client in it
    bool has_queue = false;
};

/// Returns the functions for a kind of lock, or null if this store does not support the kind.
const verbs* verbs_of(lock_kind) noexcept;

/// Returns the functions for a kind of lock at a server, or null if this store does not support the
/// kind. If `options::direct_hand_off` is on, plain and fenced locks have other functions than
/// without it.
const verbs* verbs_of(lock_kind, const node&) noexcept;

// Requests about plain locks. Only this file knows the keys and arguments of the scripts.

// The comments on the members of `verbs` explain these functions.
asio::awaitable<attempt> lock_mutex(node&, const ask&, server_deadline);
asio::awaitable<released> release_mutex(node&, const hold&);

// Requests about plain and fenced locks if the option `direct_hand_off` is on: a release grants the
// lock to the next client in a queue (docs/protocol/mutex.md).

/// Lease time that a release grants to the next client in the queue. The client extends the lease
/// when it learns of the grant. If the client has died, the lock stays taken for this time.
inline constexpr duration handed_over_lease{2000};

/// Longest time between two requests of a client in the queue. A grant is valid for
/// `handed_over_lease` from the client's last request. So this time must be shorter.
inline constexpr duration queue_poll_bound{1000};

/// Number of fencing tokens that a client in the queue gets if it needs more than one. The number
/// is fixed, because the release that grants the lock does not know how many tokens the client
/// wants.
inline constexpr std::uint32_t queue_tokens = 64;

/// Takes the lock. If the lock is busy and `number` is not 0, adds the owner to the queue;
/// `attempt::queued` says whether the owner is in the queue. `number` counts the requests of this
/// owner: 1, 2, 3 and so on. For a fenced lock, `ask::tokens` must be 1 or `queue_tokens`.
asio::awaitable<attempt> lock_in_queue(node&, const ask&, server_deadline, std::uint64_t number);

/// Returns the message by which a release grants the lock to an owner in the queue. `number` is the
/// number of the owner's last request. For a fenced lock, the release appends a space and the
/// fencing token.
///
/// From number 1024 on, returns an empty text. The queue stores the numbers modulo 1024, so an old
/// message could have the same text. The owner then sends a request to confirm a grant.
std::string grant_message(const owner_id&, std::uint64_t number);

/// Reads a message that reached the channel of a waiting client. `expected` is the result of
/// grant_message(). If the message grants a fenced lock, returns the fencing token, which follows
/// `expected` and a space. If the message grants another lock, returns 0. Returns nothing for any
/// other message.
std::optional<std::uint64_t> token_in_grant(lock_kind, std::string_view message,
                                            std::string_view expected);

// The comments on the members of `verbs` explain these functions.
asio::awaitable<attempt> lock_outside_queue(node&, const ask&, server_deadline);
asio::awaitable<released> release_to_queue(node&, const hold&);

// Requests about spin locks. A release does not notify the waiters of a spin lock. The waiters
// record at the server that they are waiting.
asio::awaitable<attempt> lock_spin(node&, const ask&, server_deadline);
asio::awaitable<released> release_spin(node&, const hold&);
asio::awaitable<renewed_holds> renew_leases(node&, std::optional<shard> at, hold_list,
                                            const renewal_options&);

// Requests about locks with fencing tokens that differ from the requests about plain locks.

asio::awaitable<attempt> lock_fenced(node&, const ask&, server_deadline);

/// Returns the greatest fencing token that was granted or reserved for grants, or 0 if there is
/// none.
asio::awaitable<std::uint64_t> last_token(node&, const lock_name&);

// Requests about fair locks, with the keys of Redisson's RedissonFairLock (docs/protocol/fair.md).

// The comments on the members of `verbs` explain these functions.
asio::awaitable<attempt> lock_fair(node&, const ask&, server_deadline);
asio::awaitable<released> release_fair(node&, const hold&);

// Requests about read-write locks. Only this file knows the keys and arguments of the scripts.
// Write holds are renewed together with plain locks (`renew_leases`).

// The comments on the members of `verbs` explain these functions.
asio::awaitable<attempt> lock_read(node&, const ask&, server_deadline);
asio::awaitable<released> release_read(node&, const hold&);
asio::awaitable<renewed_holds> renew_reads(node&, std::optional<shard> at, hold_list,
                                           const renewal_options&);
asio::awaitable<attempt> lock_write(node&, const ask&, server_deadline);
asio::awaitable<released> release_write(node&, const hold&);

// Requests about token locks. The key of a token lock is a string with the token of its owner: `SET
// key token NX PX`.

// The comments on the members of `verbs` explain these functions.
asio::awaitable<attempt> lock_token(node&, const ask&, server_deadline);
asio::awaitable<released> release_token(node&, const hold&);
asio::awaitable<renewed_holds> renew_tokens(node&, std::optional<shard> at, hold_list,
                                            const renewal_options&);

/// Transfers a hold to the owner in `wanted` (`lock_store::transfer`). Supports all kinds of locks
/// but `read` and `permit`. The verdict is `busy` if neither of the two owners holds the lock.
asio::awaitable<attempt> move_hold(node&, const hold&, const ask& wanted, server_deadline);

/// Renews holds (`lock_store::renew`). One script renews at most a hundred holds, and all scripts
/// run at the same time. When a script has a reply or has failed, its outcome is reported at once.
asio::awaitable<void> renew_holds(node&, asio::any_io_executor, hold_list, const renewal_options&,
                                  renewal_sink&);

} // namespace holdfast::redis
