// SPDX-License-Identifier: Apache-2.0
// Acquire requests of one owner for one lock, at a server that may reply late or never. Each
// request has a deadline, after which the server must not grant it. The class `attempts` remembers
// which requests the server may still carry out. The other functions help waiters of all stores.
#pragma once

#include "runtime/remote_clock.hpp"

#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

namespace holdfast::remote {

/// Outcome of one acquire request. `conflict`: another owner waits for this owner to release, while
/// this owner waits for the other owner (a deadlock). `unfounded`: the request upgrades or
/// downgrades an existing hold, but the existing hold is gone.
enum class verdict { busy = 0, granted = 1, late = 2, conflict = 3, unfounded = 4 };

/// Reply to one acquire request, with the times when the request was sent and the reply was
/// received.
struct attempt {
    verdict said{};
    /// Remaining lease; empty if the lease has no end. If the verdict is busy, this is the lease of
    /// the present holder. If it is granted, this is the lease of the other holders of a shared
    /// lock.
    std::optional<duration> left;
    // In a reply about a lock, the next six members have a meaning only if the verdict is busy.
    bool holder_tells = true;   ///< the holder will notify the waiters when it releases the lock
    bool not_looked_at = false; ///< the lock was not examined; its row may have been locked
    bool heard_late = false;    ///< this client may miss notifications now
    bool queued = false;        ///< the owner now has a place in the store's queue
    bool joined_now = false;    ///< the place in the queue is new
    bool place_stays = false;   ///< the place was not extended, because memory is full
    /// Time on the server's clock, in microseconds. Zero if the user has no permission for TIME;
    /// the server then never replies "late".
    std::chrono::microseconds server_now{};
    std::uint64_t token = 0; ///< granted, fenced lock: the first of its tokens
    /// Reason in words, if the lock was granted but too few replicas confirmed it. Empty if enough
    /// replicas confirmed it.
    std::string unconfirmed{};
    std::int64_t confirmed = 0; ///< number of replicas that confirmed the grant
    time_point sent_at{};
    time_point received_at{};
    /// Estimate of the server's clock, kept by the connection that brought the reply. Null if the
    /// connection keeps none.
    std::shared_ptr<runtime::remote_clock> clock{};
};

/// Longest time between two renewals of a read hold on keys that JVMs use too. If a JVM with
/// Redisson before 4.4 renews its own read hold, it shortens all read holds of the lock to its
/// watchdog time. That time may be as short as 3 s.
inline constexpr duration read_contact_max{2000};

/// Longest time between two requests of a waiter if the holder sends no notification of its
/// release.
inline constexpr duration untold_poll_bound{250};

/// Longest time between two requests of a subscriber that may miss a release notification.
inline constexpr duration unheard_poll_bound = std::chrono::seconds{1};

/// Sends the acquire requests of one owner, and keeps track of the requests without a reply. Thread
/// safety: call everything on the client's executor.
class attempts {
public:
    /// `command_timeout` is the time limit for one request. `is_told`: a release notifies waiters,
    /// so a caller that finds the lock busy subscribes, and then asks again at once. The first two
    /// arguments must outlive this object.
    attempts(const store_context&, const ask&, duration command_timeout, bool is_told = true);

    /// Sends one request. The server replies "late" if it processes the request after `deadline`.
    using sender = std::function<asio::awaitable<attempt>(time_point deadline)>;

    /// Asks for the lock; see `place::look`. Throws `not_replicated` if a grant is not confirmed.
    /// If the lock is busy, `term` in the answer is the time until the next call. If `is_told` is
    /// true, `term` is at most `poll_bound`. It is always at most the remaining lease of the holder
    /// plus the margin `after_the_end`, because without the margin the next call would come too
    /// early.
    asio::awaitable<answer> look(sender, duration poll_bound, duration after_the_end);

    /// Returns whether a call of look() found the lock busy. If so, the caller must subscribe
    /// before the next call.
    bool found_busy() const noexcept { return found_busy_; }

    /// Records that the caller has subscribed before the first request. If the first request finds
    /// the lock busy, the second request then need not follow at once.
    void listens_already() noexcept { found_busy_ = true; }

