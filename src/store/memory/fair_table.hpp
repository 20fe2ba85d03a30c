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

/// Queues of fair locks, as lock_fair.lua and release_fair.lua keep them. The holds are in the
/// table of locks. A holdfast client's place lasts a while from its owner's last request. A JVM
/// asks only after a notification, so its place lasts from the beginning of its turn. Thread
/// safety: none; the server's mutex protects it.
class fair_table {
public:
    using owners = std::vector<std::string>;

    /// Both arguments must outlive this object.
    fair_table(const server_clock& clock, exclusive_table& locks)
        : clock_{clock}
        , locks_{locks} {}

    /// Takes the lock as `exclusive_table::look` does, if it is the owner's turn. Adds to `told`
    /// the owners to notify.
    verdict_on_look look(const ask&, owners& told);

    /// Ends a hold or a wait. Returns false if the owner did not hold the lock.
    bool release(const hold&, owners& told);

    /// Returns the owners to notify when the lock is taken away from its holder.
    owners next(const lock_name&) const;
    owners waiting(const lock_name&) const;  ///< the next waiter first
    owners counting(const lock_name&) const; ///< of these, holdfast's owners that have not expired
    std::vector<lock_waiter> queued(const lock_name&) const; ///< all waiters, for people

    // A JVM in the queue, with Redisson's arithmetic.
    bool stranger_takes_or_queues(const lock_name&, const std::string& owner, duration wait,
                                  duration lease); ///< true: it has the lock
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
        duration lasts; ///< time after its last request; a JVM: its whole wait
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
    duration jvm_wait_ = std::chrono::minutes{5}; // Redisson's fairLockWaitTimeout
};

} // namespace holdfast::memory
