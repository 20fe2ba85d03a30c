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

/// The redis-server or valkey-server of a private folder: nothing is saved, nobody can reach it but
/// over the socket there. It ends with the thread that starts it, however that ends.
class server_process {
public:
    /// Returns when it answers. `lock` and `guard` stay open in it, so that the folder counts as
    /// served as long as it lives. Throws `no_server` with its words if it does not start.
    server_process(const private_folder&, const descriptor& lock, const server_guard& guard);
    server_process(const server_process&) = delete;

    /// Terminates it if it still runs, and kills it if it does not hear.
    ~server_process();

    /// Becomes readable when it has ended; negative where the system has no such descriptor.
    int end() const noexcept { return ended_ ? ended_->get() : -1; }

    /// False: it has ended. Waits for that at most so long.
    bool lives(std::chrono::milliseconds patience = {}) const noexcept;

private:
    void wait_until_it_answers() const;

    const private_folder& home_;
    pid_t id_ = -1;
    std::optional<descriptor> ended_; ///< its pidfd, where the system has one
};

/// A program in the PATH; empty: there is none.
std::string find_server_program();

} // namespace cli
