// SPDX-License-Identifier: Apache-2.0
#include "bench/server/server.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

std::system_error system_failure(const char* what) {
    return std::system_error{errno, std::generic_category(), what};
}

/// Returns a port that is free now. redis-server cannot choose a port by itself.
int free_port() {
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    const bool found = probe >= 0 && ::bind(probe, generic, size) == 0 &&
                       ::getsockname(probe, generic, &size) == 0;
    const auto failure = system_failure("looking for a free TCP port");
    ::close(probe);
    if (!found)
        throw failure;
    return ntohs(address.sin_port);
}

/// Runs redis-server in the child process. The child has its own process group, so that Ctrl-C
/// reaches only the benchmark, which then stops the server. If the benchmark ends in another way,
/// the kernel kills the server.
[[noreturn]] void become(const std::vector<char*>& command, const char* log, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        ::_exit(1); // the parent has ended before the call of prctl()
    ::setpgid(0, 0);
    const int out = ::open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execvp(command.front(), command.data());
    constexpr char complaint[] = "cannot be executed\n";
    (void)!::write(STDERR_FILENO, complaint, sizeof complaint - 1);
    ::_exit(127);
}

std::filesystem::path make_folder() {
    std::string path = std::filesystem::temp_directory_path() / "holdfast-bench-XXXXXX";
    if (!::mkdtemp(path.data()))
        throw system_failure("making a temporary folder");
    return path;
}

} // namespace

std::string server_program() {
    const char* const given = std::getenv("HOLDFAST_REDIS_SERVER");
    return given && *given ? given : "redis-server";
}

server::own_folder::own_folder()
    : path{make_folder()} {}

server::own_folder::~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

server::server()
    : tcp_port_{free_port()} {
    start();
    try {
        wait_until_it_answers();
    } catch (...) {
        stop();
        throw;
    }
}

server::~server() {
    stop();
}

void server::start() {
    const std::string port = std::to_string(tcp_port_);
    std::vector<std::string> words{server_program(), "--port", port, "--bind", "127.0.0.1"};
    words.insert(words.end(), {"--unixsocket", socket_file(), "--dir", home_.path});
    words.insert(words.end(), {"--save", "", "--appendonly", "no", "--daemonize", "no"});
    std::vector<char*> command;
    for (std::string& word : words)
        command.push_back(word.data());
    command.push_back(nullptr);
    const std::string log = log_file();

    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0)
        throw system_failure("fork");
    if (process_ == 0)
        become(command, log.c_str(), parent);
}

void server::wait_until_it_answers() {
    for (auto waited = 0ms; waited < 10s; waited += 20ms) {
        if (::waitpid(process_, nullptr, WNOHANG) == process_) {
            process_ = -1;
            break;
        }
        try {
            ask(connect(transport::unix_socket), {"PING"});
            return;
        } catch (const std::runtime_error&) {
            std::this_thread::sleep_for(20ms);
        }
    }
    std::ostringstream said;
    said << std::ifstream{log_file()}.rdbuf();
    throw std::runtime_error{server_program() + " did not start: " + said.str()};
}

void server::stop() noexcept {
    if (process_ < 0)
        return;
    // Kill the server: it has nothing to save, and its folder is removed too.
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
}

std::string server::url(transport way) const {
    return way == transport::tcp_loopback ? "redis://127.0.0.1:" + std::to_string(tcp_port_)
                                          : "unix://" + socket_file().string();
}

connection server::connect(transport way) const {
    connection made{way == transport::tcp_loopback ? redisConnect("127.0.0.1", tcp_port_)
                                                   : redisConnectUnix(socket_file().c_str())};
    if (!made || made->err)
        throw std::runtime_error{std::string{"connecting: "} + (made ? made->errstr : "no memory")};
    return made;
}

} // namespace holdfast::bench
