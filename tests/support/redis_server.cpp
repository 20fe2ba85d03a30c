// SPDX-License-Identifier: Apache-2.0
#include "support/redis_server.hpp"

#include "support/child_process.hpp"
#include "support/moved_clock.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::support {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds start_patience{20}; // sanitizers on a busy machine
constexpr std::chrono::milliseconds start_poll{2};

std::uint16_t free_port() {
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool bound = bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    close(probe);
    if (!bound)
        throw server_unavailable{"no free port on 127.0.0.1"};
    return ntohs(address.sin_port);
}

std::vector<std::string> environment_with(std::vector<std::string> more) {
    for (char** variable = environ; *variable != nullptr; ++variable)
        more.emplace_back(*variable);
    return more;
}

/// Between fork and exec nothing may be allocated: another thread may hold the allocator's lock.
[[noreturn]] void become(char** arguments, char** environment, int output, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127); // it died before we asked to die with it
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execvpe(arguments[0], arguments, environment);
    _exit(127);
}

} // namespace

redis_server::folder::folder() {
    std::string pattern = (fs::temp_directory_path() / "holdfast-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
        throw server_unavailable{"cannot make a folder like " + pattern};
    path = pattern;
}

redis_server::folder::~folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

redis_server::redis_server(server_binary which, options how)
    : which_{std::move(which)}
    , how_{std::move(how)}
    , socket_{(folder_.path / "socket").string()} {
    if (how_.tcp)
        port_ = free_port();
    while (how_.tls && (tls_port_ == 0 || tls_port_ == port_))
        tls_port_ = free_port();
    if (how_.cluster)
        bus_port_ = free_port();
    if (how_.own_clock)
        clock_ = std::make_unique<moved_clock>(folder_.path);
    start();
}

redis_server::~redis_server() {
    stop();
}

std::vector<std::string> redis_server::command_line() const {
    std::vector<std::string> words{
        which_.path,  "--unixsocket", socket_,  "--port", std::to_string(port_),
        "--bind",     "127.0.0.1",    "--save", "",       "--appendonly",
        "no",         "--daemonize",  "no",     "--dir",  folder_.path.string(),
        "--loglevel", "warning"};
    if (how_.tls)
        words.insert(words.end(), {"--tls-port", std::to_string(tls_port_)});
    if (how_.cluster)
        words.insert(words.end(),
                     {"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus_port_)});
    words.insert(words.end(), how_.arguments.begin(), how_.arguments.end());
    return words;
}

void redis_server::start() {
    if (pid_ != 0)
        return;
    std::vector<std::string> words = command_line();
    std::vector<std::string> variables =
        environment_with(clock_ ? clock_->environment() : std::vector<std::string>{});
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> environment = pointers_to(variables);
    const int output = open((folder_.path / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0)
        become(const_cast<char**>(arguments.data()), const_cast<char**>(environment.data()), output,
               parent);
    close(output);
    if (pid_ < 0) {
        pid_ = 0;
        throw server_unavailable{"cannot fork"};
    }
    wait_until_it_answers();
}

void redis_server::wait_until_it_answers() {
    const auto end = std::chrono::steady_clock::now() + start_patience;
    while (!answers()) {
        const bool ended = waitpid(pid_, nullptr, WNOHANG) == pid_;
        if (ended)
            pid_ = 0;
        if (ended || std::chrono::steady_clock::now() > end) {
            stop();
            throw server_unavailable{which_.path + " does not start. " + last_words()};
        }
        std::this_thread::sleep_for(start_poll);
    }
}

bool redis_server::answers() {
    try {
        connection_.emplace(socket_);
        return !connection_->command({"PING"}).text.starts_with("LOADING");
    } catch (const std::runtime_error&) {
        return false; // it does not listen yet
    }
}

std::string redis_server::last_words() const {
    std::ifstream log{folder_.path / "log"};
    std::string text{std::istreambuf_iterator<char>{log}, {}};
    return text.empty() ? "It said nothing: is it there?" : "It said: " + text;
}

void redis_server::stop() {
    connection_.reset();
    if (pid_ == 0)
        return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
    std::error_code ignored;
    fs::remove(socket_, ignored);
}

void redis_server::restart_empty() {
    stop();
    start();
}

void redis_server::restart_empty(std::vector<std::string> arguments) {
    how_.arguments = std::move(arguments);
    restart_empty();
}

void redis_server::pause() {
    kill(pid_, SIGSTOP);
    // It has stopped when we are told so; until then it may still answer.
    waitpid(pid_, nullptr, WUNTRACED);
}

void redis_server::resume() {
    kill(pid_, SIGCONT);
}

void redis_server::step_clock(duration step) {
    if (!clock_)
        throw std::logic_error{"a server whose clock is stepped is made with own_clock"};
    clock_->step(step);
}

redis::reply redis_server::command(const std::vector<std::string>& words) {
    if (!connection_)
        connection_.emplace(socket_);
    return connection_->command(words);
}

std::string redis_server::url() const {
    return port_ != 0 ? "redis://127.0.0.1:" + std::to_string(port_) : "unix://" + socket_;
}

} // namespace holdfast::support
