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

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::support {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds start_patience{20}; // sanitizers on a busy machine
constexpr std::chrono::milliseconds start_poll{2};

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
    // Asio's sockets are open in each program that is started: none would learn that one was
    // closed.
    close_range(STDERR_FILENO + 1, ~0U, 0);
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
        port_ = how_.port != 0 ? how_.port : reserve();
    if (how_.tls)
        tls_port_ = how_.tls_port != 0 ? how_.tls_port : reserve();
    if (how_.cluster)
        bus_port_ = how_.bus_port != 0 ? how_.bus_port : reserve();
    if (how_.own_clock)
        clock_ = std::make_unique<moved_clock>(folder_.path);
    if (!how_.nodes.empty())
        write("nodes.conf", how_.nodes);
    write_configuration();
    start();
}

redis_server::~redis_server() {
    stop();
}

std::uint16_t redis_server::reserve() {
    return reserved_.emplace_back().number();
}

void redis_server::write(const char* name, const std::string& text) const {
    std::ofstream{folder_.path / name} << text;
}

/// A Sentinel goes on writing it.
void redis_server::write_configuration() const {
    if (!how_.sentinel.empty())
        write("sentinel.conf", "unixsocket " + socket_ + "\ndir " + folder_.path.string() + "\n" +
                                   "port " + std::to_string(port_) + "\n" + how_.sentinel);
}

void redis_server::remove(const char* name) const {
    std::error_code ignored;
    fs::remove_all(folder_.path / name, ignored);
}

std::vector<std::string> redis_server::command_line() const {
    if (!how_.sentinel.empty())
        return {which_.path, (folder_.path / "sentinel.conf").string(), "--sentinel"};
    std::vector<std::string> words{which_.path,
                                   "--unixsocket",
                                   socket_,
                                   "--port",
                                   std::to_string(port_),
                                   "--bind",
                                   "127.0.0.1",
                                   "--save",
                                   "",
                                   "--daemonize",
                                   "no",
                                   "--dir",
                                   folder_.path.string(),
                                   "--loglevel",
                                   "warning"};
    const auto add = [&words](const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
    };
    add({"--appendonly", how_.keeps_data ? "yes" : "no"});
    if (how_.keeps_data)
        add({"--appendfsync", "always"});
    if (how_.tls)
        add({"--tls-port", std::to_string(tls_port_)});
    if (how_.cluster)
        add({"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus_port_)});
    if (!how_.password.empty())
        add({"--requirepass", how_.password, "--masterauth", how_.password});
    add(how_.arguments);
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
        connection_.emplace(socket_, how_.password);
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
    is_paused_ = false;
    remove("socket");
    if (!how_.keeps_data)
        remove("dump.rdb"); // what it was sent when it began to follow another stays there
}

void redis_server::restart() {
    stop();
    start();
}

void redis_server::restart_empty() {
    stop();
    remove("dump.rdb");
    remove("appendonlydir");
    write_configuration();
    start();
}

void redis_server::restart_empty(std::vector<std::string> arguments) {
    how_.arguments = std::move(arguments);
    restart_empty();
}

void redis_server::pause() {
    if (pid_ == 0)
        return;
    is_paused_ = true;
    kill(pid_, SIGSTOP);
    // It has stopped when we are told so; until then it may still answer.
    waitpid(pid_, nullptr, WUNTRACED);
}

void redis_server::resume() {
    if (pid_ != 0)
        kill(pid_, SIGCONT);
    is_paused_ = false;
}

void redis_server::step_clock(duration step) {
    if (!clock_)
        throw std::logic_error{"a server whose clock is stepped is made with own_clock"};
    clock_->step(step);
}

void redis_server::right_clock() {
    if (clock_)
        clock_->reset();
}

redis::reply redis_server::command(const std::vector<std::string>& words) {
    try {
        if (connection_)
            return connection_->command(words);
    } catch (const connection_closed&) {
        connection_.reset();
    }
    connection_.emplace(socket_, how_.password);
    return connection_->command(words);
}

std::string redis_server::url() const {
    return port_ != 0 ? "redis://127.0.0.1:" + std::to_string(port_) : "unix://" + socket_;
}

} // namespace holdfast::support
