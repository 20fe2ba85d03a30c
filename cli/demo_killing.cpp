// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_killing.hpp"

#include "cli/child_process.hpp"
#include "cli/demo_board.hpp"
#include "cli/descriptor.hpp"
#include "cli/reaching.hpp"
#include "cli/until_first.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <csignal>
#include <cstdio>
#include <iostream>

namespace cli {
namespace {

using holdfast::boot_clock;
using namespace std::chrono_literals;

std::string seconds(holdfast::duration length) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", std::chrono::duration<double>{length}.count());
    return text;
}

/// The clock that people watch. It runs until it is cancelled.
asio::awaitable<void> show_waiting(holdfast::time_point since) {
    while (stdout_is_terminal()) {
        std::cout << "\r   Waiting ... " << seconds(boot_clock::now() - since) << " s"
                  << std::flush;
        co_await pause(100ms);
    }
    co_await stop_requested({});
}

asio::awaitable<void> take(holdfast::mutex& lock, std::optional<holdfast::lease>& held) {
    held = co_await lock.async_lock(asio::use_awaitable);
}

asio::awaitable<void> kill_soon(child_process& holder,
                                std::optional<holdfast::time_point>& killed_at) {
    co_await pause(700ms);
    holder.signal(SIGKILL);
    killed_at = boot_clock::now();
    co_await holder.ended();
    co_await show_waiting(*killed_at);
}

asio::awaitable<void> report_of(asio::posix::stream_descriptor& holder) {
    char byte = 0;
    co_await holder.async_read_some(asio::buffer(&byte, 1), asio::use_awaitable);
}

struct scene {
    asio::io_context loop{1};
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
        ::close(reports.write.release()); // or its end would not be seen
        co_await report_of(report);
        std::cout << "   Process " << holder.id() << " holds the lock, on a lease of 2 s that it "
                  << "renews.\n   We wait for the lock too, and kill that process with SIGKILL."
                  << std::endl;

        holdfast::client home{loop.get_executor(), reaching(url)};
        holdfast::mutex mine{home, lock};
        std::optional<holdfast::lease> held;
        co_await until_first(take(mine, held), kill_soon(holder, killed_at));
        ours_at = boot_clock::now();
        if (stdout_is_terminal())
            std::cout << '\r';
        co_await held->async_unlock(asio::use_awaitable);
        co_await home.async_close(asio::use_awaitable);
    }
};

} // namespace

std::optional<holdfast::duration> wait_behind_killed_holder(const std::string& url,
                                                            const std::string& lock,
                                                            const inheritance& inherited) {
    scene act{.url = url, .lock = lock, .inherited = inherited};
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
