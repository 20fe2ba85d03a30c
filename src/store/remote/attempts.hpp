// SPDX-License-Identifier: Apache-2.0
// How one owner asks for one lock, at a server that may answer late or never:
// again and again, each time to be granted by a deadline, and it is remembered which requests may
// still be carried out.
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

/// `conflict`: another owner waits for the asker to leave, as the asker does for it. `unfounded`:
/// the hold is gone that it was to stand beside.
enum class verdict { busy = 0, granted = 1, late = 2, conflict = 3, unfounded = 4 };

/// What the server said to one request for a lock, and when.
struct attempt {
    verdict said{};
    std::optional<duration> left;           ///< of the present hold, or granted, of others that
                                            ///< share it; nothing: it has no end
    bool holder_tells = true;               ///< busy: who waits is told when the lock is released
    bool not_looked_at = false;             ///< busy: a lock on its row, or alike, was in the way
    bool heard_late = false;                ///< busy: where one listens a release may not be told
    bool queued = false;                    ///< busy: the owner now has a place in a queue there
    bool joined_now = false;                ///< that place is new: it had none before
    bool place_stays = false;               ///< it was not prolonged: there is no room to write
    std::chrono::microseconds server_now{}; ///< zero: the server may not tell; late: it must
    std::uint64_t token = 0;                ///< granted, of a fenced lock: the first of its tokens
    /// Granted, but too few replicas have confirmed it: why, in words. Empty: as many as are
    /// wanted.
    std::string unconfirmed{};
    std::int64_t confirmed = 0; ///< by so many replicas
    time_point sent_at{};
    time_point received_at{};
    /// Of the connection by which it came: what is known of the clock at its other end. Null:
    /// nobody keeps that.
    std::shared_ptr<runtime::remote_clock> clock{};
};

/// A read hold is contacted at least so often on keys that JVMs use. A JVM before Redisson 4.4 that
/// renews its own makes all read holds there last as long as its watchdog time, which may be 3 s.
inline constexpr duration read_contact_max{2000};

/// Whoever waits behind a holder that tells nobody of its release asks at least this often.
inline constexpr duration untold_poll_bound{250};

/// Likewise whoever listens where a release may not be told.
inline constexpr duration unheard_poll_bound = std::chrono::seconds{1};

/// Thread safety: everything on the client's executor.
class attempts {
public:
    /// A request and its answer take `command_timeout` at most. `is_told`: whoever waits for such a
    /// lock listens before the second look. All must outlive it.
    attempts(const store_context&, const ask&, duration command_timeout, bool is_told = true);

    /// Sends one request. If the server comes to it after `deadline`, it says "late".
    using sender = std::function<asio::awaitable<attempt>(time_point deadline)>;

    /// As `place::look`; one that is granted and not confirmed throws `not_replicated`. Busy, it is
    /// to be looked again within `poll_bound` (who is not told: when it likes), and when the
    /// holder's lease ends, `after_the_end` of it: who asks too early has to ask once more.
    asio::awaitable<answer> look(sender, duration poll_bound, duration after_the_end);

    /// Whether a look found it busy: then the next one listens first.
    bool found_busy() const noexcept { return found_busy_; }

    /// Somebody listens before the first look: no other need follow at once where that finds it
    /// busy.
    void listens_already() noexcept { found_busy_ = true; }

    /// Whether the last answer said that the owner has a place in a queue.
    bool queued() const noexcept { return queued_; }

    // As of a place.
    bool uncertain() const noexcept { return unanswered_until_ != none; }
    time_point settled_at() const noexcept { return settled_at_; }

    /// Whether there may be something to release, or a place in a queue to leave.
    bool must_leave() const noexcept { return granted_ || queued_ || uncertain(); }
    void left() noexcept { granted_ = queued_ = false; }

private:
    /// So many connections in a row may have misjudged the server's clock: each learns by itself.
    static constexpr int lates_max = 3;

    static constexpr time_point none = time_point::min();

    /// Until when one request may be granted, and whether that is the caller's own limit.
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

    time_point settled_at_ = none;       // latest deadline of a request that was sent
    time_point unanswered_until_ = none; // the same of those without an answer
};

} // namespace holdfast::remote
