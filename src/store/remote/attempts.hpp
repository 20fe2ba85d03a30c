// SPDX-License-Identifier: Apache-2.0
// Acquire requests of one owner for one lock, at a server that may answer late or never. Each
// request has a deadline, after which the server must not grant it. The class remembers which
// requests may still be carried out.
#pragma once

#include "runtime/remote_clock.hpp"

#include <holdfast/store.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace holdfast::remote {

/// Outcome of one acquire request. `conflict`: another owner waits for this owner to release, while
/// this owner waits for it (a deadlock). `unfounded`: the hold that the new hold was to stand
/// beside is gone.
enum class verdict { busy = 0, granted = 1, late = 2, conflict = 3, unfounded = 4 };

/// Reply to one acquire request, with the times at which it was sent and received.
struct attempt {
    verdict said{};
    /// Rest of the lease: of the present holder if busy, of the other holders of a shared lock if
    /// granted. Empty: it has no end.
    std::optional<duration> left;
    bool holder_tells = true;   ///< busy: the holder notifies waiters when it releases
    bool not_looked_at = false; ///< busy: not examined, e.g. its row was locked
    bool heard_late = false;    ///< busy: notifications may be missed at present
    bool queued = false;        ///< busy: the owner now has a place in the store's queue
    bool joined_now = false;    ///< that place is new
    bool place_stays = false;   ///< the place was not prolonged, as memory is full
    /// Time on the server's clock, in microseconds. Zero: TIME is denied (impossible if late).
    std::chrono::microseconds server_now{};
    std::uint64_t token = 0; ///< granted, fenced lock: the first of its tokens
    /// Granted, but not confirmed by enough replicas: the reason in words. Empty: confirmed by as
    /// many as required.
    std::string unconfirmed{};
    std::int64_t confirmed = 0; ///< number of replicas that confirmed it
    time_point sent_at{};
    time_point received_at{};
    /// Estimate of the server's clock, kept by the connection that brought the reply. Null if the
    /// connection keeps none.
    std::shared_ptr<runtime::remote_clock> clock{};
};

/// Longest time between two renewals of a read hold on keys that JVMs use. When a JVM before
/// Redisson 4.4 renews its own read hold, it cuts all read holds of that lock to its watchdog time.
/// That time may be as short as 3 s.
inline constexpr duration read_contact_max{2000};

/// Longest time between two requests of a waiter if the holder notifies nobody of its release.
inline constexpr duration untold_poll_bound{250};

/// Longest time between two requests of a subscriber that may miss the notification of a release.
inline constexpr duration unheard_poll_bound = std::chrono::seconds{1};

/// Sends the acquire requests of one owner and keeps track of those without a reply. Thread safety:
/// call everything on the client's executor.
class attempts {
public:
    /// `command_timeout` bounds a request and its reply. `is_told`: waiters for this kind of lock
    /// subscribe before the second request. All arguments must outlive this object.
    attempts(const store_context&, const ask&, duration command_timeout, bool is_told = true);

    /// Sends one request. The server answers "late" if it reaches the request after `deadline`.
    using sender = std::function<asio::awaitable<attempt>(time_point deadline)>;

    /// Works as `place::look`, and throws `not_replicated` if a grant is not confirmed. If the lock
    /// is busy, the answer's term is the time until the next call. It is at most `poll_bound` (no
    /// bound if `is_told` is false). It does not go beyond the end of the holder's lease plus
    /// `after_the_end`. Without that margin the next call would come too early.
    asio::awaitable<answer> look(sender, duration poll_bound, duration after_the_end);

    /// Returns whether a call of look() found the lock busy. If so, the caller subscribes before
    /// the next call.
    bool found_busy() const noexcept { return found_busy_; }

    /// Says that the caller has subscribed before the first request. If that request finds the lock
    /// busy, no second request follows at once.
    void listens_already() noexcept { found_busy_ = true; }

    /// Returns whether the last answer said that the owner has a place in a queue.
    bool queued() const noexcept { return queued_; }

    // See the members of `place` with these names.
    bool uncertain() const noexcept { return unanswered_until_ != none; }
    time_point settled_at() const noexcept { return settled_at_; }

    /// Returns whether there may be a hold to release or a place in a queue to leave.
    bool must_leave() const noexcept { return granted_ || queued_ || uncertain(); }
    void left() noexcept { granted_ = queued_ = false; }

private:
    /// Largest number of late answers in a row before the call fails. Each connection estimates the
    /// server's clock separately, so several may be wrong one after the other.
    static constexpr int lates_max = 3;

    static constexpr time_point none = time_point::min();

    /// Deadline of one request, and whether it is the caller's own deadline.
    struct limit {
        time_point at;
        bool is_callers;
    };
    limit next_limit(bool first) const;
    asio::awaitable<attempt> request(const sender&, time_point deadline);
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
    time_point unanswered_until_ = none; // latest deadline of requests without an answer
};

} // namespace holdfast::remote
