// SPDX-License-Identifier: Apache-2.0
// Supervisor process of the private server. It starts the server, stops it after it was unused for
// a while, and cleans up. Its stdin is the folder's lock. Its stdout is a pipe. The process that
// started it reads the result from this pipe.
#include "cli/exit_status.hpp"
#include "cli/server/private_server.hpp"
#include "cli/server/server_process.hpp"
#include "cli/terminal/say.hpp"
#include "cli/verbs.hpp"

#include <holdfast/time.hpp>

#include <algorithm>
#include <array>
#include <csignal>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cli {
namespace {

using holdfast::boot_clock;
using namespace std::chrono_literals;

descriptor block_signals() {
    sigset_t ours;
    ::sigemptyset(&ours);
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        ::sigaddset(&ours, each);
    ::sigprocmask(SIG_BLOCK, &ours, nullptr);
    return descriptor{::signalfd(-1, &ours, SFD_CLOEXEC)};
}

class supervision {
public:
    supervision(const private_folder& home, const server_process& server, const server_guard& guard,
                holdfast::duration linger)
        : home_{home}
        , server_{server}
        , guard_{guard}
        , linger_{linger}
        , look_after_{std::clamp<holdfast::duration>(linger / 4, 10ms, 5s)} {}

    /// Returns when the server has ended or must be stopped.
    void run(const descriptor& signals) {
        for (;;) {
            std::array<pollfd, 3> any{{{server_.end(), POLLIN, 0},
                                       {signals.get(), POLLIN, 0},
                                       {guard_.descriptor(), POLLIN, 0}}};
            ::poll(any.data(), any.size(), static_cast<int>(look_after_.count()));
            if (any[2].revents != 0)
                guard_.let_go();
            const bool told_to_end = any[1].revents != 0 || !server_.lives();
            // If new programs cannot find this server, the next program starts another server,
            // which does not know the locks of this server. So stop this server at once. Then the
            // holders notice the loss.
            if (told_to_end || !home_.is_found() || end_if_idle())
                return;
        }
    }

private:
    bool end_if_idle() {
        if (!home_.try_to_end()) {
            last_use_ = boot_clock::now();
            return false;
        }
        // `holdfast` programs cannot begin to use the server now. Other programs can, because they
        // only know the socket.
        const bool idle = is_idle();
        if (!idle)
            last_use_ = boot_clock::now();
        if (idle && boot_clock::now() - last_use_ >= linger_)
            return true; // no program can begin to use the server until this process has ended
        home_.stop_ending();
        return false;
    }

    bool is_idle() const {
        try {
            auto link = server_link::open(home_.socket());
            return link && use_of(*link).nobody();
        } catch (const no_answer&) {
            return false; // the server is in use
        }
    }

    const private_folder& home_;
    const server_process& server_;
    const server_guard& guard_;
    const holdfast::duration linger_;
    const holdfast::duration look_after_;
    holdfast::time_point last_use_ = boot_clock::now();
};

void report(const descriptor& to, std::string_view text) {
    [[maybe_unused]] const auto told = ::write(to.get(), text.data(), text.size());
}

/// Descriptors that this process got at its start. They are moved to other numbers, and stdin and
/// stdout become /dev/null.
struct handed_over {
    descriptor lock{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
    descriptor report{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};

    handed_over() {
        const descriptor nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
        for (const int each : {STDIN_FILENO, STDOUT_FILENO})
            ::dup2(nothing.get(), each);
    }
};

int supervise(const private_folder& home, std::optional<handed_over> given) {
    const descriptor signals = block_signals();
    try {
        const holdfast::duration linger = server_linger();
        const std::optional<server_guard> guard = server_guard::make(home.path());
        if (!guard) {
            report(given->report, another_was_first);
            return unavailable;
        }
        const server_process server{home, given->lock, *guard};
        supervision watch{home, server, *guard, linger};
        report(given->report, supervisor_is_ready);
        { const descriptor told = std::move(given->report); }
        watch.run(signals);
        return success;
    } catch (const std::exception& failure) {
        report(given->report, failure.what());
        return unavailable;
    }
}

} // namespace

int private_server(const inheritance&, arguments) {
    const private_folder home = private_folder::make();
    struct stat lock {};
    struct stat given {};
    if (::stat((home.path() + "/lock").c_str(), &lock) != 0 || ::fstat(STDIN_FILENO, &given) != 0 ||
        lock.st_ino != given.st_ino || lock.st_dev != given.st_dev)
        throw usage_error{"private-server is for holdfast's own use; see 'holdfast server --help'"};
    ::prctl(PR_SET_NAME, "holdfast-server");
    return supervise(home, std::optional<handed_over>{std::in_place});
}

} // namespace cli
