// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/exclusive_table.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::memory {

/// Outcome of a release of a read-write lock.
struct left_verdict {
    bool was_ours = false;
    bool is_told = false; ///< whether waiters are notified
};

/// Table of read-write locks. Its layout is the layout of Redisson and of the Lua scripts. The
/// lease of a lock is the longest lease of its holds. Each reader also has its own timer. A reader
/// with an ended timer is dead; the next writer or the last reader removes it. Thread safety: none;
/// the server's mutex protects it.
class shared_table {
public:
    /// The clock must outlive this object.
    explicit shared_table(const server_clock& clock)
        : clock_{clock} {}

    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: this owner does not hold the lock
    /// Returns the remaining time of this owner's hold. Empty: the owner does not hold the lock, or
    /// the hold does not expire.
    std::optional<duration> left_of(const hold&) const;
    left_verdict release(const hold&);
    /// Extends all holds of the owner's client to `end`. Shortens no hold.
    void prolong(const owner_id&, microseconds end);

    /// state of the lock; empty: the lock is free
    std::optional<holding> inspect(const lock_name&) const;
    std::vector<std::string> held() const; ///< names of the held locks, sorted

    // Returns the holders for reports. Call it only if the lock is held.
    std::vector<lock_owner> owners(const lock_name&) const;
    std::vector<lock_waiter> waiting_writers(const lock_name&) const;

    /// Gives the lock to `owner` in the mode `kind`. Holders in the other mode lose the lock.
    void occupy(const lock_name&, const std::string& owner, lock_kind kind, duration lease_time);
    /// false: this owner does not hold the lock
    bool vacate(const lock_name&, const std::string& owner);
    /// Makes the timers of all readers and the lease of the lock end after `lease_time`. Returns
    /// false if the lock has no readers.
    bool cut_readers(const lock_name&, duration lease_time);
    bool erase(const lock_name&); ///< false: the lock was free
    void clear();
    void become(const shared_table& other) {
        locks_ = other.locks_;
        waiting_ = other.waiting_;
    }

private:
    struct lock {
        std::string writer{};                          // empty: no writer holds the lock
        std::map<std::string, microseconds> readers{}; // end of each reader's timer
        microseconds ends_at{};
    };
    /// Mark of a waiting writer: the time until which it counts, and the read hold that the writer
    /// upgrades.
    struct mark {
        microseconds until{};
        std::string beside{};
    };
    struct waiting {
        std::map<std::string, mark> marks{};
        microseconds ends_at{};
        duration head_start{};
    };

    verdict_on_look look_to_read(const ask&);
    verdict_on_look look_to_write(const ask&);
    verdict_on_look busy(const lock&) const;
    verdict_on_look let_read(const ask&);
    void sweep(lock&, const std::string& asker) const;
    bool meets_another_upgrade(const lock&, const ask&) const;
    void leave_mark(const ask&);
    bool withdraw(const hold&);
    void cut_to_head_start(const lock_name&);
    left_verdict release_read(const hold&);
    left_verdict release_write(const hold&);
    microseconds longest_timer(const lock&) const;

    lock* find(const lock_name&);
    waiting* find_waiting(const lock_name&);

    const server_clock& clock_;
    std::map<std::string, lock> locks_;
    std::map<std::string, waiting> waiting_;
};

} // namespace holdfast::memory
