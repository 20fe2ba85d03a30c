// SPDX-License-Identifier: Apache-2.0
#include "cli/run/lease_guard.hpp"

#include "cli/run/until_first.hpp"
#include "cli/terminal/say.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>

namespace cli {
namespace {

using holdfast::duration;

std::string seconds(duration length) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>{length}.count());
    return text;
}

/// Returns when the remaining lease is down to `reserve`. The command must end before the lease
/// does. A renewal during this time lengthens the wait.
asio::awaitable<void> reserve_is_reached(const holdfast::lease& held, duration reserve) {
    while (held.remaining() > reserve)
        co_await until_first(pause(held.remaining() - reserve), stop_requested(held.lost()));
}

asio::awaitable<void> grace_in_danger(const holdfast::lease& held, duration left,
                                      std::optional<duration> wanted) {
    const duration reserve = left / 3;
    if (wanted)
        co_await until_first(pause(*wanted), reserve_is_reached(held, reserve));
    else
        co_await reserve_is_reached(held, reserve);
}

std::string reason_of(const holdfast::lease& held, duration left, const last_words& heard) {
    const std::string name = "lock '" + printable(held.name()) + "'";
    if (left <= duration::zero())
        return name + " was lost";
    return name +
           (heard.max_hold_reached() ? " was held for as long as max_hold allows and ends in "
                                     : " cannot be renewed and ends in ") +
           seconds(left);
}

} // namespace

asio::awaitable<void> guard(const holdfast::lease& held, running_job& job, const on_loss& how,
                            const last_words& heard, std::stop_token orphaned,
                            stop_reason& reason) {
    const duration whole = held.remaining();
    co_await until_first(stop_requested(held.in_danger()), stop_requested(held.lost()),
                         stop_requested(orphaned));

    const bool is_orphan = orphaned.stop_requested();
    const duration left = held.remaining();
    reason = is_orphan ? "'holdfast run' was killed" : reason_of(held, left, heard);
    say(*reason + (how.signal == SIGKILL ? ": killing the command" : ": stopping the command"));
    if (how.signal == SIGKILL) {
        job.kill();
        co_await stop_requested({});
    }
    job.stop(how.signal);

    // After a refused renewal, another client may hold the lock already. The command still gets a
    // short time to clean up.
    const std::optional<duration> wanted = grace_of(how);
    if (is_orphan)
        co_await grace_in_danger(held, left, wanted.value_or(usual_grace));
    else if (left > duration::zero())
        co_await grace_in_danger(held, left, wanted);
    else
        co_await pause(std::min(wanted.value_or(whole / 10), whole / 2));
    say("the command did not stop: killing it");
    job.kill();
    co_await stop_requested({});
}

} // namespace cli
