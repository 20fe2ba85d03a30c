// SPDX-License-Identifier: Apache-2.0
// What takes too long, and what is to be said in time.
#include "net/later.hpp"
#include "net/time_limit.hpp"
#include "zookeeper/keeper.hpp"

#include <algorithm>
#include <string>

namespace holdfast::zookeeper {
namespace {

/// What a heartbeat checks: a node that is always there, and that nobody watches.
constexpr const char* always_there = "/";

} // namespace

/// How long a server may say nothing while it owes an answer. Where there is another one, that one
/// must be left time to resume the session.
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
        hear_arrived(*line_); // a thread that reads may have had no turn for long
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

/// Says that this client lives. A write, if the session is in use: nothing else proves that the
/// ensemble has heard it. Between two writes whatever was sent makes the next one prove more; and
/// so do the pings of a session that is not in use for the first write when it is used again,
/// which leaves a third of the timeout at least, less what clocks may differ by.
void keeper::beat(time_point now) {
    beat_due_ = now + beat_period();
    if (users_ > 0 && last_write_ <= now - 2 * beat_period()) {
        const std::vector<std::string> checked{below_chroot(always_there)};
        last_write_ = now; // it is as good as sent
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

/// The connection stays. What was asked once more goes over it, too, as long as the server is not
/// silent; and one that is silent is left after a sixth of the session's timeout, whatever was
/// asked of it, or after a third where it is the only one. A hold lasts at least 5/12 of the
/// timeout beyond a heartbeat's answer, so a quarter of the timeout is left to resume the session
/// elsewhere and to renew it there, and a twelfth where there is only one server. To leave earlier
/// would set every watch anew for a server that is only slow.
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
