// SPDX-License-Identifier: Apache-2.0
// Descriptors of lock objects (`lock_descriptor`) and of counter objects (`counter_descriptor`),
// the families whose calls wait in one queue, and requests to acquire a lock (`request`).
#pragma once

#include "sync/thread_table.hpp"

#include <holdfast/basic_counter.hpp>
#include <holdfast/basic_mutex.hpp>
#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sync {

/// Families of locks and counters. Calls of one client for the same name and the same family wait
/// in one local queue. `several` is the family of locks that consist of several locks. Each member
/// of such a lock has a local queue of its own, too.
enum class family : std::uint8_t {
    exclusive,
    fair,
    shared,
    token,
    permits,
    several,
    semaphore,
    latch,
    rate
};

inline constexpr family families[] = {family::exclusive, family::fair,    family::shared,
                                      family::token,     family::permits, family::several,
                                      family::semaphore, family::latch,   family::rate};

constexpr family family_of(lock_kind kind) {
    switch (kind) {
    case lock_kind::plain:
    case lock_kind::spin:
    case lock_kind::fenced:
        return family::exclusive;
    case lock_kind::fair:
        return family::fair;
    case lock_kind::read:
    case lock_kind::write:
        return family::shared;
    case lock_kind::token:
        return family::token;
    case lock_kind::permit:
        return family::permits;
    }
    return family::exclusive; // no store offers another kind
}

/// Returns the family of a counter.
constexpr family family_of(counter_kind kind) {
    switch (kind) {
    case counter_kind::semaphore:
        return family::semaphore;
    case counter_kind::permits:
        return family::permits;
    case counter_kind::latch:
        return family::latch;
    case counter_kind::rate:
        return family::rate;
    }
    return family::semaphore; // no other kind exists
}

/// Returns whether one client may have several holds of this kind under one name at the same time.
constexpr bool many_hold(lock_kind kind) {
    return kind == lock_kind::read || kind == lock_kind::permit;
}

/// Returns whether the store has a queue for the waiters of this family. Each waiter then has an
/// entry in that queue, and a hold is never handed over without a request to the store.
constexpr bool queues_in_store(family which) {
    return which == family::fair;
}

class acquisition;
class engine;
class held_lock;

/// Descriptor of a lock object: its name, kind, client and settings. Pending calls share the
/// descriptor, so that they need not copy the name.
class lock_descriptor {
public:
    lock_descriptor(std::shared_ptr<engine>, lock_name, duration lease, const detail::lock_setup&);
    lock_descriptor(const lock_descriptor&) = delete;
    virtual ~lock_descriptor() = default;

    const std::shared_ptr<engine> home;
    const lock_name name; ///< name in the store
    const lock_kind kind;
    const duration lease;
    const recursion again;
    const bool deferred; ///< true: callers do not wait for the release
    const std::optional<backoff> polls;
    const duration outlasts; ///< see `ask::outlasts`
    const fencing numbers;
    const std::uint8_t replicas; ///< number of replicas that must confirm each grant

    // Functions that counters (`counter_descriptor`) and locks that consist of several locks
    // (src/compose) override.

    /// Returns the key of the lock within a client. Calls with the same key and the same family
    /// (`lock_family`) wait in one queue. The thread table stores a hold under this key and `way`
    /// (exclusive, shared or several locks).
    virtual const std::string& entry() const noexcept { return name.text; }
    virtual family lock_family() const noexcept { return family_of(kind); }
    virtual side way() const noexcept { return side_of(kind); }

    /// Returns the kind of the counter, or nothing if this is the descriptor of a lock. A counter
    /// grants no hold.
    virtual std::optional<counter_kind> counts() const noexcept { return std::nullopt; }

    virtual bool is_joint() const noexcept { return false; }
    virtual bool takes_turns() const noexcept { return true; } ///< false: calls never queue
    /// Acquires a lock that consists of several locks, by acquiring its members. Returns null if
    /// the lock is busy or the call has ended. Throws the error after a failure.
    virtual asio::awaitable<std::shared_ptr<lock_handle>> take(std::shared_ptr<acquisition>) const;

