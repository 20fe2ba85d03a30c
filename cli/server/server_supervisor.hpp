// SPDX-License-Identifier: Apache-2.0
// Server process of the private server. The supervisor starts this process, and stops it when no
// program uses the server.
#pragma once

#include "cli/descriptor.hpp"
#include "cli/server/private_server.hpp"

#include <chrono>
#include <optional>
#include <string>

#include <sys/types.h>

namespace cli {

/// redis-server or valkey-server process of a private folder. It saves nothing to disk and can be
/// reached only through its socket. The server is also stopped when the thread that started it
/// ends, for example by a crash of the supervisor.
class server_process {
public:
    /// Starts the server, and waits until it replies. The server process inherits `lock` and
    /// `guard`, so that no second server starts while it runs. Throws `no_server` with the server's
    /// log if the start fails.
    server_process(const private_folder&, const descriptor& lock, const server_guard& guard);
    server_process(const server_process&) = delete;

    /// Asks the server to end if the server still runs, and kills the server if it does not end in
    /// time.
    ~server_process();

    /// Returns a descriptor that becomes readable when the server has ended. The result is negative
    /// if the system has no pidfds.
    int end() const noexcept { return ended_ ? ended_->get() : -1; }

    /// Waits for the end of the server, but at most for `timeout`. Returns whether the server still
    /// runs.
    bool lives(std::chrono::milliseconds timeout = {}) const noexcept;

private:
    void wait_until_it_answers() const;

    const private_folder& home_;
    pid_t id_ = -1;
    std::optional<descriptor> ended_; ///< pidfd of the server, if the system has pidfds
};

/// Returns the path of redis-server or valkey-server, found in PATH. The result is empty if PATH
/// has neither.
std::string find_server_program();

} // namespace cli
