// SPDX-License-Identifier: Apache-2.0
// The calculation of the time at which a session may end (`session_lease`), and the data with which
// a client resumes its session (`known_session`). The code here does no I/O and reads no clock.
#pragma once

#include "zookeeper/protocol.hpp"

#include <holdfast/time.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace holdfast::zookeeper {

/// Calculates until when the ensemble has surely not ended a session. The result is a time of the
/// client's own clock.
///
/// The leader ends a session if it receives nothing for the session during the session's timeout.
/// An answer alone does not prove that the leader has heard from the session, for two reasons:
///
/// 1. A follower answers reads and pings itself. It tells the leader about its sessions only when
///    the leader asks, once every half tick. If the follower dies before that, the leader never
///    learns of the request. A timeout is at least two ticks. So half a timeout after the answer,
///    the leader has asked, and it handles later requests after the follower's report.
/// 2. A server that is cut off from the ensemble continues to answer for several ticks, even if it
///    is the leader. In the meantime the other servers elect a new leader. But a write needs a
///    majority, and a new leader gives each session its whole timeout. So if a write was answered,
///    no new leader had started to measure the timeout before the write was sent.
///
/// Therefore a request extends the session from the time when it was sent, but only after a later
/// write was answered. The later write must use the same connection, and must have been sent at
/// least half a timeout after the answer to the request.
///
/// Opening a session is a write and extends the session at once. Resuming a session is reported to
/// the leader directly, so reason 1 does not apply. But resuming is not a write, so it extends the
/// session only after the answer to any later write.
///
/// A small risk remains: the leader may ask half a tick late, and the follower may die while its
/// report is on the way.
///
/// The class does no I/O and reads no clock.
class session_lease {
public:
    void opened(time_point sent_at, duration timeout);
    void resumed(time_point sent_at, duration timeout);

    /// Records an answer to any request of the current connection. Call the function in the order
    /// of the answers.
    void answered(time_point sent_at, time_point now);
    /// Records that the server has answered a write. Call `answered` for the same answer after this
    /// call.
    void write_answered(time_point sent_at);

    /// Forgets the session, because it has ended.
    void forget() { *this = {}; }

    time_point alive_until() const;

private:
    /// Returns the time span that one entry of `answered_` covers. Requests that are sent within
    /// this time share an entry. The entry has the sending time of the first of these requests.
    duration grain() const { return timeout_ / 64; }
    void count(time_point sent_at);

    duration timeout_{};
    // Sending time of the newest request that has extended the session.
    std::optional<time_point> counted_;
    // Time at which the session was resumed. When the next write is answered, the session counts as
    // extended from this time.
    std::optional<time_point> resumed_;

    struct request {
        time_point sent_at;
        time_point answered_at;
    };
    std::deque<request> answered_; // requests that may extend the session after a later write
};

/// Returns the safety margin for the end of the session: one percent, because the speeds of clocks
/// may differ by so much, and two milliseconds for rounding on both sides.
duration drift(duration timeout);

/// Data of a session that the client needs to resume the session at another server.
struct known_session {
    std::int64_t id = 0; ///< zero: no session
    std::string password{};
    duration timeout{};
    std::int64_t last_zxid = 0;
    session_lease term{};
    time_point last_sent{}; ///< time at which the newest request was sent

    bool exists() const { return id != 0; }

    void opened(const welcome&, time_point sent_at);
    void resumed(const welcome&, time_point sent_at);
    void saw(std::int64_t zxid);

    /// Returns the first message to a server. The message resumes the session, or opens a new
    /// session with the timeout `wanted`.
    greeting to_greet(duration wanted) const;

    /// Returns whether the session has certainly ended: the client has sent nothing for two
    /// timeouts.
    bool is_long_gone(time_point now) const { return now - last_sent >= 2 * timeout; }
};

} // namespace holdfast::zookeeper
