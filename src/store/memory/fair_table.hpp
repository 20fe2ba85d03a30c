// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/exclusive_table.hpp"
#include "store/memory/server_clock.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::memory {

/// Queues of fair locks, in the same form as in lock_fair.lua and release_fair.lua. The holds are
/// in the table of locks. A holdfast client stays in the queue for some time after its owner's last
/// request. A JVM sends no request until it is notified, so its time begins with its turn. Thread
/// safety: none; the server's mutex protects it.
class fair_table {
public:
    using owners = std::vector<std::string>;

    /// Both arguments must outlive this object.
    fair_table(const server_clock& clock, exclusive_table& locks)
        : clock_{clock}
        , locks_{locks} {}

    /// Takes the lock if it is the owner's turn; see `exclusive_table::look`. Adds the owners that
    /// must be notified to `told`.
    verdict_on_look look(const ask&, owners& told);

    /// Ends a hold or removes a waiter. Returns false if the owner did not hold the lock.
    bool release(const hold&, owners& told);

    /// Returns the owners to notify after the lock was taken away from its holder.
    owners next(const lock_name&) const;
    owners waiting(const lock_name&) const; ///< all waiters, the next waiter first
    /// waiters that are holdfast clients and have not expired
    owners counting(const lock_name&) const;
    std::vector<lock_waiter> queued(const lock_name&) const; ///< all waiters, for reports

    // Plays a JVM that asks for the lock or queues for it, with Redisson's arithmetic. Returns true
    // if the JVM got the lock.
    bool stranger_takes_or_queues(const lock_name&, const std::string& owner, duration wait,
                                  duration lease); ///< true: the JVM has the lock
    void stranger_leaves(const lock_name&, const std::string& owner, duration wait);

    void clear() {
        ++changes_;
        queues_.clear();
    }
    void become(const fair_table& other) {
        ++changes_;
        queues_ = other.queues_;
    }
    /// Returns a number that grows with each call that may have changed a queue.
    std::uint64_t changes() const { return changes_; }
    void set_jvm_wait(duration wait) { jvm_wait_ = wait; }
    duration jvm_wait() const { return jvm_wait_; }

private:
    struct waiter {
        std::string owner;
        microseconds until;
        duration lasts; ///< time after the last request; for a JVM its whole wait
        bool is_ours;
    };
    using queue = std::deque<waiter>;

    bool is_free(const lock_name& name) const { return !locks_.inspect(name); }
    std::size_t first_in(const queue&, const std::string& me) const;
    void let_go(const lock_name&, queue&, std::size_t count, const std::string& me) const;
    void take_place(queue&, const ask&, std::size_t first, verdict_on_look&) const;
    void begin_turn(const lock_name&, waiter&, bool is_new) const;
    static queue::iterator find(queue&, const std::string& owner);
    void forget_if_empty(const lock_name&);

    const server_clock& clock_;
    exclusive_table& locks_;
    std::map<std::string, queue> queues_;
    std::uint64_t changes_ = 0;
    duration jvm_wait_ = std::chrono::minutes{5}; // Redisson's option fairLockWaitTimeout
};

} // namespace holdfast::memory
