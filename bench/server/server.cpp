// SPDX-License-Identifier: Apache-2.0
#include "bench/server/server.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::bench {

reply next_answer(const connection& to) {
    void* raw = nullptr;
    redisGetReply(to.get(), &raw);
    reply answer{static_cast<redisReply*>(raw)};
    expect_answer(*to, answer.get());
    return answer;
}

void expect_answer(const redisContext& context, const redisReply* answer) {
    if (!answer)
        throw std::runtime_error{std::string{"the connection broke: "} + context.errstr};
    if (answer->type == REDIS_REPLY_ERROR)
        throw server_error{"the server answered " + std::string{answer->str, answer->len}};
}

reply ask(const connection& to, const std::vector<std::string_view>& words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
        texts.push_back(word.data());
        sizes.push_back(word.size());
    }
    redisAppendCommandArgv(to.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
    return next_answer(to);
}

reply ask_composed(const connection& to, std::string_view request) {
    redisAppendFormattedCommand(to.get(), request.data(), request.size());
    return next_answer(to);
}

namespace {

/// Returns the text after `label` in `text`. Returns nothing if `label` is missing.
std::string_view after(std::string_view text, std::string_view label) {
    const auto found = text.find(label);
    return found == text.npos ? "" : text.substr(found + label.size());
}

std::string_view line_of(std::string_view text, std::string_view label) {
    const auto rest = after(text, label);
    return rest.substr(0, rest.find("\r\n"));
}

double number(std::string_view text) {
    return std::strtod(std::string{text}.c_str(), nullptr);
}

/// Returns how many times a command was called. If the command was never called, the statistics
/// have no line for it, and the result is 0.
long long calls(std::string_view commandstats, std::string_view command) {
    return static_cast<long long>(number(after(line_of(commandstats, command), "calls=")));
}

long long failed_calls(std::string_view commandstats, std::string_view command) {
    return static_cast<long long>(number(after(line_of(commandstats, command), "failed_calls=")));
}

std::string info(const connection& server, const char* section) {
    const auto answer = ask(server, {"INFO", section});
    return std::string{answer->str, answer->len};
}

} // namespace

void accounts::clear() {
    for (const connection& each : servers_)
        ask(each, {"CONFIG", "RESETSTAT"});
}

long long accounts::successes(std::initializer_list<const char*> commands) const {
    long long sum = 0;
    for (const connection& server : servers_) {
        const std::string stats = info(server, "commandstats");
        for (const char* each : commands)
            sum += calls(stats, each) - failed_calls(stats, each);
    }
    return sum;
}

std::string accounts::trouble_with(const claim& scripts) const {
    const long long counted = scripts_run();
    if (counted < scripts.least || counted > scripts.most)
        return "the server ran " + std::to_string(counted) + " scripts, and not " +
               std::to_string(scripts.least) + " to " + std::to_string(scripts.most);
    if (const auto left = keys(); !left.empty())
        return std::to_string(left.size()) + " keys are left on the server, '" + left.front() +
               "' among them";
    return {};
}

long long accounts::scripts_run() const {
    return successes({"cmdstat_evalsha:", "cmdstat_eval:"});
}

long long accounts::commands_sent() const {
    long long sum = 0;
    for (const connection& server : servers_) {
        const std::string stats = info(server, "commandstats");
        for (const char* each :
             {"cmdstat_evalsha:", "cmdstat_eval:", "cmdstat_subscribe:", "cmdstat_unsubscribe:",
              "cmdstat_ssubscribe:", "cmdstat_sunsubscribe:"})
            sum += calls(stats, each);
    }
    return sum;
}

long long accounts::leases_extended() const {
    return successes({"cmdstat_pexpire:"});
}

/// Returns the names of all keys, except records of finished requests, which expire after a minute.
/// (DBSIZE would also count expired keys that are not removed yet.)
std::vector<std::string> accounts::keys() const {
    std::vector<std::string> all;
    for (const connection& each : servers_) {
        const auto found = ask(each, {"KEYS", "*"});
        for (std::size_t i = 0; i < found->elements; ++i) {
            const std::string_view name{found->element[i]->str, found->element[i]->len};
            if (!name.starts_with("holdfast_requests:"))
                all.emplace_back(name);
        }
    }
    return all;
}

double accounts::cpu_seconds() const {
    double sum = 0;
    for (const connection& each : servers_) {
        const std::string cpu = info(each, "cpu");
        sum += number(line_of(cpu, "used_cpu_sys:")) + number(line_of(cpu, "used_cpu_user:"));
    }
    return sum;
}

std::string accounts::version() const {
    const std::string about = info(servers_.front(), "server");
    const auto valkey = line_of(about, "valkey_version:");
    return valkey.empty() ? "redis " + std::string{line_of(about, "redis_version:")}
                          : "valkey " + std::string{valkey};
}

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

/// Runs redis-server in the child process, in its own process group: Ctrl-C must reach only the
/// benchmark, which then stops the server. If the benchmark ends in another way, the kernel kills
/// the server.
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
    // Kill the server, because it has nothing to save, and its folder is removed, too.
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

namespace {

std::vector<connection> connect_to_first(const site& where, std::size_t count) {
    std::vector<connection> made;
    for (std::size_t i = 0; i < count; ++i)
        made.push_back(connect_to(where.ports.at(i)));
    return made;
}

} // namespace

connection connect_to(std::uint16_t port) {
    connection made{redisConnect("127.0.0.1", port)};
    if (!made || made->err)
        throw std::runtime_error{std::string{"connecting: "} + (made ? made->errstr : "no memory")};
    return made;
}

std::vector<connection> connect_to_all(const site& where) {
    return connect_to_first(where, where.ports.size());
}

std::vector<connection> connect_to_primaries(const site& where) {
    return connect_to_first(where, where.primaries);
}

} // namespace holdfast::bench
