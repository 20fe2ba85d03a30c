// SPDX-License-Identifier: Apache-2.0
// Requests about locks: functions for each kind of lock, and the table of these functions
// (`verbs_of`). Their SQL is in lock_statements.hpp.
#pragma once

#include "net/failure.hpp"
#include "store/mysql/lock_statements.hpp"
#include "store/mysql/request_context.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast::mysql {

/// Conditions of an attempt (`take_terms`), for example its deadline and its connection.
struct take_terms {
    time_point deadline;
    /// Connection that has the user lock (GET_LOCK) of this lock. If null, the request may use any
    /// connection.
    std::shared_ptr<pinned_connection> on{};
    bool may_be_free = false; ///< true: this client has not seen a holder lately
};

/// Result of an attempt.
struct taken {
    attempt seen{};
    bool no_row = false; ///< true: the table has no row for this name yet
    /// Connection that has the user lock (GET_LOCK) of this lock. Null if the lock was not granted,
    /// or if the attempt took no user lock.
    std::shared_ptr<pinned_connection> bell{};
};

/// Result of a release.
struct released {
    bool was_ours = false;
    bool others_wait = false; ///< true: other clients wait for the user lock
};

/// Table of the database that stores the holds of a kind.
enum class kept_in : std::uint8_t { locks, readers, permits };

/// Functions of one kind of lock. The arguments must live until the request has completed.
struct verbs {
    /// Makes one attempt. If the owner already holds the lock, the attempt is granted. If the
    /// server runs the attempt after the deadline, the result is "late", and nothing is granted.
    asio::awaitable<taken> (*take)(request_context&, const ask&, take_terms);

    /// Releases the hold; a repeated release does no harm. Afterwards this owner no longer holds
    /// the lock. `bell` is the connection that has the lock's user lock (GET_LOCK), or null.
    asio::awaitable<released> (*release)(request_context&, const hold&,
                                         std::shared_ptr<pinned_connection> bell);

    kept_in where;

    /// Returns the SQL condition under which an attempt may succeed now.
    std::string (*may_be_had)(const request_context&, const ask&);

    bool has_bell = false; ///< true: waiters can wait for a user lock; false: they poll
};

/// Returns the functions for this kind of lock. Returns null if the store does not support the
/// kind.
const verbs* verbs_of(lock_kind) noexcept;

/// Inserts the row of a name that has no row yet.
inline asio::awaitable<void> make_lock_row(request_context& at, const lock_name& name) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{lock_row(at.named, name)};
    };
    composing text{make};
    co_await at.server.run(text);
}

/// Makes an attempt. If the attempt finds no row, inserts the row and repeats the attempt. A sweep
/// (the deletion of unused rows) may delete the new row before the repeated attempt finds it. So
/// the two steps are repeated a few times.
template <typename Once>
asio::awaitable<taken> with_row_made(request_context& at, const lock_name& name, Once once) {
    constexpr int attempts_max = 3;
    for (int made = 0;; ++made) {
        taken got = co_await once();
        if (!got.no_row)
            co_return got;
        if (made == attempts_max)
            throw net::failure{store_errc::try_again,
                               "the row of the lock is deleted again and again"};
        co_await make_lock_row(at, name);
    }
}

// Functions for mutexes, fenced mutexes and writers, as entries of the table `verbs`.
asio::awaitable<taken> take_lock(request_context&, const ask&, take_terms);
asio::awaitable<released> release_lock(request_context&, const hold&,
                                       std::shared_ptr<pinned_connection> bell);
std::string lock_may_be_had(const request_context&, const ask&);

/// Gives a hold in the table of locks to the owner `wanted.owner` (`lock_store::transfer`). The
/// verdict is `busy` if neither owner holds the lock.
asio::awaitable<attempt> move_hold(request_context&, const hold&, const ask& wanted,
                                   time_point deadline);

// Functions for readers, as entries of the table `verbs`. Writers use the functions of mutexes.
asio::awaitable<taken> take_to_read(request_context&, const ask&, take_terms);
asio::awaitable<released> release_read(request_context&, const hold&,
                                       std::shared_ptr<pinned_connection> bell);
std::string may_be_read(const request_context&, const ask&);

// Functions for fair locks (granted in order of arrival), as entries of the table `verbs`.
asio::awaitable<taken> take_turn(request_context&, const ask&, take_terms);
asio::awaitable<released> release_turn(request_context&, const hold&,
                                       std::shared_ptr<pinned_connection> bell);
std::string turn_may_be_had(const request_context&, const ask&);

// Entries of the table `verbs` for leased semaphores.
asio::awaitable<taken> take_permits(request_context&, const ask&, take_terms);
asio::awaitable<released> return_permits(request_context&, const hold&,
                                         std::shared_ptr<pinned_connection> bell);
std::string permits_are_free(const request_context&, const ask&);

} // namespace holdfast::mysql
