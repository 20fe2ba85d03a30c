// SPDX-License-Identifier: Apache-2.0
// Timeouts of the keeper, and its heartbeats.
#include "net/later.hpp"
#include "net/time_limit.hpp"
#include "zookeeper/keeper.hpp"

#include <algorithm>
#include <string>

namespace holdfast::zookeeper {
namespace {

/// Path of the node that a heartbeat checks. This node always exists, and it has no watches.
constexpr const char* always_there = "/";

} // namespace

/// Returns how long a server may owe an answer before the client leaves it. If there are other
/// servers, enough time must remain to resume the session at one of them.
duration keeper::silence_max() const {
    return session_.timeout / (servers_.size() > 1 ? 6 : 3);
}

time_point keeper::silent_at() const {
    const auto owed_since = requests_.owed_since();
    return owed_since ? std::max(*owed_since, last_heard_) + silence_max() : time_point::max();
}

time_point keeper::idle_until() const {
    if (is_needed() || requests_.oldest())
        return time_point::max();
    return last_asked_ + std::max(idle_most, 2 * session_.timeout);
}

time_point keeper::next_limit() const {
    const auto oldest = requests_.oldest();
    const time_point first = oldest ? *oldest + how_.command_timeout : time_point::max();
    if (connected_)
        return std::min({first, silent_at(), beat_due_, idle_until()});
    if (users_ > 0 && session_.exists())
        return std::min(first, session_.term.alive_until());
    return first;
}

void keeper::limit_reached(time_point now) {
    if (connected_ && line_->bare() && line_->bare()->looks_away())
        hear_arrived(*line_); // the thread that reads may have been suspended for a long time
    if (connected_) {
        if (silent_at() <= now)
            line_->cut(unanswered(silence_max()));
        else if (idle_until() <= now)
            say_goodbye(std::make_shared<request>(message{.what = opcode::close_session}));
        else if (beat_due_ <= now)
            beat(now);
    } else if (users_ > 0 && session_.term.alive_until() <= now) {
        end_session(true);
    }
    give_up_late(now);
}

/// Sends a heartbeat. If the session is in use, the heartbeat is a write, because only a write
/// proves that the ensemble has heard from the session. A write also proves that the ensemble heard
/// earlier requests (session_term.hpp). Therefore the pings of an idle session are useful later:
/// the first write after them proves that the session has at least a third of its timeout left,
/// minus the possible drift of the clocks.
void keeper::beat(time_point now) {
    beat_due_ = now + beat_period();
    if (users_ > 0 && last_write_ <= now - 2 * beat_period()) {
        const std::vector<std::string> checked{below_chroot(always_there)};
        last_write_ = now; // the heartbeat is sent at once
        requests_.ask(std::make_shared<request>(check_message(checked)), now);
        flush();
    } else if (session_.last_sent > now - beat_period()) {
        if (users_ == 0)
            beat_due_ = session_.last_sent + beat_period();
    } else if (line_->can_send()) {
        requests_.write_ping(line_->outbox(), now);
        flush();
    }
}

void keeper::give_up_late(time_point now) {
    const std::vector<shared_request> late = requests_.late(now - how_.command_timeout);
    if (!late.empty())
        give_up(late, how_.command_timeout);
}

void keeper::give_up(const std::vector<shared_request>& late, duration within) {
    std::vector<shared_request> sent, kept_back;
    for (const shared_request& one : late)
        (one->number != 0 ? sent : kept_back).push_back(one);
    fail(sent, unanswered(within));
    fail(kept_back, unsent(within));
}

/// Waits until the request is settled or `limit` comes. Does not cut the connection at `limit`.
///
/// A repeated request uses the same connection unless the server is silent. The keeper leaves a
/// silent server after a sixth of the session's timeout, or after a third if there is only one
/// server. A hold lasts at least 5/12 of the timeout after the answer to a heartbeat. Thus a
/// quarter of the timeout remains to resume the session at another server and to renew the hold
/// there. With only one server a twelfth remains. If the keeper left earlier, a slow server would
/// force the client to set all watches again.
asio::awaitable<void> keeper::settled_by(shared_request asked, time_point limit) {
    if (limit >= asked->asked_at + how_.command_timeout)
        co_return co_await settled(asked);
    auto late = [this, keep = shared_from_this(), asked, limit] {
        if (asked->standing == request::stage::settled)
            return;
        requests_.give_up(*asked);
        give_up({asked}, limit - asked->asked_at);
    };
    const net::time_limit ends{home_, limit, late};
    co_await settled(asked);
}

net::failure keeper::unsent(duration within) const {
    const std::string reason = trouble_     ? trouble_->text()
                               : connected_ ? address() + " takes no more requests"
                                            : "no connection to " + address() + " yet";
    return {errc::unreachable,
            "not sent within " + std::to_string(within.count()) + " ms: " + reason};
}

net::failure keeper::unanswered(duration within) const {
    return {errc::outcome_unknown,
            address() + " did not answer within " + std::to_string(within.count()) + " ms"};
}

} // namespace holdfast::zookeeper
