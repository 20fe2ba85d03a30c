// SPDX-License-Identifier: Apache-2.0
// A row of functions for each kind of lock that this store keeps.
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::mysql {

/// Deadline and connection of an attempt.
struct take_terms {
    time_point deadline;
    std::shared_ptr<carrier> on{}; ///< the connection that has the user lock already; null: any
    bool may_be_free = false;      ///< this client does not know of a holder
};

/// Result of an attempt.
struct taken {
    attempt seen{};
    bool no_row = false;             ///< there is no row for the name yet
    std::shared_ptr<carrier> bell{}; ///< if granted: the connection that has the lock's user lock
};

/// Result of a release.
struct released {
    bool was_ours = false;
    bool others_wait = false; ///< others wait for the user lock
};

/// The table that has the holds of a kind.
enum class kept_in : std::uint8_t { locks, readers, permits };

/// Functions of one kind of lock. Their arguments must live until the request has completed.
struct verbs {
    /// Makes one attempt. It is granted if the owner holds the lock already, and late if the server
    /// runs it after the deadline.
    asio::awaitable<taken> (*take)(site&, const ask&, take_terms);

    /// Releases the hold. It may be repeated; afterwards this owner holds nothing there. `bell` is
    /// the connection that has the lock's user lock, or null.
    asio::awaitable<released> (*release)(site&, const hold&, std::shared_ptr<carrier> bell);

    kept_in where;

    /// Returns the condition that an attempt may succeed now.
    std::string (*may_be_had)(const site&, const ask&);

    bool has_bell = false; ///< waiters may wait for a user lock; otherwise they poll
};

/// Returns the functions of that kind. Null: this store has no such locks.
const verbs* verbs_of(lock_kind) noexcept;

} // namespace holdfast::mysql
