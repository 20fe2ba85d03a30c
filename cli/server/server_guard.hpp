// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <optional>
#include <string>

#include <sys/types.h>

namespace cli {

/// A mark that a private server lives, which nobody can remove: an abstract unix socket. Its name
/// has the user, the mount namespace and the path of the server's folder. It is there as long as
/// the supervisor or its server is, even if their files or the whole folder were deleted.
class server_guard {
public:
    /// Takes the guard of that folder. Returns nothing if another server of this user has it.
    /// Throws `std::system_error`.
    static std::optional<server_guard> make(const std::string& folder);

    /// Returns the supervisor that has the mark; 0: there is none, or it is another user's; -1:
    /// there is one that stands still, and many have looked.
    static pid_t holder(const std::string& folder);

    /// The socket, for a process that shall keep the mark, too; negative if there is none.
    int descriptor() const noexcept { return socket_ ? socket_->get() : -1; }

    /// Takes what has connected to look at the mark. Call when the descriptor is readable.
    void let_go() const noexcept;

private:
    std::optional<cli::descriptor> socket_; ///< nothing: another user occupies the name
};

} // namespace cli
