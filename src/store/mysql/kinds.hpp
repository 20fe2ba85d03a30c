// SPDX-License-Identifier: Apache-2.0
// What the kinds of locks differ in, at this store: a row of functions for each.
#pragma once

#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::mysql {

/// By when an attempt must be carried out, and on which connection.
struct take_terms {
    time_point deadline;
    std::shared_ptr<carrier> on{}; ///< the one that has the bell already; null: any
    bool may_be_free = false;      ///< this client does not know that somebody has it
};

/// What came of an attempt.
struct taken {
    attempt seen{};
    bool no_row = false;             ///< nobody has used that name yet
    std::shared_ptr<carrier> bell{}; ///< granted, and that connection has the lock's bell
};

/// What came of a release.
struct released {
    bool was_ours = false;
    bool others_wait = false; ///< at the bell
};

/// Which table has such holds.
enum class kept_in : std::uint8_t { locks, readers, permits };

/// How one kind is kept. Arguments live until a request has completed.
struct verbs {
    /// Granted to who holds it already, late if the server comes to it after the deadline.
    asio::awaitable<taken> (*take)(site&, const ask&, take_terms);

    /// As often as one likes. Afterwards this owner has nothing there. `bell`: it has the bell.
    asio::awaitable<released> (*release)(site&, const hold&, std::shared_ptr<carrier> bell);

    kept_in where;

    /// A condition: an attempt may succeed now.
    std::string (*may_be_had)(const site&, const ask&);

    bool has_bell = false; ///< who waits may wait for a user lock; else all poll
};

/// Null: this store keeps no such locks.
const verbs* verbs_of(lock_kind) noexcept;

} // namespace holdfast::mysql
