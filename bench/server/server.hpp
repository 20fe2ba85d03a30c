// SPDX-License-Identifier: Apache-2.0
// redis-server process for the benchmark.
#pragma once

#include "bench/server/connection.hpp"

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace holdfast::bench {

/// Returns the value of HOLDFAST_REDIS_SERVER, or `redis-server` (found in PATH).
std::string server_program();

enum class transport { unix_socket, tcp_loopback };

/// Server that listens on a unix socket and on the loopback device. It uses a temporary folder, and
/// saves nothing. It ends with this process, even after a crash.
class server {
public:
    /// Starts the server, and returns when it replies. If the server cannot start, throws an error
    /// with the server's log.
    server();
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    std::string url(transport) const;    ///< URL for `client`
    connection connect(transport) const; ///< throws if the connection is refused

    /// Returns a folder for the logs of other programs. The folder exists as long as this object.
    const std::filesystem::path& folder() const { return home_.path; }

private:
    class own_folder {
    public:
        own_folder();
        ~own_folder();
        own_folder(const own_folder&) = delete;
        own_folder& operator=(const own_folder&) = delete;
        const std::filesystem::path path;
    };

    void start();
    void wait_until_it_answers();
    void stop() noexcept;
    std::filesystem::path log_file() const { return home_.path / "log"; }
    std::filesystem::path socket_file() const { return home_.path / "socket"; }

    own_folder home_;
    const int tcp_port_;
    pid_t process_ = -1;
};

} // namespace holdfast::bench
