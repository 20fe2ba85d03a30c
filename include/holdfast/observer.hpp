// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast {

/// What a client reports, for metrics, logs and alarms.
enum class event_kind : std::int32_t {
    acquired = 1, ///< a lock was granted; `duration_us`: from the call to the grant
    waited,       ///< an acquisition ended without the lock; `duration_us`: how long it waited
    released,     ///< acknowledged by the store; `duration_us`: how long it was held
    lost,         ///< a hold ended without its owner's asking; `duration_us`: how long it was held
    in_danger,    ///< renewals fail and the end comes near; `duration_us`: what is left
    abandoned,    ///< a thread ended while holding: no more renewal; `duration_us`: held so far
    renewal_failed, ///< one attempt, which is repeated; `duration_us`: what is left of the term
    release_failed, ///< the server said no, or nothing until the lease had ended. It is the hold's
                    ///< end for whoever counts: `released` is not told if a later attempt succeeds
    misuse,         ///< `unlock()` of a lock that the caller does not hold
    disconnected,   ///< a connection to the store was lost; name: its address
    reconnected,    ///< and is back; `duration_us`: how long it was away
    impaired, ///< the store denies what locks can do without; `text`: its price, what to grant
};

/// Why a hold was lost, a wait ended, a connection went: what `event::cause` carries beside
/// `event::code`.
enum class event_cause : std::int32_t {
    none = 0,
    refused,    ///< the store says it is no longer ours: forced, evicted, expired, flushed
    term_ended, ///< the store could not be asked in time
    forced,     ///< `force_unlock` through this very client
    max_hold,   ///< the option's bound was reached
    timed_out,  ///< patience ran out
    cancelled,
    closed, ///< the client was closed
    failed, ///< see `code` and `text`
};

/// One report. Plain data, valid during the call only, so that C and other languages can carry it.
struct event {
    event_kind kind;
    event_cause cause = event_cause::none;
    const char* name = nullptr; ///< of the lock as the store sees it, or an address; not terminated
    std::size_t name_size = 0;
    std::uint64_t owner_number = 0; ///< of the wire hold, 0 where there is none
    std::int64_t duration_us = 0;   ///< microseconds; its meaning is given with the kind
    std::int32_t code = 0;          ///< value of the `errc`, 0 if none
    const char* text = nullptr;     ///< more about it for people, the server's words too
    std::size_t text_size = 0;
};

/// Hears what a client reports. Called on the client's own thread or executor, never on a thread
/// that is inside `lock()`; it must not block, and what it throws would end the program.
/// Keep it alive as long as the client.
class observer {
public:
    virtual ~observer() = default;
    virtual void notify(const event&) noexcept = 0;
};

} // namespace holdfast
