// SPDX-License-Identifier: Apache-2.0
// How a pool ends calls that take too long, and keeps idle connections alive.
#include "mysql/pool.hpp"
#include "mysql/set_up.hpp"
#include "net/later.hpp"
#include "runtime/background.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::mysql {

time_point pool::idle_until(const seat& one) const {
    return net::later(one.at->heard_at(), how_.keep_alive);
}

/// Returns the time at which the pool must begin to watch an idle connection. Returns "never" if
/// the connection is watched or in use.
time_point pool::unwatched_until(const seat& one) const {
    return !one.taken && one.at->is_unwatched() ? net::later(one.at->heard_at(), unwatched_max)
                                                : time_point::max();
}

time_point pool::next_limit() const {
    time_point first = time_point::max();
    for (const place& each : seats_.all()) {
        const bool idle = !each->taken && !each->in_transaction;
        first = std::min(
            {first, each->at->limit(), unwatched_until(*each), idle ? idle_until(*each) : first});
    }
    return first;
}

void pool::look_at_limits(time_point now) {
    const std::vector<place> all = seats_.all();
    for (const place& each : all) {
        if (unwatched_until(*each) <= now) {
            each->at->watch();
            if (each->at->is_cut()) {
                gone(each);
                continue;
            }
        }
        if (each->at->limit() <= now)
            each->at->cut(
                {errc::outcome_unknown, each->who.facts.address + " did not answer in time"});
        else if (!each->taken && !each->in_transaction && idle_until(*each) <= now) {
            each->taken = true;
            runtime::run_in_background(home_, use_idle(shared_from_this(), each));
        }
    }
}

/// Sends a keep-alive on an idle connection, so that no firewall or proxy drops it. The answer also
/// tells whether the server still accepts writes.
asio::awaitable<void> pool::use_idle(std::shared_ptr<pool>, place one) {
    const time_point limit = net::later(home_.time.now(), how_.command_timeout);
    watch_for(limit);
    std::optional<net::failure> failed;
    try {
        portrait now = co_await look_again(*one->at, limit);
        now.facts.address = one->who.facts.address;
        now.facts.over_tls = one->who.facts.over_tls;
        one->who = std::move(now);
        facts_ = one->who.facts;
    } catch (const net::failure& why) {
        failed = why;
    }
    if (failed) {
        one->at->cut(*failed);
        if (failed->code() == store_errc::read_only || failed->code() == store_errc::unfit)
            leave_server(*failed);
    }
    take_back(one);
}

/// Cuts idle connections after a request got no answer, because they may be dead too. Cuts each
/// idle connection that received nothing since `unheard_since`, the time when the request was sent.
void pool::distrust(time_point unheard_since) {
    const std::vector<place> all = seats_.all();
    for (const place& each : all)
        if (each->free() && each->at->heard_at() < unheard_since) {
            each->at->cut({errc::unreachable, "the server does not answer"});
            gone(each);
        }
}

} // namespace holdfast::mysql
