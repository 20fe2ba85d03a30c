// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"
#include "cli/server/private_folder.hpp"
#include "cli/server/server_guard.hpp"

#include <chrono>
#include <optional>
#include <string>

#include <sys/types.h>

namespace cli {

/// redis-server or valkey-server process of a private folder. It saves nothing and can be reached
/// only over its socket. It ends when the thread that started it ends, in whatever way.
class server_process {
public:
    /// Starts the server and returns when it answers. The server keeps `lock` and `guard` open, so
    /// that the folder counts as served as long as the server lives. Throws `no_server` with the
    /// server's log if it does not start.
    server_process(const private_folder&, const descriptor& lock, const server_guard& guard);
    server_process(const server_process&) = delete;

    /// Terminates the server if it still runs, and kills it if it does not end.
    ~server_process();

    /// Returns a descriptor that becomes readable when the server has ended; negative if the system
    /// has no pidfds.
    int end() const noexcept { return ended_ ? ended_->get() : -1; }

    /// Returns false if the server has ended. Waits at most `patience` for its end.
    bool lives(std::chrono::milliseconds patience = {}) const noexcept;

private:
    void wait_until_it_answers() const;

    const private_folder& home_;
    pid_t id_ = -1;
    std::optional<descriptor> ended_; ///< its pidfd, if the system has pidfds
};

/// Returns the path of redis-server or valkey-server in PATH; empty if there is none.
std::string find_server_program();

} // namespace cli
