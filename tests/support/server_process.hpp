// SPDX-License-Identifier: Apache-2.0
// Server processes for tests: the list of servers, reserved ports, and a process in a new folder.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::support {

struct server_binary {
    std::string label; ///< name in messages, for example "valkey-8"
    std::string path;
};

/// Returns the servers on which the tests run, from HOLDFAST_SERVERS
/// ("redis-7.0=/usr/bin/redis-server;valkey-8=…"). If that variable is not set, the only server is
/// the redis-server in the PATH.
std::vector<server_binary> servers();

/// Returns the servers of HOLDFAST_NEWER_SERVERS, which has the same form as HOLDFAST_SERVERS. Only
/// the differences of newer versions are tested on these servers. The result may be empty.
std::vector<server_binary> newer_servers();

/// Returns the servers in an environment variable of this form. Returns an empty list if the
/// variable is not set.
std::vector<server_binary> servers_in(const char* variable);

/// Returns whether HOLDFAST_REQUIRE_SERVERS=1 is set. A missing server then fails the tests;
/// otherwise the tests are skipped.
bool servers_are_required();

/// Exception: the server program does not exist, or this machine has no port or folder for it. A
/// program that exists and does not start throws another exception, so its tests fail everywhere.
struct server_unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reserved port on 127.0.0.1. While the object exists, no other test on this machine takes the
/// port, even if no server listens on it. The kernel chooses the ports of connections from a range
/// above it. The reservation ends when the test ends.
class reserved_port {
public:
    /// Throws `server_unavailable` if no port is free.
    reserved_port();
    reserved_port(const reserved_port&) = delete;
    reserved_port(reserved_port&&) noexcept;
    ~reserved_port();

    std::uint16_t number() const { return number_; }

private:
    std::uint16_t number_ = 0;
    int mark_ = -1;
};

/// Server process of one test. It has a fresh folder, which the destructor removes. The file `log`
/// in this folder has the server's output. The process ends with the thread that starts it.
class server_process {
public:
    server_process();
    server_process(const server_process&) = delete;
    ~server_process();

    /// Starts the program. Calls `answers` again and again, and returns when `answers` returns
    /// true. Throws `server_unavailable` if the program does not exist. Throws `std::runtime_error`
    /// with the program's output if the program ends before that or the timeout passes.
    void start(std::vector<std::string> command, const std::vector<std::string>& environment,
               const std::function<bool()>& answers);
    void stop();      ///< kills the process, like kill -9
    void shut_down(); ///< sends SIGTERM; returns after the end of the process
    void pause();     ///< sends SIGSTOP: connections stay open, but get no replies
    void resume();

    bool is_running() const { return pid_ != 0; }
    /// Returns whether the process runs. False after `stop` or `pause`.
    bool is_up() const { return is_running() && !is_paused_; }
    pid_t pid() const { return pid_; }

    const std::filesystem::path& folder() const { return folder_; }
    void write(const std::string& name, const std::string& text) const;
    void remove(const std::string& name) const; ///< deletes a file, or a folder with its contents

private:
    void launch(std::vector<std::string>& command, std::vector<std::string>& environment);
    void wait_until(const std::function<bool()>& answers, const std::string& name);
    void has_ended();
    std::string last_words() const;

    std::filesystem::path folder_;
    pid_t pid_ = 0;
    bool is_paused_ = false;
};

/// Timeout of a reply, because the server may be paused.
constexpr std::chrono::milliseconds word_timeout{2'000};

/// Returns the bytes that the server sends: on a unix socket a greeting, and on a port of 127.0.0.1
/// the reply to `question`. Reads until the server closes the connection, `limit` bytes have
/// arrived or the timeout has passed. Returns an empty text if the server does not listen or sends
/// nothing.
std::string words_at(const std::filesystem::path& socket, std::size_t limit);
std::string words_at(std::uint16_t port, const std::string& question,
                     std::chrono::milliseconds timeout = word_timeout);

} // namespace holdfast::support
