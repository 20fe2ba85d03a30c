// SPDX-License-Identifier: Apache-2.0
#include "support/server_process.hpp"

#include "support/child_process.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::support {

// Chooses the servers on which the tests run.

std::vector<server_binary> servers_in(const char* variable) {
    std::vector<server_binary> all;
    const char* const listed = std::getenv(variable);
    std::istringstream entries{listed == nullptr ? "" : listed};
    for (std::string entry; std::getline(entries, entry, ';');) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string::npos)
            throw std::invalid_argument{std::string{variable} + ": no '=' in " + entry};
        all.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
    }
    return all;
}

std::vector<server_binary> servers() {
    std::vector<server_binary> all = servers_in("HOLDFAST_SERVERS");
    if (all.empty())
        all.push_back({"redis", "redis-server"});
    return all;
}

std::vector<server_binary> newer_servers() {
    return servers_in("HOLDFAST_NEWER_SERVERS");
}

bool servers_are_required() {
    const char* required = std::getenv("HOLDFAST_REQUIRE_SERVERS");
    return required != nullptr && std::string_view{required} == "1";
}

namespace {

// A port is reserved by an abstract unix socket with the port in its name. All users who share the
// ports of this machine also share these names. The reservation ends when the socket is closed.

constexpr std::uint16_t first_port = 10'000, last_port = 32'000;

bool has_bound(int socket, const void* address, std::size_t size) {
    return bind(socket, static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) == 0;
}

/// Returns the socket that reserves the port. Returns -1 if another test has reserved the port.
int marked(std::uint16_t port) {
    const std::string name = "holdfast-test-port-" + std::to_string(port);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const int mark = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (mark >= 0 && has_bound(mark, &address, offsetof(sockaddr_un, sun_path) + 1 + name.size()))
        return mark;
    close(mark);
    return -1;
}

/// Returns whether no program on this machine listens on the port.
bool is_unused(std::uint16_t port) {
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1; // ignore connections that were closed within the last minute
    setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const bool unused = has_bound(probe, &address, sizeof address);
    close(probe);
    return unused;
}

} // namespace

reserved_port::reserved_port() {
    thread_local std::minstd_rand draw{std::random_device{}()};
    std::uniform_int_distribution<std::uint16_t> any{first_port, last_port};
    for (int attempts = 1'000; attempts > 0; --attempts) {
        number_ = any(draw);
        mark_ = marked(number_);
        if (mark_ >= 0 && is_unused(number_))
            return;
        close(mark_);
    }
    throw server_unavailable{"no free port on 127.0.0.1"};
}

reserved_port::reserved_port(reserved_port&& from) noexcept
    : number_{from.number_}
    , mark_{std::exchange(from.mark_, -1)} {}

reserved_port::~reserved_port() {
    if (mark_ >= 0)
        close(mark_);
}

namespace fs = std::filesystem;
namespace {

// This is enough for a JVM on a busy machine, with tests under sanitizers at the same time.
constexpr std::chrono::seconds ready_timeout{60};
constexpr std::chrono::milliseconds ready_poll{2};

/// Exit status of a child process that cannot execute the program, as in the shell.
constexpr int exit_not_executable = 127;

/// Executes the program. Runs between fork and exec, so it allocates no memory: another thread may
/// have held the allocator's lock at the fork.
[[noreturn]] void turn_into(char** arguments, char** environment, int output, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(exit_not_executable); // the parent ended before prctl() was called
    // Leave the process group of the test, because the kernel can send SIGCONT to that group when
    // its leader ends. A server that the test has stopped would run again.
    setsid();
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    // Close all other descriptors. If this program kept a socket of the test open, the other end
    // would not notice when the test closes it.
    close_range(STDERR_FILENO + 1, ~0U, 0);
    execvpe(arguments[0], arguments, environment);
    _exit(exit_not_executable);
}

/// Returns this process's environment, in which the wanted variables replace others of the same
/// name.
std::vector<std::string> with_ours(const std::vector<std::string>& wanted) {
    std::vector<std::string> all = wanted;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view ours{*variable};
        const std::string_view name = ours.substr(0, ours.find('=') + 1);
        if (std::none_of(wanted.begin(), wanted.end(),
                         [&](const std::string& each) { return each.starts_with(name); }))
            all.emplace_back(ours);
    }
    return all;
}

