// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/exclusive_table.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::memory {

/// What came of a release of a lock that can be shared.
struct left_verdict {
    bool was_ours = false;
    bool is_told = false; ///< to who waits
};

/// The locks of a server that many may share and one may have alone. Redisson's layout, as the
/// scripts keep it: the lease of a lock is the longest of those in it, and a reader has a timer of
/// its own; without that it is a zombie, which the next writer or the last reader sweeps out.
/// Thread safety: none; the server's mutex is around it.
class shared_table {
public:
    /// Must outlive it.
    explicit shared_table(const server_clock& clock)
        : clock_{clock} {}

    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: it is not held by that owner
    /// How long that owner still has it. Empty: it is not held, or has no end.
    std::optional<duration> left_of(const hold&) const;
    left_verdict release(const hold&);
    /// Whatever that owner's client holds does not end sooner.
    void prolong(const owner_id&, microseconds end);

    std::optional<holding> inspect(const lock_name&) const; ///< nothing: it is free
    std::vector<std::string> held() const;                  ///< their names, in order

    // For people; of a lock that is held.
    std::vector<lock_owner> owners(const lock_name&) const;
    std::vector<lock_waiter> waiting_writers(const lock_name&) const;

    /// `kind` says how; who had it otherwise has it no more.
    void occupy(const lock_name&, const std::string& owner, lock_kind kind, duration lease_time);
    bool vacate(const lock_name&, const std::string& owner); ///< false: that owner is not there
    /// Each reader's timer, and the lock's lease, are over in `lease_time`. False: nobody reads.
    bool cut_readers(const lock_name&, duration lease_time);
    bool erase(const lock_name&); ///< false: it was free
    void clear();
    void become(const shared_table& other) {
        locks_ = other.locks_;
        waiting_ = other.waiting_;
    }

private:
    struct lock {
        std::string writer{};                          // empty: nobody has it alone
        std::map<std::string, microseconds> readers{}; // and when each one's timer is over
        microseconds ends_at{};
    };
    /// Of a writer that waits: until when, and beside which reader's hold it would write.
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
