// SPDX-License-Identifier: Apache-2.0
// Supervisor process of the private server. The supervisor starts the server, stops the server
// after it was unused for a while, and cleans up. The supervisor's stdin is the locked file "lock".
// Its stdout is a pipe to the process that waits for the start.
#include "cli/server/server_supervisor.hpp"

#include "cli/command_line.hpp"
#include "cli/file_text.hpp"
#include "cli/terminal/output.hpp"

#include <holdfast/time.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {
namespace {

std::vector<std::string> command_line(const std::string& program, const private_folder& home) {
    const std::vector<std::pair<std::string, std::string>> settings{
        {"--port", "0"}, // no network
        {"--unixsocket", home.socket()},
        {"--unixsocketperm", "700"},
        {"--save", ""}, // a restarted server must not restore old locks
        {"--appendonly", "no"},
        {"--dir", home.path()},
        {"--daemonize", "no"},
    };
    std::vector<std::string> words{program};
    for (const auto& [name, value] : settings)
        words.insert(words.end(), {name, value});
    return words;
}

struct server_plan {
    std::vector<char*> command;
    int lock;
    int guard;
    int log;
    pid_t parent;
};

[[noreturn]] void become_server(const server_plan& how) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != how.parent)
        ::_exit(1); // the parent has ended before the call of prctl()
    ::dup2(how.log, STDOUT_FILENO);
    ::dup2(how.log, STDERR_FILENO);
    ::fcntl(how.lock, F_SETFD, 0);
    if (how.guard >= 0)
        ::fcntl(how.guard, F_SETFD, 0);
    ::signal(SIGPIPE, SIG_DFL);
    // The server's log must not end the server if the hard limit of the size of files is low.
    ::signal(SIGXFSZ, SIG_IGN);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execv(how.command.front(), how.command.data());
    ::_exit(1);
}

/// Returns the end of the server's log, on one line.
std::string logged_words(const private_folder& home) {
    constexpr std::size_t enough = 500;
    const std::string line = on_one_line(content_of(home.log()).value_or(""));
    return printable(line.substr(line.size() > enough ? line.size() - enough : 0), enough);
}

} // namespace

std::string find_server_program() {
    const char* const variable = std::getenv("PATH");
    const std::string folders = variable != nullptr ? variable : "/usr/bin:/bin";
    for (const char* const name : {"/redis-server", "/valkey-server"}) {
        for (std::size_t start = 0; start <= folders.size();) {
            const std::size_t end = std::min(folders.find(':', start), folders.size());
            std::string path = folders.substr(start, end - start) + name;
            struct stat found {};
            if (path.front() == '/' && ::stat(path.c_str(), &found) == 0 &&
                S_ISREG(found.st_mode) && ::access(path.c_str(), X_OK) == 0)
                return path;
            start = end + 1;
        }
    }
    return {};
}

server_process::server_process(const private_folder& home, const descriptor& lock,
                               const server_guard& guard)
    : home_{home} {
    const std::string program = find_server_program();
    if (program.empty())
        throw no_server{
            "no server was given, and the private server cannot be started: neither redis-server "
            "nor valkey-server is in the PATH.\nInstall one of them (Debian, Ubuntu: apt install "
            "redis-server), or name a server: --url redis://HOST:PORT, or HOLDFAST_URL"};
    std::vector<std::string> words = command_line(program, home);
    const descriptor log{::open(home.log().c_str(),
                                O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                                S_IRUSR | S_IWUSR)};
    server_plan how{{}, lock.get(), guard.descriptor(), log.get(), ::getpid()};
    for (std::string& word : words)
        how.command.push_back(word.data());
    how.command.push_back(nullptr);

    ::unlink(home.socket().c_str()); // a killed server leaves its socket behind
    id_ = ::fork();
    if (id_ == 0)
        become_server(how);
    if (id_ < 0)
        throw no_server{"no process can be started for the private server"};
    if (const int fd = open_pidfd(id_); fd >= 0)
        ended_.emplace(fd);
    wait_until_it_answers();
}

void server_process::wait_until_it_answers() const {
    const auto give_up_at = holdfast::boot_clock::now() + server_start_timeout;
    for (;;) {
        auto link = server_link::open(home_.socket());
        if (link && link->answers())
            return;
        if (!lives(look_again) || holdfast::boot_clock::now() > give_up_at)
            break;
    }
    throw no_server{find_server_program() + " does not start as the private server in " +
                    printable(home_.path()) + words_for_low_limits() +
                    ". It said: " + logged_words(home_)};
}

bool server_process::lives(std::chrono::milliseconds timeout) const noexcept {
    if (ended_) {
        pollfd gone{ended_->get(), POLLIN, 0};
        return ::poll(&gone, 1, static_cast<int>(timeout.count())) == 0;
    }
    const auto give_up_at = holdfast::boot_clock::now() + timeout;
    for (;;) {
        siginfo_t how{};
        if (::waitid(P_PID, static_cast<id_t>(id_), &how, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            how.si_pid != 0)
            return false;
        if (holdfast::boot_clock::now() >= give_up_at)
            return true;
        std::this_thread::sleep_for(look_again);
    }
}

server_process::~server_process() {
    using namespace std::chrono_literals;
    ::kill(id_, SIGTERM);
    if (lives(5s))
        ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    ::unlink(home_.socket().c_str());
}

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

    /// Waits until the server has ended or must be stopped.
    void run(const descriptor& signals) {
        for (;;) {
            std::array<pollfd, 3> any{{{server_.end(), POLLIN, 0},
                                       {signals.get(), POLLIN, 0},
                                       {guard_.descriptor(), POLLIN, 0}}};
            ::poll(any.data(), any.size(), static_cast<int>(look_after_.count()));
            if (any[2].revents != 0)
                guard_.let_go();
            const bool told_to_end = any[1].revents != 0 || !server_.lives();
            // If somebody has removed the folder or the socket, the next program starts a second
            // server, which does not know the locks of the present server. So stop the present
            // server at once: the holders of its locks then notice the loss.
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
        // Check the use of the server after the exclusive flock was taken. From now on, no
        // `holdfast` program can begin to use the server, because it would need this flock.
        // Programs that know only the socket can still use the server.
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

/// Descriptors that this process got as its stdin and stdout. Here they move to other numbers, and
/// stdin and stdout become /dev/null.
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
