// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/descriptor.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace cli {

/// Exception: the server did not answer in time, or closed the connection.
struct no_answer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Blocking connection to a server on a unix socket, for a few simple commands that the library
/// does not need for locks. Each command waits a few seconds at most.
class server_link {
public:
    /// Connects. Returns nothing if no server listens there.
    static std::optional<server_link> open(const std::string& socket);

    /// Sends a command and returns the reply. The arguments must not need quoting. An error reply
    /// of the server is returned too.
    std::string ask(std::string_view command);

    pid_t server() const; ///< Returns the process id of the server.
    bool answers() noexcept;

    /// Returns whether the last command had no reply in time, as opposed to a closed connection.
    bool was_silent() const noexcept { return silent_; }

    void shut_down(); ///< ends the server without saving; the server closes the connection

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

/// Returns the value after `NAME:` in an INFO reply; empty or 0 if the name is missing.
std::string text_in(std::string_view info, std::string_view name);
long number_in(std::string_view info, std::string_view name);

} // namespace cli
