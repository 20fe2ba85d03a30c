// SPDX-License-Identifier: Apache-2.0
#include "cli/run/hold_on.hpp"

#include "cli/look/lock_words.hpp"
#include "cli/run/job.hpp"
#include "cli/run/job_signals.hpp"
#include "cli/run/until_first.hpp"
#include "cli/terminal/say.hpp"

#include <algorithm>
#include <csignal>

#include <sys/wait.h>

namespace cli {
namespace {

using holdfast::boot_clock;
using namespace std::chrono_literals;

/// Time between two comparisons of the clocks. Asio's timers stop while the machine is suspended,
/// but the clock of a lease continues.
constexpr std::chrono::seconds look_at_clock_every{10};

asio::awaitable<void> clock_reaches(holdfast::time_point moment) {
    while (boot_clock::now() < moment)
        co_await pause(
            std::min<holdfast::duration>(moment - boot_clock::now() + 1ms, look_at_clock_every));
}

asio::awaitable<void> told_to_end(signal_inbox& signals, const job* behind) {
    for (;;) {
        co_await signals.arrival();
        while (const std::optional<int> next = signals.take()) {
            if (ends_wait(*next, behind != nullptr))
                co_return;
            if (*next == SIGCHLD)
                while (::waitpid(-1, nullptr, WNOHANG) > 0) {
                }
            else if (*next == SIGTSTP && behind != nullptr)
                behind->stop();
        }
    }
}

} // namespace

asio::awaitable<void> hold_on(const holdfast::lease& held, holdfast::time_point until,
                              signal_inbox& signals, const job* behind) {
    co_await until_first(clock_reaches(until), told_to_end(signals, behind),
                         stop_requested(held.lost()));
    if (held.lost().stop_requested())
        say("lock '" + printable(held.name()) + "' was lost " +
            in_words(std::max(until - boot_clock::now(), holdfast::duration{})) +
            " before the end of --hold-for");
}

} // namespace cli
