// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast {

/// Events that a client reports to its observer, for metrics, logs and alarms.
enum class event_kind : std::int32_t {
    acquired = 1, ///< a lock was granted; `duration_us`: time from the call to the grant
    waited,       ///< an acquisition ended without the lock; `duration_us`: how long it waited
    /// The store acknowledged the release, the lock was handed over to the next waiter of this
    /// client, or lease::detach() ended the hold in this client. `duration_us`: how long the lock
    /// was held.
    released,
    /// A hold ended before its owner released it. No other event of this hold follows. If the hold
    /// is on several locks (`multi_mutex`), it ends when one member is lost, and `cause` is the
    /// cause of that loss. `duration_us`: how long the lock was held.
    lost,
    /// A renewed hold will end soon, because renewals fail or because it has reached
    /// `options::max_hold` (see `cause`). `duration_us`: the time that is left.
    in_danger,
    /// A thread ended while it held the lock, so the hold is not renewed any more. `duration_us`:
    /// how long the lock was held so far.
    abandoned,
    /// One attempt to renew a hold failed. The client will try again. `duration_us`: how long the
    /// hold stays valid without a renewal.
    renewal_failed,
    /// The server refused the release, or did not acknowledge it before the lease expired.
    /// `duration_us`: how long the lock was held. This event ends the hold: no `released` event
    /// follows, even if a later attempt to release the lock succeeds.
    release_failed,
    misuse,       ///< `unlock()` or `unlock(ec)` of a lock that the caller does not hold
    disconnected, ///< a connection to the store failed or was lost; name: its address
    reconnected,  ///< the connection works again; `duration_us`: how long it was lost
    /// Locks work, but a feature does not, for example because the user has no permission for it.
    /// `text`: what does not work, and which permission is missing. On ZooKeeper, the event also
    /// reports that the session timeout differs from the requested timeout.
    impaired,
    /// All or some of the locks are now on another server. `name`: the address of that server.
    /// `text`: who reported the change. The client asks the new server at once whether it still has
    /// the locks that this client holds.
    moved,
    /// A call cannot get the lock at once, and begins to wait. Exactly one event with the same
    /// `call_number` follows when the wait ends: `acquired`, `joined` or `waited`. No event follows
    /// if the executor that the user gave to the client ends first. `duration_us`: time from the
    /// call to this event. A call that gets the lock at once, or that may not wait, does not report
    /// this event.
    waiting,
    /// A call got a share of a hold that this client already has: several readers of one client
    /// share a hold at the store. The hold has one `acquired` and one end, however many calls share
    /// it. `duration_us`: time from the call to the grant.
    joined,
};

/// Reasons for the loss of a hold, the end of a wait, or the loss of a connection. Used in
/// `event::cause`, together with `event::code`.
enum class event_cause : std::int32_t {
    none = 0,
    /// The store replied that this owner does not hold the lock: the lock was removed by
    /// force_unlock(), evicted or flushed, or its lease expired.
    refused,
    term_ended, ///< the validity ended because no renewal reached the store in time
    forced,     ///< `force_unlock` by this client
    max_hold,   ///< `options::max_hold` was reached
    timed_out,  ///< the timeout of the call expired
    cancelled,
    closed, ///< the client was closed
    failed, ///< see `code` and `text`
};

/// Description of one event. The description is valid only during the call of the observer. The
/// type is a plain struct, so that C and other languages can use it.
struct event {
    event_kind kind;
    event_cause cause = event_cause::none;
    /// Name of the lock at the store, or an address; not NUL-terminated.
    const char* name = nullptr;
    std::size_t name_size = 0;
    std::uint64_t owner_number = 0; ///< number of the hold at the store; 0 if there is none
    std::int64_t duration_us = 0;   ///< microseconds; the meaning depends on the kind
    std::int32_t code = 0;          ///< value of the `errc`, 0 if none
    const char* text = nullptr;     ///< details in plain text, including the server's error text
    std::size_t text_size = 0;
    /// Number of the call that acquires or has acquired the lock; unique in this process. All
    /// events of one wait and of the hold that follows it have the same number. The number is 0 if
    /// the event is about no call and no hold.
    std::uint64_t call_number = 0;
    /// Change of the number of held locks: 1 when a hold begins, -1 when a hold ends, otherwise 0.
    /// A lock that consists of several locks counts in addition to its members. For a counter
    /// (semaphore, latch, rate limiter), the value is always 0.
    std::int32_t held_change = 0;
};

/// Receives the events of a client. The client calls the observer on its own thread or executor,
/// never on a thread that is inside `lock()`. The observer must not block. If it threw an
/// exception, the program would end. The client shares ownership of the observer
/// (`options::observer`).
class observer {
public:
    virtual ~observer() = default;
    virtual void notify(const event&) noexcept = 0;
};

} // namespace holdfast
