// SPDX-License-Identifier: Apache-2.0
// Tables of the locks on a server: locks without a queue, read-write locks and fair locks. Entries
// expire by the server's clock (`server_clock`).
#pragma once

#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::memory {

using microseconds = std::chrono::microseconds;

/// Clock of the server. Unlike a client's clock, it shows a date; a client's clock has another zero
/// point. If code mixes up the two clocks, its results are wrong by years, so that tests fail.
class server_clock {
public:
    explicit server_clock(std::function<time_point()> clients)
        : clients_{std::move(clients)}
        , anchor_{clients_()} {}

    microseconds now() const {
        const microseconds passed = clients_() - anchor_;
        return shown_at_anchor_ +
               microseconds{std::llround(static_cast<double>(passed.count()) * rate_)};
    }

    /// Returns the end of a lease that begins now. A lease of more than a hundred years never ends.
    microseconds end_of(duration lease_time) const {
        constexpr duration without_end = std::chrono::hours{24 * 36525};
        return lease_time > without_end ? never : now() + lease_time;
    }
    bool is_over(microseconds end) const { return end <= now(); }

    /// Returns the time until `end`. The result is empty if `end` means "never".
    std::optional<duration> left(microseconds end) const {
        if (end == never)
            return std::nullopt;
        return std::chrono::ceil<duration>(end - now());
    }

    time_point clients_now() const { return clients_(); }

    void step(duration by) { shown_at_anchor_ += by; }

    void set_rate(double rate) {
        shown_at_anchor_ = now();
        anchor_ = clients_();
        rate_ = rate;
    }

private:
    static constexpr microseconds never = microseconds::max();

