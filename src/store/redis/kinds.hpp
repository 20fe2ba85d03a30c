// SPDX-License-Identifier: Apache-2.0
// Functions of each kind of lock in this store: a table with one row for each kind.
#pragma once

#include "redis/node.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

using remote::attempt;
using remote::verdict;

/// Outcome of a release.
struct released {
    bool was_ours = false;
    bool denied_message = false; ///< the user may not publish to the waiters
    std::int64_t receivers = 0;  ///< number of connections that were notified
    bool heard_late = false;     ///< some subscribers may have missed the message
};

/// Whether the owner still has a hold. `elsewhere`: the server that was asked does not have the
/// name.
enum class standing : std::uint8_t { gone = 0, held = 1, elsewhere = 2 };

/// Outcome of a renewal of several holds.
struct renewed_holds {
    std::vector<standing> each;
    /// Rest of each lease, see `answer`. Empty: the script does not return it.
    std::vector<duration> left_before{};
    /// The reason in words if too few replicas have the write.
    std::string unconfirmed{};
};

/// Functions for one kind of lock (`verbs`): a row of the table. Arguments must live until the
/// request has completed.
struct verbs {
    /// Takes the lock. Grants it again to an owner that has it already. Answers late if the server
    /// reaches the request after the deadline.
    asio::awaitable<attempt> (*take)(node&, const ask&, server_deadline);

    /// Ends the hold or the wait of this owner. It can be repeated.
    asio::awaitable<released> (*release)(node&, const hold&);

    /// Renews several holds by one script, and returns which of them are still held. All holds are
    /// of one client, have this function in their rows, and need the same number of replicas. `at`
    /// is the server to ask; then the names may be in any slots. If it is empty, all names are in
    /// one slot.
    asio::awaitable<renewed_holds> (*renew)(node&, std::optional<shard> at, hold_list,
                                            const renewal_wishes&);

    /// Returns the channel that notifies waiters of releases. Null: there is none, and waiters
    /// poll.
    channel_name (*told_on)(const hold&);
    linger afterwards = linger::usual;
};

/// Returns the row of that kind; null if this store has no such locks.
const verbs* verbs_of(lock_kind) noexcept;

} // namespace holdfast::redis