template <typename Address>
std::string words_of(int family, const Address& address, const std::string& question,
                     std::size_t limit, std::chrono::milliseconds timeout) {
    const int end = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const std::chrono::microseconds each_time = timeout;
    const timeval limited{.tv_sec = each_time.count() / 1'000'000,
                          .tv_usec = each_time.count() % 1'000'000};
    setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &limited, sizeof limited);
    std::string heard;
    if (connect(end, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        send(end, question.data(), question.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(question.size())) {
        std::array<char, 4096> bytes{};
        for (ssize_t count = 1; count > 0 && heard.size() < limit;) {
            count = recv(end, bytes.data(), bytes.size(), 0);
            if (count > 0)
                heard.append(bytes.data(), static_cast<std::size_t>(count));
        }
    }
    close(end);
    return heard;
}

} // namespace

server_process::server_process() {
    std::string pattern = (fs::temp_directory_path() / "holdfast-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
        throw server_unavailable{"cannot make a folder like " + pattern};
    folder_ = pattern;
}

server_process::~server_process() {
    stop();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

void server_process::start(std::vector<std::string> command,
                           const std::vector<std::string>& environment,
                           const std::function<bool()>& answers) {
    if (is_running())
        return;
    std::vector<std::string> variables = with_ours(environment);
    launch(command, variables);
    wait_until(answers, command.front());
}

void server_process::launch(std::vector<std::string>& command,
                            std::vector<std::string>& environment) {
    const std::vector<char*> arguments = pointers_to(command);
    const std::vector<char*> variables = pointers_to(environment);
    const int output =
        open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0)
        turn_into(const_cast<char**>(arguments.data()), const_cast<char**>(variables.data()),
                  output, parent);
    close(output);
    if (pid_ < 0) {
        pid_ = 0;
        throw server_unavailable{"cannot fork"};
    }
}

void server_process::wait_until(const std::function<bool()>& answers, const std::string& name) {
    const auto end = std::chrono::steady_clock::now() + ready_timeout;
    while (!answers()) {
        int status = 0;
        const bool ended = waitpid(pid_, &status, WNOHANG) == pid_;
        if (ended)
            has_ended();
        if (ended && WIFEXITED(status) && WEXITSTATUS(status) == exit_not_executable)
            throw server_unavailable{"there is no " + name};
        if (ended || std::chrono::steady_clock::now() > end) {
            stop();
            throw std::runtime_error{name + " does not start. " + last_words()};
        }
        std::this_thread::sleep_for(ready_poll);
    }
}

void server_process::has_ended() {
    pid_ = 0;
    is_paused_ = false;
}

std::string server_process::last_words() const {
    std::ifstream log{folder_ / "log"};
    std::string text{std::istreambuf_iterator<char>{log}, {}};
    constexpr std::size_t enough = 4'000;
    if (text.size() > enough)
        text.erase(0, text.size() - enough);
    return text.empty() ? "It printed nothing." : "It printed: " + text;
}

void server_process::stop() {
    if (!is_running())
        return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    has_ended();
}

void server_process::shut_down() {
    if (!is_running())
        return;
    resume();
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    has_ended();
}

void server_process::pause() {
    if (!is_running())
        return;
    is_paused_ = true;
    kill(pid_, SIGSTOP);
    // Wait until the process has stopped: it may still answer until then.
    waitpid(pid_, nullptr, WUNTRACED);
}

void server_process::resume() {
    if (is_running())
        kill(pid_, SIGCONT);
    is_paused_ = false;
}

void server_process::write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name} << text;
}

void server_process::remove(const std::string& name) const {
    std::error_code ignored;
    fs::remove_all(folder_ / name, ignored);
}

std::string words_at(const fs::path& socket, std::size_t limit) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.native().size() >= sizeof address.sun_path)
        return {};
    std::memcpy(address.sun_path, socket.c_str(), socket.native().size());
    return words_of(AF_UNIX, address, {}, limit, word_timeout);
}

std::string words_at(std::uint16_t port, const std::string& question,
                     std::chrono::milliseconds timeout) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return words_of(AF_INET, address, question, std::string::npos, timeout);
}

} // namespace holdfast::support