    /// Returns whether the owner has a place in a queue, according to the last reply.
    bool queued() const noexcept { return queued_; }

    // These functions do the same as the functions of `place` with the same names.
    bool uncertain() const noexcept { return unanswered_until_ != none; }
    time_point settled_at() const noexcept { return settled_at_; }

    /// Returns whether there may be a hold to release or a place in a queue to leave.
    bool must_leave() const noexcept { return granted_ || queued_ || uncertain(); }
    void left() noexcept { granted_ = queued_ = false; }

private:
    /// Maximum number of "late" replies in a row before the call fails. Each connection estimates
    /// the server's clock separately, so the estimates of several connections may be wrong one
    /// after the other.
    static constexpr int lates_max = 3;

    static constexpr time_point none = time_point::min();

    /// Deadline of one request. `is_callers` tells whether it is the caller's own deadline.
    struct limit {
        time_point at;
        bool is_callers;
    };
    limit next_limit(bool first) const;
    /// Values of `settled_at_` and `unanswered_until_` before a request was sent.
    struct open_request {
        time_point settled_before;
        time_point unanswered_before;
    };
    open_request begin_request(time_point deadline);
    void note_failure(const open_request&, const error_code&);
    void note_reply(const open_request&, const attempt&);
    static void learn_clock(const attempt&);
    answer granted(const attempt&) const;
    answer busy(const attempt&, duration poll_bound, duration after_the_end);

    const store_context& context_;
    const ask& want_;
    const duration command_timeout_;
    const bool is_told_;

    bool looked_ = false;
    bool found_busy_ = false;
    bool granted_ = false;
    bool queued_ = false;

    time_point settled_at_ = none;       // latest deadline of all requests that were sent
    time_point unanswered_until_ = none; // latest deadline of the requests without a reply
};

// Mark of a waiting writer, which the writer leaves at the store while others read. While the mark
// lasts, no new reader gets the lock.

/// Sets two durations in a writer's request. Other requests leave no mark and are not changed.
/// `outlasts` is the lifetime of the mark. It is longer than the time until the next request, which
/// renews the mark. `head_start` is the time for which new readers are held back after the last
/// reader has left. It is long enough for the notification to arrive and for the writer to send its
/// request.
inline void set_terms_of_mark(ask& want, duration poll_bound, duration round_trip) {
    constexpr duration head_start_min{100};
    if (want.kind != lock_kind::write)
        return;
    want.outlasts = 2 * poll_bound;
    want.head_start = std::max(head_start_min, 2 * round_trip);
}

/// Returns whether a waiting writer's request may have left a mark. `said`: verdict of its reply.
inline bool may_be_marked(const ask& want, verdict said) {
    return want.kind == lock_kind::write && want.waits && said != verdict::granted;
}

/// Returns the longest time until the next request of a waiter. The time is shorter if a writer
/// upgrades its own read hold, because a Redisson reader that leaves sends no notification while
/// other readers remain.
inline duration poll_bound_of(const ask& want, duration usual) {
    constexpr duration of_an_upgrade{250};
    const bool upgrades = want.kind == lock_kind::write && want.under != 0;
    return upgrades ? std::min(usual, of_an_upgrade) : usual;
}

/// Set of names of locks that were busy at this client's last request. The set is only a hint: a
/// wrong entry changes only the number of requests.
class lately_busy {
public:
    bool contains(const std::string& name) const { return names_.contains(name); }

    void note(const std::string& name, bool busy) {
        if (!busy) {
            names_.erase(name);
            return;
        }
        if (names_.size() >= names_max)
            names_.clear();
        names_.insert(name);
    }

private:
    static constexpr std::size_t names_max = 1000;

    std::unordered_set<std::string> names_;
};

/// Returns `bound`, shortened at random by up to a fifth. Without the random part, waiters that
/// began to sleep at the same time would all ask the server at the same time.
inline duration jittered(duration bound, std::uint64_t random) {
    const auto fifth = static_cast<std::uint64_t>(bound.count()) / 5;
    return bound - duration{static_cast<duration::rep>(random % (fifth + 1))};
}

} // namespace holdfast::remote
