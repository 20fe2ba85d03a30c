// SPDX-License-Identifier: Apache-2.0
#include "cli/run/running_job.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <csignal>

namespace cli {
namespace {

using holdfast::boot_clock;
using namespace std::chrono_literals;

/// Time to wait for the end of killed processes.
constexpr std::chrono::seconds kill_patience{1};

/// Time between two checks of the job's processes. It matters only if no SIGCHLD reports a change.
constexpr std::chrono::milliseconds look_at_others_every{500};
constexpr std::chrono::milliseconds look_at_killed_every{5};

} // namespace

running_job::running_job(asio::io_context& loop, const inheritance& inherited,
                         const std::vector<std::string>& command, const surroundings& around)
    : command_{loop, inherited, command, around}
    , group_{command_.id()}
    , changed_{loop} {}

void running_job::pass(int signal) {
    if (command_is_over_)
        others_.signal(signal, 0);
    else
        command_.signal(signal);
}

void running_job::stop(int signal) {
    command_.signal(signal);
    others_.signal(signal, command_is_over_ ? 0 : group_);
    command_.signal(SIGCONT); // a stopped process would not handle the signal
    others_.signal(SIGCONT, command_is_over_ ? 0 : group_);
}

void running_job::kill() {
    killed_at_ = boot_clock::now();
    command_.signal(SIGKILL);
    others_.kill();
    changed_.cancel();
}

void running_job::child_changed() {
    others_.reap(command_is_over_ ? -1 : group_);
    changed_.cancel();
}

int running_job::take_status() {
    command_is_over_ = true;
    return command_.status();
}

asio::awaitable<void> running_job::child_changes(std::chrono::milliseconds at_most) {
    changed_.expires_after(at_most);
    holdfast::error_code early;
    co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, early));
    const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        throw boost::system::system_error{asio::error::operation_aborted};
}

asio::awaitable<void> running_job::others_ended(std::optional<int> heard) {
    others_.reap(-1);
    while (others_left()) {
        if (killed_at_ && boot_clock::now() - *killed_at_ > kill_patience)
            co_return;
        if (killed_at_)
            others_.kill(); // the job may have started another process since the last kill
        else if (heard)
            others_.tell_orphans(*heard, group_);
        co_await child_changes(killed_at_ ? look_at_killed_every : look_at_others_every);
        others_.reap(-1);
    }
}

} // namespace cli
