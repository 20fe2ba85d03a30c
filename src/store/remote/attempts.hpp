// SPDX-License-Identifier: Apache-2.0
// Requests of one owner to acquire one lock. The server may reply late or never. Each request has a
// deadline, after which the server must not grant the lock. The class `attempts` remembers which
// requests the server may still execute. The other functions in this file are for the waiters of
// all stores.
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
#include <utility>

namespace holdfast::remote {

/// Outcome of one acquire request. `late`: the deadline had passed. `conflict`: a deadlock, in
/// which two owners wait for each other. `unfounded`: the request upgrades or downgrades a hold
/// that no longer exists.
enum class verdict { busy = 0, granted = 1, late = 2, conflict = 3, unfounded = 4 };

/// Reply to one acquire request, with the times of the request and of the reply.
struct attempt {
    verdict said{};
    /// If the lock is busy: remaining lease of the present holder. If the lock was granted and is
    /// shared: remaining lease of the other holders. Empty if that lease has no end.
    std::optional<duration> left;
    // Members that have a meaning only for a busy lock.
    bool holder_tells = true;   ///< the holder will notify the waiters when it releases the lock
    bool not_looked_at = false; ///< the lock was not examined; its row may have been locked
    bool heard_late = false;    ///< this client may miss notifications at present
    bool queued = false;        ///< the owner is now in the store's queue
    bool joined_now = false;    ///< the owner joined the queue with this request
    /// True if the owner's time in the queue was not extended, because the server's memory is full.
    bool place_stays = false;
    /// The server's clock, in microseconds. Zero if the user has no permission for TIME; the server
    /// then refuses no request as late.
    std::chrono::microseconds server_now{};
    std::uint64_t token = 0; ///< first token of a granted fenced lock
    /// Why too few replicas confirmed the grant. Empty if enough replicas confirmed it.
    std::string unconfirmed{};
    std::int64_t confirmed = 0; ///< number of replicas that confirmed the grant
    time_point sent_at{};
    time_point received_at{};
    /// Estimate of the server's clock, from the connection of the reply. Null if the connection has
    /// no estimate.
    std::shared_ptr<runtime::remote_clock> clock{};
};

/// Longest time between two renewals of a read hold if Redisson may share the lock. When Redisson
/// before 4.4 renews its own read hold, it shortens all read holds of the lock to its watchdog
/// time. This time may be as short as 3 s.
inline constexpr duration read_request_max{2000};

/// Longest time between two requests of a waiter if the holder will not notify the waiters when it
/// releases the lock.
inline constexpr duration untold_poll_bound{250};

/// Longest time between two requests of a subscriber that may miss notifications.
inline constexpr duration unheard_poll_bound = std::chrono::seconds{1};

/// Sends the acquire requests of one owner, and remembers the requests that got no reply. Thread
/// safety: call all functions on the client's executor.
class attempts {
public:
    /// Creates the object. `command_timeout` is the time limit for one request. `is_told` says
    /// whether a release notifies the waiters. If it does, a caller that finds the lock busy
    /// subscribes, and asks again at once. The first two arguments must outlive this object.
    attempts(const store_context&, const ask&, duration command_timeout, bool is_told = true);

    /// Sends one request. The server replies "late" if the request reaches it after `deadline`.
    using sender = std::function<asio::awaitable<attempt>(time_point deadline)>;

    /// Tries once to acquire the lock; see `place::look`. Throws `not_replicated` if replicas did
    /// not confirm a grant.
    ///
    /// If the lock is busy, `term` in the answer is the time until the next call. It is at most the
    /// holder's remaining lease plus `after_the_end`, because a call at the exact end would come
    /// too early. If `is_told`, it is also at most `poll_bound`.
    asio::awaitable<answer> look(sender, duration poll_bound, duration after_the_end);

    /// Returns whether look() has found the lock busy. The caller must then subscribe before the
    /// next call.
    bool found_busy() const noexcept { return found_busy_; }

    /// Records that the caller subscribed before its first request. If this request finds the lock
    /// busy, the caller need not ask again at once.
    void listens_already() noexcept { found_busy_ = true; }

    /// Records that the store granted the lock without a request of this owner.
    void granted_by_message() noexcept {
        granted_ = true;
        queued_ = false;
    }

    /// Returns whether the owner is in a queue of the store, according to the last reply.
    bool queued() const noexcept { return queued_; }

    // Functions of `place`; their comments are there.
    bool uncertain() const noexcept { return unanswered_until_ != none; }
    time_point settled_at() const noexcept { return settled_at_; }

    /// Returns whether the caller must leave, because there may be a hold to release, or an entry
    /// in a queue to remove.
    bool must_leave() const noexcept { return granted_ || queued_ || uncertain(); }
    void left() noexcept { granted_ = queued_ = false; }

private:
    /// Maximum number of consecutive "late" replies before the call fails. Each connection has its
    /// own estimate of the server's clock, so several estimates may be wrong one after the other.
    static constexpr int lates_max = 3;

    static constexpr time_point none = time_point::min();

    /// Deadline of one request. `is_callers` is true if the caller has set this deadline.
    struct limit {
        time_point at;
        bool is_callers;
    };
    limit next_limit(bool first) const;
    /// Values that `settled_at_` and `unanswered_until_` had before a request was sent.
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

/// Sends one acquire request, which may take the store's whole command timeout. If the request
/// reaches the server later, the server does nothing. Throws the errors of attempts::look().
/// `context` and `want` must live until the call has completed.
inline asio::awaitable<answer> look_once(const store_context& context, const ask& want,
                                         duration command_timeout, attempts::sender send) {
    attempts one{context, want, command_timeout};
    co_return co_await one.look(std::move(send), duration::zero(), duration::zero());
}

// Mark of a waiting writer. A writer leaves the mark at the store while others hold the lock for
// reading. While the mark lasts, no new reader gets the lock.

/// Sets two times of a waiting writer's mark. `outlasts` is the lifetime of the mark, which lasts
/// until the writer's next request renews it. `head_start` is how long new readers wait after the
/// last reader has left, so that the writer can be notified and send its request first. Does
/// nothing for a request of another kind.
inline void set_terms_of_mark(ask& want, duration poll_bound, duration round_trip) {
    constexpr duration head_start_min{100};
    if (want.kind != lock_kind::write)
        return;
    want.outlasts = 2 * poll_bound;
    want.head_start = std::max(head_start_min, 2 * round_trip);
}

/// Returns whether the request may have left a waiting writer's mark. `said` is the verdict of the
/// reply.
inline bool may_be_marked(const ask& want, verdict said) {
    return want.kind == lock_kind::write && want.waits && said != verdict::granted;
}

/// Returns the longest time until a waiter's next request. The time is short if a writer upgrades
/// its own read hold. In this case, a Redisson reader that leaves sends no notification while other
/// readers remain.
inline duration poll_bound_of(const ask& want, duration usual) {
    constexpr duration of_an_upgrade{250};
    const bool upgrades = want.kind == lock_kind::write && want.under != 0;
    return upgrades ? std::min(usual, of_an_upgrade) : usual;
}

/// Names of locks that this client has lately found busy. The set is a hint: a wrong entry changes
/// only the number of requests.
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

/// Returns `bound`, shortened at random by up to a fifth, so that waiters which began to sleep
/// together do not all ask at the same time.
inline duration jittered(duration bound, std::uint64_t random) {
    const auto fifth = static_cast<std::uint64_t>(bound.count()) / 5;
    return bound - duration{static_cast<duration::rep>(random % (fifth + 1))};
}

} // namespace holdfast::remote
