// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace cli {

/// Exception: the server did not reply in time, or closed the connection.
struct no_answer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Blocking connection to a server on a unix socket. It is for a few simple commands that the
/// library itself does not need. Each command waits at most a few seconds.
class server_link {
public:
    /// Connects to the server. Returns nothing if no server listens on that socket.
    static std::optional<server_link> open(const std::string& socket);

    /// Sends a command and returns the reply. The arguments must not need quoting. An error reply
    /// of the server is returned like any other reply.
    std::string ask(std::string_view command);

    pid_t server() const; ///< returns the process id of the server
    bool answers() noexcept;

    /// Returns true if the last command timed out. Returns false if the connection was closed
    /// instead.
    bool was_silent() const noexcept { return silent_; }

    void shut_down(); ///< stops the server without saving; the server closes the connection

private:
    explicit server_link(descriptor connected)
        : socket_{std::move(connected)} {}

    void read_more();
    std::string take_line();
    std::string take(std::size_t bytes);

    descriptor socket_;
    std::string unread_;
    bool silent_ = false;
};

/// Returns the value after `NAME:` in an INFO reply. Returns an empty text or 0 if the name is
/// missing.
std::string text_in(std::string_view info, std::string_view name);
long number_in(std::string_view info, std::string_view name);

} // namespace cli
