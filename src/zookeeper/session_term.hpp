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
/// 1. A follower answers by itself, and reports to the leader whom it has heard only when the
///    leader asks, each half tick. If it dies before, the leader never heard of the request. A
///    timeout is two ticks at least. So when half a timeout has passed since the answer, the leader
///    has asked, and what it is sent and told behind that comes behind that.
/// 2. A server that is cut off goes on answering for several ticks, the leader too; meanwhile the
///    others elect another leader. But nothing is written without a majority, and a new leader
///    gives each session its whole timeout. So when a write was answered, no other leader had
///    begun to count before it was sent.
///
/// Hence: a request counts, from when it was sent, once a write has been answered that was sent at
/// least half of the timeout after the answer to that request, over the same connection. To open a
/// session is a write, and counts at once. To resume one is told to the leader itself, so 1 is no
/// question, but it is no write: it counts once any write that was sent after it has been answered.
///
/// What is left to chance: that the leader's question is late by half a tick, and the follower dies
/// with its report on the way.
///
/// No I/O, no clock.
class session_term {
public:
    void opened(time_point sent_at, duration timeout);
    void resumed(time_point sent_at, duration timeout);

    /// Any request of the present connection, in the order of the answers.
    void answered(time_point sent_at, time_point now);
    /// A write was carried out. Then call the other one, too.
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

    struct request {
        time_point sent_at;
        time_point answered_at;
    };
    std::deque<request> answered_; // those that may count some day
};

/// What is taken off: clocks may differ by one per cent, and two milliseconds cover the rounding on
/// both sides.
duration drift(duration timeout);

} // namespace holdfast::zookeeper
