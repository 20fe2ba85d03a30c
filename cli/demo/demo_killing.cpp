// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_killing.hpp"

#include "cli/demo/demo_screen.hpp"
#include "cli/descriptor.hpp"
#include "cli/look/lock_words.hpp"
#include "cli/look/reaching.hpp"
#include "cli/run/child_process.hpp"
#include "cli/run/until_first.hpp"
#include "cli/server/chosen_server.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <vector>

namespace cli {
namespace {

using holdfast::boot_clock;
using namespace std::chrono_literals;

asio::awaitable<void> take(holdfast::mutex& lock, std::optional<holdfast::lease>& held) {
    held = co_await lock.async_lock(asio::use_awaitable);
}

asio::awaitable<void> report_of(asio::posix::stream_descriptor& holder) {
    char byte = 0;
    co_await holder.async_read_some(asio::buffer(&byte, 1), asio::use_awaitable);
}

struct scene {
    asio::io_context loop{1};
    demo_screen& screen;
    std::string url;
    std::string lock;
    const inheritance& inherited;
    std::optional<holdfast::time_point> killed_at{};
    holdfast::time_point ours_at{};

    asio::awaitable<void> play() {
        pipe_ends reports = make_pipe();
        child_process holder{loop,
                             inherited,
                             {"/proc/self/exe", "demo-holder", lock, "2s"},
                             {.standard = {.out = reports.write.get()}}};
        asio::posix::stream_descriptor report{loop, reports.read.release()};
        // Otherwise the reader would not notice the end of the pipe.
        ::close(reports.write.release());
        co_await report_of(report);
        std::cout << "   Process " << holder.id() << " holds the lock, on a "
                  << (keeps_sessions(url) ? "session of a few seconds" : "lease of 2 s")
                  << " that it renews.\n"
                     "   We wait for the lock too, and kill that process with SIGKILL."
                  << std::endl;

        holdfast::client home{loop.get_executor(), reaching(url)};
        holdfast::mutex mine{home, lock};
        std::optional<holdfast::lease> held;
        co_await until_first(take(mine, held), kill_soon(holder), watch(mine, holder.id()));
        ours_at = boot_clock::now();
        if (screen.is_live())
            screen.show(table(holder.id(), held->remaining(), true));
        screen.keep();
        co_await held->async_unlock(asio::use_awaitable);
        co_await home.async_close(asio::use_awaitable);
    }

    asio::awaitable<void> kill_soon(child_process& holder) {
        co_await pause(1500ms); // long enough to show some renewals
        holder.signal(SIGKILL);
        killed_at = boot_clock::now();
        co_await holder.ended();
        co_await stop_requested({});
    }

    /// Redraws the table with the remaining lease. Runs until it is cancelled.
    asio::awaitable<void> watch(const holdfast::mutex& mine, pid_t holder) {
        if (!screen.is_live())
            co_await stop_requested({});
        for (;;) {
            const auto left = co_await mine.async_remaining_lease(asio::use_awaitable);
            screen.show(table(holder, left.value_or(0ms), false));
            co_await pause(100ms);
        }
    }

    std::vector<std::string> table(pid_t holder, holdfast::duration left, bool ours) const {
        if (left == holdfast::duration::max()) // ZooKeeper does not tell how long a session lasts
            left = 0ms;
        const auto bar = static_cast<std::size_t>(std::clamp<long>(left.count() / 100, 0, 20));
        const std::string waited =
            killed_at ? in_words((ours ? ours_at : boot_clock::now()) - *killed_at) : "";
        return {"   process " + std::to_string(holder) + "  " +
                    (killed_at ? screen.bad("killed") : screen.good("has the lock")),
                "   we" + std::string(std::to_string(holder).size() + 8, ' ') +
                    (ours ? screen.good("have the lock")
                          : "wait" + (waited.empty() ? "" : ", since the kill for " + waited)),
                "   the lease" + std::string(std::to_string(holder).size() + 1, ' ') +
                    (ours ? "is ours"
                     : keeps_sessions(url)
                         ? "ends with its session"
                         : std::string(bar, '#') + " " + in_words(left) + " left")};
    }
};

} // namespace

std::optional<holdfast::duration> wait_behind_killed_holder(demo_screen& screen,
                                                            const std::string& url,
                                                            const std::string& lock,
                                                            const inheritance& inherited) {
    scene act{.screen = screen, .url = url, .lock = lock, .inherited = inherited};
    asio::co_spawn(act.loop, act.play(), [](std::exception_ptr thrown) {
        if (thrown)
            std::rethrow_exception(thrown);
    });
    act.loop.run();
    if (!act.killed_at)
        return std::nullopt;
    return act.ours_at - *act.killed_at;
}

} // namespace cli
