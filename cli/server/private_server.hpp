// SPDX-License-Identifier: Apache-2.0
// Private redis-server or valkey-server of this user on this machine. Commands use it if they name
// no other server:
//
//   a command ──▶ does the server answer? ──yes──▶ use it
//                       │ no
//          take the file "lock", pass it to a supervisor, which starts the server
//
// The supervisor (server_supervisor.cpp) stops the server when no command has used it for a while.
#pragma once

#include "cli/server/private_folder.hpp"
#include "cli/server/server_link.hpp"

#include <holdfast/time.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Starts the private server if it does not run. Returns its URL. The server then stays until this
/// process ends. Throws `no_server`.
///
/// Call it before any thread is started, because it may change the environment. It removes
/// HOLDFAST_USERNAME and HOLDFAST_PASSWORD, which are meant for another server.
std::string use_private_server();

std::string url_of(const private_folder&);

/// Returns the URL of the private server, even if the server's folder does not exist.
std::string private_server_url();

/// Returns the environment variables for a command that gets `url` as HOLDFAST_URL: `NAME=value` to
/// set a variable, `NAME` to remove it. For the private server, they tell the command that the user
/// gave no URL. They also remove a password for another server.
std::vector<std::string> variables_of_private_server(const std::string& url);

/// Returns how long the server stays after its last use, from HOLDFAST_SERVER_LINGER. During that
/// time, the next command of a script finds the server running. Throws `usage_error`.
holdfast::duration server_linger();

/// Starts the supervisor in its own session. Returns when the server replies, or when another
/// supervisor was faster. `lock` is the flock of the folder. Throws `no_server` with the
/// supervisor's message.
void start_supervisor(const private_folder&, const descriptor& lock);

/// Message of the supervisor when the server replies. Any other message except `another_was_first`
/// is the reason of a failure.
inline constexpr std::string_view supervisor_is_ready = "ready";
inline constexpr std::string_view another_was_first = "another";

/// Timeout for starting or stopping a server. It is long enough even on a busy machine.
inline constexpr std::chrono::seconds server_start_patience{10};

/// Use of a server by other connections than the connection that asks.
struct server_use {
    long connections = 0;
    long keys = 0; ///< number of keys, without keys that need no server, such as client information

    bool nobody() const noexcept { return connections == 0 && keys == 0; }
};
server_use use_of(server_link&);

} // namespace cli