    std::function<time_point()> clients_;
    time_point anchor_;
    microseconds shown_at_anchor_{std::chrono::seconds{1'000'000'000}}; // a date in September 2001
    double rate_ = 1.0;
};

/// Returns the entry with this name, or null. If the entry has expired (`ends_at`), removes it
/// first and returns null.
template <typename Entries>
typename Entries::mapped_type* find_living(Entries& all, const lock_name& name,
                                           const server_clock& clock) {
    const auto found = all.find(name.text);
    if (found == all.end())
        return nullptr;
    if (!clock.is_over(found->second.ends_at))
        return &found->second;
    all.erase(found);
    return nullptr;
}

/// Returns whether the owner in `text` belongs to the same client as `owner`.
inline bool is_of_client(const std::string& text, const owner_id& owner) {
    const std::string one = to_string(owner);
    return text.starts_with(std::string_view{one}.substr(0, one.rfind(':') + 1));
}

using remote::verdict;

struct verdict_on_look {
    verdict said{};
    /// If the lock is busy: remaining lease of the holder. If the lock was granted and is shared:
    /// remaining lease of the other holders. Empty if that lease never ends.
    std::optional<duration> left{};
    std::uint64_t token = 0; ///< if a fenced lock was granted: its first token
    bool queued = false;     ///< true: the owner waits in the queue
    bool joined_now = false; ///< true: the owner joined the queue with this request
    /// If another kind of lock or counter uses the name: this kind, as text for messages. Otherwise
    /// null.
    const char* other = nullptr;
    /// If the lock is busy: true if the holder will notify waiters when it releases the lock.
    bool holder_tells = true;
};

/// Table of locks with a single owner and no queue. Expired locks are removed before each access.
/// Thread safety: none; the server's mutex protects it.
class exclusive_table {
public:
    /// Creates an empty object. The clock must outlive it.
    explicit exclusive_table(const server_clock& clock)
        : clock_{clock} {}

    /// Takes the lock if it is free. If the owner already has the lock, grants it again. The lease
    /// of the hold then lasts at least `want.lease_time` from now.
    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: this owner does not hold the lock
    bool release(const hold&);                    ///< false: this owner does not hold the lock
    /// Transfers the hold to the owner `to`; see `lock_store::transfer`.
    bool transfer(const hold&, const owner_id& to, duration lease_time);
    /// Returns whether other clients wait for this spin lock. To know this, the table records each
    /// request of a waiter.
    bool others_spin(const hold&) const;
    /// Extends all holds of the owner's client, so that they end at the time `end` or later.
    void prolong(const owner_id&, microseconds end);

    /// Returns the state of the lock. The result is empty if the lock is free.
    std::optional<holding> inspect(const lock_name&) const;
    /// Returns the remaining lease of this holder, or `duration::max()` if the lease never ends.
    /// The result is empty if the owner does not hold the lock.
    std::optional<duration> left_of(const lock_name&, const std::string& owner) const;
    std::vector<std::string> held() const; ///< names of the held locks, sorted

    /// Ends the present hold, and gives the lock to `owner`.
    void occupy(const lock_name&, std::string owner, duration lease_time);
    bool erase(const lock_name&); ///< ends the present hold; false: the lock was free
    void clear();
    /// Makes this table a copy of the other table, with the same expiry times.
    void become(const exclusive_table& other) {
        locks_ = other.locks_;
        last_tokens_ = other.last_tokens_;
        spinners_ = other.spinners_;
    }

    /// Returns the token of the current hold. Returns 0 if the hold has no token. Also returns 0 if
    /// the hold has several tokens, one for each owner to which its client may hand the lock over.
    std::uint64_t token(const lock_name&) const;
    /// Returns the greatest token that was granted or reserved, even if the lock does not exist any
    /// more. Returns 0 if there was none.
    std::uint64_t last_token(const lock_name&) const;

private:
    struct lock {
        std::string owner;
        microseconds ends_at;    ///< expiry; microseconds::max(): none
        std::uint64_t token = 0; ///< token of the hold, as in token()
    };

    bool is_over(const lock& l) const { return clock_.is_over(l.ends_at); }
    lock* find(const lock_name&);
    lock* find_of(const hold&);
    std::uint64_t reserve_tokens(const ask&);

    const server_clock& clock_;
    std::map<std::string, lock> locks_;
    std::map<std::string, std::uint64_t> last_tokens_;
    using client = std::array<std::uint8_t, 16>;
    // For each lock name and each client that waits for this spin lock: the time at which the table
    // forgets this client.
    std::map<std::string, std::map<client, microseconds>> spinners_;
};

/// Outcome of a release of a read-write lock.
struct left_verdict {
    bool was_ours = false;
    bool is_told = false; ///< true: the waiters are notified
};

/// Table of read-write locks, with the same data as in Redisson and the Lua scripts. The lease of a
/// lock is the longest lease of its holds. Each reader also has a timer. A reader whose timer has
/// ended is dead: the next writer or the last reader removes this reader. Thread safety: none; the
/// server's mutex protects it.
class shared_table {
public:
    /// Creates an empty object. The clock must outlive it.
    explicit shared_table(const server_clock& clock)
        : clock_{clock} {}

    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: this owner does not hold the lock
    /// Returns the remaining time of this owner's hold. The result is empty if the owner does not
    /// hold the lock, or if the hold does not expire.
    std::optional<duration> left_of(const hold&) const;
    left_verdict release(const hold&);
    /// Transfers the write hold to the owner `to`; see `lock_store::transfer`.
    bool transfer_write(const hold&, const owner_id& to, duration lease_time);
    /// Extends all holds of the owner's client, so that they end at the time `end` or later.
    void prolong(const owner_id&, microseconds end);

    /// Returns the state of the lock. The result is empty if the lock is free.
    std::optional<holding> inspect(const lock_name&) const;
    std::vector<std::string> held() const; ///< names of the held locks, sorted

    // Returns the owners of a held lock, for reports.
    std::vector<lock_owner> owners(const lock_name&) const;
    std::vector<lock_waiter> waiting_writers(const lock_name&) const;

    /// Gives the lock to `owner` as a reader or a writer (`kind`). Holders of the other kind lose
    /// it.
    void occupy(const lock_name&, const std::string& owner, lock_kind kind, duration lease_time);
    /// Ends the hold of `owner`. Returns false if this owner does not hold the lock.
    bool vacate(const lock_name&, const std::string& owner);
    /// Shortens the timers of all readers and the lease of the lock to `lease_time`. Returns false
    /// if the lock has no readers.
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
    /// Mark of a waiting writer, which keeps new readers away. It has an expiry. If the writer
    /// upgrades a read hold, it also names this hold.
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

/// Queues of fair locks, with the same data as lock_fair.lua and release_fair.lua. The holds
/// themselves are in the table of locks. A holdfast client stays in the queue for some time after
/// its last request. A Redisson client sends no request until it is notified, so its time in the
/// queue is limited only from the beginning of its turn. Thread safety: none; the server's mutex
/// protects it.
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

    /// Ends the owner's hold, or removes the owner from the queue. Returns false if the owner did
    /// not hold the lock.
    bool release(const hold&, owners& told);

    /// Returns the owners to notify after the lock was released by force.
    owners next(const lock_name&) const;
    owners waiting(const lock_name&) const; ///< all waiters, the next waiter first
    /// Stores the result of waiting() in `known`. Returns whether this has changed the value of
    /// `known`.
    bool read_waiting(const lock_name&, owners& known) const;
    /// Returns the waiters that are holdfast clients and have not expired.
    owners counting(const lock_name&) const;
    std::vector<lock_waiter> queued(const lock_name&) const; ///< all waiters, for reports

    // Asks for the lock as a Redisson client does. If the lock is busy, joins the queue, with the
    // times that Redisson computes. Returns true if the client got the lock.
    bool stranger_takes_or_queues(const lock_name&, const std::string& owner, duration wait,
                                  duration lease); ///< true: the client got the lock
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
        /// How long the waiter stays in the queue after its last request. Redisson clients have no
        /// such time: they stay for their whole wait.
        duration lasts;
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
