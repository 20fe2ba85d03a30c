// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <deque>
#include <optional>

namespace holdfast::zookeeper {

/// Until when the ensemble has surely not ended a session, as arithmetic on our own clock.
///
/// The leader ends a session that it did not hear of for its timeout. Two things keep an answer
/// from being a proof that it did hear of it:
///
/// 1. A follower answers by itself, and reports to the leader, each half tick, whom it has heard.
///    If it dies before, the leader never heard of the request. A timeout is at least two ticks, so
///    within half a timeout it has reported twice.
/// 2. A server that is cut off goes on answering for several ticks, the leader too; meanwhile the
///    others elect another leader. But nothing is written without a majority, and a new leader
///    gives each session its whole timeout. So when a write was answered, no other leader had
///    begun to count before it was sent.
///
/// Hence: a request counts once a write that was sent at least half of the timeout later, over the
/// same connection, has been answered. To open a session is such a write, and counts at once. To
/// resume one is told to the leader itself, so 1 is no question, but it is no write: it counts
/// once any write that was sent after it has been answered.
///
/// No I/O, no clock.
class session_term {
public:
    void opened(time_point sent_at, duration timeout);
    void resumed(time_point sent_at, duration timeout);

    /// Any request, in the order of sending.
    void sent(time_point when);
    /// A write, which was sent then over the present connection, was carried out.
    void write_answered(time_point sent_at);

    /// There is no session.
    void forget() { *this = {}; }

    time_point alive_until() const;

private:
    /// Of the requests that come this close together the first one stands for all.
    duration grain() const { return timeout_ / 64; }
    void count(time_point sent_at);

    duration timeout_{};
    std::optional<time_point> counted_; // the newest request that counts
    std::optional<time_point> resumed_; // counts with the first write behind it
    std::deque<time_point> sent_;       // those that may count some day
};

/// What is taken off: clocks may differ by one per cent, and two milliseconds cover the rounding on
/// both sides.
duration drift(duration timeout);

} // namespace holdfast::zookeeper
