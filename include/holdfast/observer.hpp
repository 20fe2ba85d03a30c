// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast {

/// The events that a client reports, for metrics, logs and alarms.
enum class event_kind : std::int32_t {
    acquired = 1, ///< a lock was granted; `duration_us`: from the call to the grant
    waited,       ///< an acquisition ended without the lock; `duration_us`: how long it waited
    /// The store has acknowledged the release, or the lock was passed to the next waiter of this
    /// client; `duration_us`: how long it was held.
    released,
    lost, ///< a hold ended before its owner released it; `duration_us`: how long it was held
    /// A renewed hold ends soon, since renewals fail, or since it has reached `options::max_hold`
    /// (then that is the cause); `duration_us`: the time that is left.
    in_danger,
    /// A thread ended while it held the lock: the hold is not renewed any more; `duration_us`: how
    /// long it was held so far.
    abandoned,
    renewal_failed, ///< one attempt; it is repeated; `duration_us`: the time left of the term
    /// The server refused the release, or acknowledged none before the lease had ended;
    /// `duration_us`: how long it was held. Count the hold as ended: no `released` follows, even if
    /// a later attempt succeeds.
    release_failed,
    misuse,       ///< `unlock()` of a lock that the caller does not hold
    disconnected, ///< a connection to the store was lost, or failed; name: its address
    reconnected,  ///< it is back; `duration_us`: how long it was away
    impaired,     ///< locks work, but the store denies something; `text`: the price, and
                  ///< the right to grant
    moved,        ///< another server has the locks now, or some of them; name: its address;
                  ///< `text`: who said so. What is held there is asked for at once
};

/// Why a hold was lost, a wait ended or a connection was lost: `event::cause`, beside
/// `event::code`.
enum class event_cause : std::int32_t {
    none = 0,
    refused,    ///< the store says that it is not held: forced, evicted, expired, flushed
    term_ended, ///< the store could not be asked in time
    forced,     ///< `force_unlock` by this client
    max_hold,   ///< `options::max_hold` was reached
    timed_out,  ///< patience ran out
    cancelled,
    closed, ///< the client was closed
    failed, ///< see `code` and `text`
};

/// One event, valid during the call only. It is plain data, so that C and other languages can use
/// it.
struct event {
    event_kind kind;
    event_cause cause = event_cause::none;
    const char* name = nullptr; ///< of the lock in the store, or an address; no NUL at its end
    std::size_t name_size = 0;
    std::uint64_t owner_number = 0; ///< of the hold in the store; 0 if there is none
    std::int64_t duration_us = 0;   ///< microseconds; its meaning is given with the kind
    std::int32_t code = 0;          ///< value of the `errc`, 0 if none
    const char* text = nullptr;     ///< more for people to read, with the server's words
    std::size_t text_size = 0;
};

/// Receives the events of a client. It is called on the client's own thread or executor, never on a
/// thread that is inside `lock()`. It must not block; an exception from it would end the program.
/// It must live as long as the client, which shares its ownership (`options::observer`).
class observer {
public:
    virtual ~observer() = default;
    virtual void notify(const event&) noexcept = 0;
};

} // namespace holdfast
