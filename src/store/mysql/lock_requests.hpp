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

/// Conditions of one attempt to take a lock.
struct take_terms {
    time_point deadline;
    /// Connection that has the user lock (GET_LOCK) of this lock. The attempt must use this
    /// connection. If null, the attempt may use any connection.
    std::shared_ptr<pinned_connection> on{};
    bool may_be_free = false; ///< true: this client has not found the lock busy lately
};

/// Result of an attempt.
struct taken {
    attempt seen{};
    bool no_row = false; ///< true: the lock's row does not exist yet
    /// Connection that has the user lock (GET_LOCK) of this lock. Null if the lock was not granted,
    /// or if no user lock was taken.
    std::shared_ptr<pinned_connection> bell{};
};

/// Result of a release.
struct released {
    bool was_ours = false;
    bool others_wait = false; ///< true: other clients wait for the user lock (GET_LOCK)
};

/// The table that stores the holds of a kind.
enum class kept_in : std::uint8_t { locks, readers, permits };

/// Functions of one kind of lock. The arguments of each function must live until the request has
/// completed.
struct verbs {
    /// Tries once to take the lock. If the owner already holds the lock, the lock is granted again.
    /// If the request reaches the server after the deadline, the result is "late", and nothing is
    /// granted.
    asio::awaitable<taken> (*take)(request_context&, const ask&, take_terms);

    /// Releases the hold; a repeated release does no harm. `bell` is the connection that has the
    /// lock's user lock (GET_LOCK), or null.
    asio::awaitable<released> (*release)(request_context&, const hold&,
                                         std::shared_ptr<pinned_connection> bell);

    kept_in where;

    /// Returns an SQL condition that is true if an attempt may succeed now.
    std::string (*may_be_had)(const request_context&, const ask&);

    bool has_bell = false; ///< true: a user lock (GET_LOCK) notifies the waiters; false: they poll
};

/// Returns the functions for this kind of lock, or null if the store does not support the kind.
const verbs* verbs_of(lock_kind) noexcept;

/// Inserts the row of a lock that has no row yet.
inline asio::awaitable<void> make_lock_row(request_context& at, const lock_name& name) {
    const auto make = [&](const runtime::remote_clock&, const server_facts&) {
        return std::vector<std::string>{lock_row(at.named, name)};
    };
    composing text{make};
    co_await at.server.run(text);
}

/// Makes an attempt. If the lock has no row, inserts the row and repeats the attempt. A sweep,
/// which deletes unused rows, may delete the new row before the attempt finds it. So both steps are
/// repeated a few times.
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

// Functions for mutexes, fenced mutexes and writers. The comments on the members of `verbs` explain
// these functions.
asio::awaitable<taken> take_lock(request_context&, const ask&, take_terms);
asio::awaitable<released> release_lock(request_context&, const hold&,
                                       std::shared_ptr<pinned_connection> bell);
std::string lock_may_be_had(const request_context&, const ask&);

/// Transfers a hold in the table of locks to the owner `wanted.owner` (`lock_store::transfer`). The
/// verdict is `busy` if neither of the two owners holds the lock.
asio::awaitable<attempt> move_hold(request_context&, const hold&, const ask& wanted,
                                   time_point deadline);

// Functions for readers. The comments on the members of `verbs` explain these functions. Writers
// use the functions for mutexes.
asio::awaitable<taken> take_to_read(request_context&, const ask&, take_terms);
asio::awaitable<released> release_read(request_context&, const hold&,
                                       std::shared_ptr<pinned_connection> bell);
std::string may_be_read(const request_context&, const ask&);

// Functions for fair locks, which are granted in the order of arrival. The comments on the members
// of `verbs` explain these functions.
asio::awaitable<taken> take_turn(request_context&, const ask&, take_terms);
asio::awaitable<released> release_turn(request_context&, const hold&,
                                       std::shared_ptr<pinned_connection> bell);
std::string turn_may_be_had(const request_context&, const ask&);

// Functions for leased semaphores. `verbs` explains them.
asio::awaitable<taken> take_permits(request_context&, const ask&, take_terms);
asio::awaitable<released> return_permits(request_context&, const hold&,
                                         std::shared_ptr<pinned_connection> bell);
std::string permits_are_free(const request_context&, const ask&);

} // namespace holdfast::mysql
