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

/// Nothing can be renewed now. The end is ours to meet: whatever `remaining()` says then, the
/// command must be gone before it is zero.
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

std::optional<duration> grace_of(const on_loss& how) {
    if (!how.grace)
        return std::nullopt;
    constexpr std::chrono::duration<double> longest = std::chrono::hours{24};
    return std::chrono::ceil<duration>(std::min(*how.grace, longest));
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

asio::awaitable<void> guard(const holdfast::lease& held, child_process& command, const on_loss& how,
                            const last_words& heard, stop_reason& reason) {
    const duration whole = held.remaining();
    co_await until_first(stop_requested(held.in_danger()), stop_requested(held.lost()));

    const duration left = held.remaining();
    reason = reason_of(held, left, heard);
    say(*reason + (how.signal == SIGKILL ? ": killing the command" : ": stopping the command"));
    command.signal(how.signal);
    command.signal(SIGCONT); // one that is stopped would not hear
    if (how.signal == SIGKILL)
        co_await stop_requested({});

    // Refused, the lock may be somebody else's already; yet a command gets a moment to clean up.
    const std::optional<duration> wanted = grace_of(how);
    if (left > duration::zero())
        co_await grace_in_danger(held, left, wanted);
    else
        co_await pause(std::min(wanted.value_or(whole / 10), whole / 2));
    say("the command did not stop: killing it");
    command.signal(SIGKILL);
    co_await stop_requested({});
}

} // namespace cli
