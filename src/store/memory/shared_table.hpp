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
    bool is_told = false; ///< waiters are notified
};

/// Table of read-write locks, in Redisson's layout, as the scripts keep it. The lease of a lock is
/// the longest of its holds. Each reader has a timer of its own. A reader whose timer has ended is
/// dead, and the next writer or the last reader removes it. Thread safety: none; the server's mutex
/// protects it.
class shared_table {
public:
    /// The clock must outlive this object.
    explicit shared_table(const server_clock& clock)
        : clock_{clock} {}

    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: that owner does not hold it
    /// Returns the rest of that owner's hold. Empty: it does not hold the lock, or the hold has no
    /// end.
    std::optional<duration> left_of(const hold&) const;
    left_verdict release(const hold&);
    /// Extends all holds of that owner's client to `end`; shortens none.
    void prolong(const owner_id&, microseconds end);

    std::optional<holding> inspect(const lock_name&) const; ///< empty: it is free
    std::vector<std::string> held() const;                  ///< names, sorted

    // For people. The lock must be held.
    std::vector<lock_owner> owners(const lock_name&) const;
    std::vector<lock_waiter> waiting_writers(const lock_name&) const;

    /// Gives the lock to `owner` in the mode `kind`. Holders in another mode lose it.
    void occupy(const lock_name&, const std::string& owner, lock_kind kind, duration lease_time);
    bool vacate(const lock_name&, const std::string& owner); ///< false: that owner does not hold it
    /// Makes all readers' timers, and the lease of the lock, end in `lease_time`. Returns false if
    /// nobody reads.
    bool cut_readers(const lock_name&, duration lease_time);
    bool erase(const lock_name&); ///< false: it was free
    void clear();
    void become(const shared_table& other) {
        locks_ = other.locks_;
        waiting_ = other.waiting_;
    }

private:
    struct lock {
        std::string writer{};                          // empty: there is no writer
        std::map<std::string, microseconds> readers{}; // readers, each with the end of its timer
        microseconds ends_at{};
    };
    /// Mark of a waiting writer: until when it counts, and the read hold that the writer upgrades.
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
