// SPDX-License-Identifier: Apache-2.0
// A redis-server of the benchmark's own.
#pragma once

#include "bench/connection.hpp"

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace holdfast::bench {

enum class transport { unix_socket, tcp_loopback };

/// Runs in a temporary folder, saves nothing, and does not outlive this process, however that
/// ends. The program comes from HOLDFAST_REDIS_SERVER, or is the `redis-server` on the PATH.
class server {
public:
    /// Returns when it answers; throws with its own words when it cannot start.
    explicit server(transport);
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    std::string url() const;    ///< as `client` takes it
    connection connect() const; ///< throws when refused

private:
    class folder {
    public:
        folder();
        ~folder();
        folder(const folder&) = delete;
        folder& operator=(const folder&) = delete;
        const std::filesystem::path path;
    };

    void start();
    void wait_until_it_answers();
    void stop() noexcept;
    std::filesystem::path log_file() const { return home_.path / "log"; }
    std::filesystem::path socket_file() const { return home_.path / "socket"; }

    folder home_;
    const int tcp_port_; // 0: the unix socket is used
    pid_t process_ = -1;
};

} // namespace holdfast::bench