    /// Returns the state of the lock at the store. If the lock has a readers' side and a writers'
    /// side, returns only the state of this object's side.
    virtual asio::awaitable<std::optional<holding>> inspect() const;
    /// Returns a function that removes the lock from its holder and returns whether the lock was
    /// held. After the error `unreachable`, the function can be called again. If the lock consists
    /// of several locks, the second call asks only the members that have certainly not executed the
    /// first request.
    virtual std::function<asio::awaitable<bool>()> forcing() const;

    /// Returns the clients that a call uses. A thread that runs the executor of one of these
    /// clients must not wait for the call, because the thread would wait for itself.
    virtual std::vector<const engine*> homes() const { return {home.get()}; }

    /// Functions for the thread table, if the lock consists of several locks.
    /// refuse_parts_of_this_thread() throws `already_held` if this thread holds a member of the
    /// lock. lend_parts() adds the members of a hold to the thread table. take_back_parts() removes
    /// these members.
    virtual void refuse_parts_of_this_thread() const {}
    virtual void lend_parts(const lock_handle&) const {}
    virtual void take_back_parts() const {}
};

// Functions that remove a lock from its holder. With Sentinels or a cluster, these functions repeat
// the request while no server can be reached, as outlast_failover() does.

/// Removes a lock from its holder. Repeats the request only if the store has certainly not executed
/// it. Otherwise the repetition could remove the hold of the next holder.
asio::awaitable<bool> force_through_failover(std::shared_ptr<const lock_descriptor>);

/// Removes the lock with this name from its holder, or only from the owner `only_from`. If
/// `only_from` is a holdfast client's owner, no later hold has the same owner. So the function
/// repeats the request even if the store may have executed it. After a repetition, the result is
/// true even if the owner no longer holds the lock.
asio::awaitable<bool> force_through_failover(std::shared_ptr<engine>, lock_name,
                                             std::string only_from);

/// Request of a caller to acquire a lock. Its arguments were checked.
struct request {
    std::shared_ptr<const lock_descriptor> of;
    duration lease;
    bool renewed;
    bool patient;          ///< true: the call may wait; false: it makes one attempt
    time_point give_up_at; ///< deadline; after it the call sends no new request
    /// Deadline of the whole call, if this request is one vote of a `quorum_mutex` call. This
    /// deadline is later than `give_up_at`, because each vote request makes only one attempt. A
    /// vote request that still waits for a connection at this time fails.
    time_point quorum_deadline{};
    bool takes = true;     ///< false: the call only waits until the lock is free
    std::int64_t amount{}; ///< amount to take from a counter, or number of leased permits
    /// Existing hold of the caller on the other side of the lock: a write hold, if the caller wants
    /// to read, or a read hold that the caller wants to upgrade. The new hold gets an owner number
    /// of its own.
    std::shared_ptr<held_lock> under{};
    std::weak_ptr<lock_handle> share{}; ///< caller's share of the hold `under`

    /// Returns how long the store may keep a hold or a queue entry of this call if nobody removes
    /// it after the call has ended.
    duration lasts_unwanted() const { return std::max(lease, of->outlasts); }

    /// Returns how many owner numbers a hold uses.
    std::uint32_t permits() const {
        return of->kind == lock_kind::permit ? static_cast<std::uint32_t>(amount) : 1;
    }
};

/// Creates a request from arguments that were checked before. If the caller gives a lease, the hold
/// is not renewed.
request request_for(std::shared_ptr<const lock_descriptor>, duration timeout,
                    std::optional<duration> lease);

/// Descriptor of a counter object. A counter grants no holds, so it uses only the name and the
/// `lease` of the base class. For a counter, `lease` is how long the store may remember the request
/// of a caller that no longer waits.
class counter_descriptor final : public lock_descriptor {
public:
    counter_descriptor(std::shared_ptr<engine> e, lock_name n, duration memory,
                       const detail::counter_setup& how)
        : lock_descriptor{std::move(e), std::move(n), memory, {.replicas = how.replicas}}
        , what{how.kind}
        , most{how.most} {}

    const counter_kind what;
    const std::int64_t most; ///< largest number of permits; 0: no limit

    family lock_family() const noexcept override { return family_of(what); }
    std::optional<counter_kind> counts() const noexcept override { return what; }
};

} // namespace holdfast::sync
