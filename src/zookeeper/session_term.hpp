// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <deque>
#include <optional>

namespace holdfast::zookeeper {

/// Computes until when the ensemble has surely not ended a session, by the client's own clock.
///
/// The leader ends a session from which it has heard nothing for the session's timeout. For two
/// reasons an answer alone does not prove that the leader has heard from the session:
///
/// 1. A follower answers reads and pings itself. It reports the sessions that it has heard from
///    only when the leader asks, which happens each half tick. If the follower dies before that,
///    the leader never learns of the request. A timeout is at least two ticks. So half a timeout
///    after the answer, the leader has asked, and it handles later requests after that report.
/// 2. A server that is cut off from the ensemble goes on answering for several ticks, even the
///    leader. Meanwhile the other servers elect a new leader. But a write needs a majority, and a
///    new leader gives each session its whole timeout. So if a write was answered, no new leader
///    had started to count before the write was sent.
///
/// Therefore a request counts, from the time when it was sent, once a suitable write is answered.
/// The write must use the same connection, and must have been sent at least half a timeout after
/// the answer to the request. Opening a session is a write and counts at once. Resuming a session
/// is reported to the leader directly, so reason 1 does not apply. But it is not a write, so it
/// counts once any later write is answered.
///
/// A small risk remains: the leader asks half a tick late, and the follower dies while its report
/// is on the way.
///
/// No I/O, no clock.
class session_term {
public:
    void opened(time_point sent_at, duration timeout);
    void resumed(time_point sent_at, duration timeout);

    /// Notes an answer to any request of the current connection. Call it in the order of the
    /// answers.
    void answered(time_point sent_at, time_point now);
    /// Notes that a write was carried out. Call `answered` afterwards too.
    void write_answered(time_point sent_at);

    /// Forgets the session, because it has ended.
    void forget() { *this = {}; }

    time_point alive_until() const;

private:
    /// Requests within this time are stored as one entry, with the time of the first request.
    duration grain() const { return timeout_ / 64; }
    void count(time_point sent_at);

    duration timeout_{};
    std::optional<time_point> counted_; // when the newest request that counts was sent
    std::optional<time_point> resumed_; // when the session was resumed; counts after the next write

    struct request {
        time_point sent_at;
        time_point answered_at;
    };
    std::deque<request> answered_; // requests that may count after a later write
};

/// Returns the safety margin for the session's end. Clocks may differ by one percent, and two
/// milliseconds cover the rounding on both sides.
duration drift(duration timeout);

} // namespace holdfast::zookeeper
