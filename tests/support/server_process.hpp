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

/// Returns the server programs on which the tests run, from HOLDFAST_SERVERS
/// ("redis-7.0=/usr/bin/redis-server;valkey-8=…"). Without that variable, it is the redis-server in
/// PATH.
std::vector<server_binary> servers();

/// Returns the server programs in HOLDFAST_NEWER_SERVERS, on which only a few tests run: those of
/// what has changed in newer versions. The result may be empty.
std::vector<server_binary> newer_servers();

/// Returns the server programs in an environment variable of this form. Returns an empty list if
/// the variable is not set.
std::vector<server_binary> servers_in(const char* variable);

/// Returns whether HOLDFAST_REQUIRE_SERVERS=1 is set. Tests then fail if their server is missing;
/// without it, they are skipped.
bool servers_are_required();

/// Exception: the server program does not exist, or this machine has no port or folder for it, so
/// tests are skipped. (A program that exists, but does not start, throws another exception, and its
/// tests fail.)
struct server_unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reserved port on 127.0.0.1. While the object exists, no other test on this machine takes the
/// port, even if no server listens on it. The port is below the range from which the kernel takes
/// ports for connections.
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

/// Server process of one test. It has a new folder, which the destructor removes, with the server's
/// output in the file `log`. The process ends with the thread that starts it.
class server_process {
public:
    server_process();
    server_process(const server_process&) = delete;
    ~server_process();

    /// Starts the program, and returns when `answers` returns true. Throws `server_unavailable` if
    /// the program does not exist. Throws `std::runtime_error` with the program's output if the
    /// program ends, or after a timeout.
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

/// Timeout of a reply: the server may be paused.
constexpr std::chrono::milliseconds word_timeout{2'000};

/// Connects and returns what the server sends: on a unix socket a greeting of at most `limit`
/// bytes, on a port of 127.0.0.1 the reply to `question`. Returns an empty text if the server does
/// not listen, or sends nothing before the timeout.
std::string words_at(const std::filesystem::path& socket, std::size_t limit);
std::string words_at(std::uint16_t port, const std::string& question,
                     std::chrono::milliseconds timeout = word_timeout);

} // namespace holdfast::support
