// SPDX-License-Identifier: Apache-2.0
// What the kinds of locks differ in, at this store: a row of functions for each.
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

/// What came of a release.
struct released {
    bool was_ours = false;
    bool denied_message = false; ///< the server may not tell who waits
    std::int64_t receivers = 0;  ///< connections that were told
    bool heard_late = false;     ///< where they listen they need not have been told
};

/// Whether a hold is still its owner's; or that the server which was asked has not its name.
enum class standing : std::uint8_t { gone = 0, held = 1, elsewhere = 2 };

/// What came of a renewal of several.
struct renewed_holds {
    std::vector<standing> each;
    std::vector<duration> left_before{}; ///< of each, see answer; empty: its script does not tell
    /// Too few replicas have what was written: why, in words.
    std::string unconfirmed{};
};

/// How one kind is kept. Arguments live until a request has completed.
struct verbs {
    /// Granted to who holds it already, late if the server comes to it after the deadline.
    asio::awaitable<attempt> (*take)(node&, const ask&, server_deadline);

    /// As often as one likes. Afterwards this owner has nothing there.
    asio::awaitable<released> (*release)(node&, const hold&);

    /// Which of them are still their owners', by one script: holds of one client, of kinds that
    /// have this function, and that want as many replicas. `at`: asked there, whichever slots they
    /// have; otherwise all have one slot.
    asio::awaitable<renewed_holds> (*renew)(node&, std::optional<shard> at, hold_list,
                                            const renewal_wishes&);

    /// Where whoever waits for such a hold is told of releases. Null: nowhere, and waiters poll.
    channel_name (*told_on)(const hold&);
    linger afterwards = linger::usual;
};

/// Null: this store keeps no such locks.
const verbs* verbs_of(lock_kind) noexcept;

} // namespace holdfast::redis
