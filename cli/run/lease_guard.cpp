// SPDX-License-Identifier: Apache-2.0
#include "cli/run/lease_guard.hpp"

#include "cli/run/until_first.hpp"
#include "cli/terminal/say.hpp"

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
asio::awaitable<void> grace_in_danger(const holdfast::lease& held, duration reserve) {
    while (held.remaining() > reserve)
        co_await until_first(pause(held.remaining() - reserve), stop_requested(held.lost()));
}

} // namespace

asio::awaitable<void> guard(const holdfast::lease& held, child_process& command, bool& stopped) {
    const duration whole = held.remaining();
    co_await until_first(stop_requested(held.in_danger()), stop_requested(held.lost()));

    stopped = true;
    const duration left = held.remaining();
    const std::string name = "lock '" + printable(held.name()) + "'";
    if (left > duration::zero())
        say(name + " cannot be renewed and ends in " + seconds(left) + ": stopping the command");
    else
        say(name + " was lost: stopping the command");
    command.signal(SIGTERM);
    command.signal(SIGCONT); // one that is stopped would not hear

    // Refused, the lock may be somebody else's already; yet a command gets a moment to clean up.
    if (left > duration::zero())
        co_await grace_in_danger(held, left / 3);
    else
        co_await pause(whole / 10);
    say("the command did not stop: killing it");
    command.signal(SIGKILL);
    co_await stop_requested({});
}

} // namespace cli
