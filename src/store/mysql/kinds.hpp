// SPDX-License-Identifier: Apache-2.0
// A row of functions for each kind of lock that this store keeps.
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::mysql {

/// Connection and other conditions of an attempt (`take_terms`).
struct take_terms {
    time_point deadline;
    /// connection that holds the user lock of the lock; null: the attempt may use any connection
    std::shared_ptr<carrier> on{};
    bool may_be_free = false; ///< this client has not seen a holder lately
};

/// Result of an attempt.
struct taken {
    attempt seen{};
    bool no_row = false; ///< the table has no row for this name yet
    /// connection that holds the user lock of the lock, if granted; null: none
    std::shared_ptr<carrier> bell{};
};

/// Result of a release.
struct released {
    bool was_ours = false;
    bool others_wait = false; ///< other clients wait for the user lock
};

/// Table that stores the holds of a kind.
enum class kept_in : std::uint8_t { locks, readers, permits };

/// Functions of one kind of lock. The arguments must live until the request has completed.
struct verbs {
    /// Makes one attempt. The attempt is granted if the owner already holds the lock. It is late if
    /// the server runs it after the deadline.
    asio::awaitable<taken> (*take)(site&, const ask&, take_terms);

    /// Releases the hold. A repeated call does no harm; afterwards this owner holds nothing there.
    /// `bell` is the connection that holds the user lock, or null.
    asio::awaitable<released> (*release)(site&, const hold&, std::shared_ptr<carrier> bell);

    kept_in where;

    /// Returns the condition, in SQL, that an attempt may succeed now.
    std::string (*may_be_had)(const site&, const ask&);

    bool has_bell = false; ///< whether waiters can wait for a user lock; otherwise they poll
};

/// Returns the functions for that kind of lock. Null: this store does not have the kind.
const verbs* verbs_of(lock_kind) noexcept;

} // namespace holdfast::mysql
