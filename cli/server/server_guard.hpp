// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <optional>
#include <string>

#include <sys/types.h>

namespace cli {

/// Abstract unix socket that shows that a private server runs. Its name contains the user, the
/// mount namespace and the path of the server's folder. It exists as long as the supervisor or its
/// server runs. Deleting the server's files or the whole folder does not remove it.
class server_guard {
public:
    /// Creates the guard for that folder. Returns nothing if another server of this user has the
    /// guard. Throws `std::system_error`.
    static std::optional<server_guard> make(const std::string& folder);

    /// Returns the process id of the supervisor that has the guard. Returns 0 if there is no guard,
    /// or if it belongs to another user. Returns -1 if the supervisor is stopped and its queue of
    /// connections is full.
    static pid_t holder(const std::string& folder);

    /// Returns the socket, for a child process that must keep the guard too. Negative if there is
    /// no socket.
    int descriptor() const noexcept { return socket_ ? socket_->get() : -1; }

    /// Accepts and closes the connections of processes that called `holder`. Call it when the
    /// descriptor is readable.
    void let_go() const noexcept;

private:
    std::optional<cli::descriptor> socket_; ///< empty if another user has taken the name
};

} // namespace cli
