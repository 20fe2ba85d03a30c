// SPDX-License-Identifier: Apache-2.0
// Private redis-server or valkey-server of this user on this machine, for commands that name no
// other server:
//
//   a command ──▶ does the server answer? ──yes──▶ use it
//                       │ no
//          take the file "lock", pass it to a supervisor, which starts the server
//
// The supervisor (server_supervisor.cpp) ends the server when nobody has used it for a while.
#pragma once

#include "cli/server/private_folder.hpp"
#include "cli/server/server_link.hpp"

#include <holdfast/time.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Starts the private server if it does not run, and returns its URL. The server then stays until
/// this process ends. Throws `no_server`.
///
/// Call before any thread is started, because it may change the environment: HOLDFAST_USERNAME and
/// HOLDFAST_PASSWORD are for another server.
std::string use_private_server();

std::string url_of(const private_folder&);

/// Returns the URL for the folder that would be used, even if that folder does not exist.
std::string private_server_url();

/// Returns the environment variables of a command whose HOLDFAST_URL is `url`: `NAME=value`, or
/// `NAME` for a variable that the command must not have. For the private server, they tell the
/// command that the user gave no URL, and remove a password that is for another server.
std::vector<std::string> variables_of_private_server(const std::string& url);

/// Returns how long the server stays after its last use, from HOLDFAST_SERVER_LINGER. The next
/// command of a script then finds it running. Throws `usage_error`.
holdfast::duration server_linger();

/// Starts the supervisor in its own session. Returns when the server answers, or when another
/// supervisor was faster. `lock` is the flock of the folder. Throws `no_server` with the
/// supervisor's message.
void start_supervisor(const private_folder&, const descriptor& lock);

/// The supervisor writes this when the server answers. Any other text but `another_was_first` is
/// the reason for a failure.
inline constexpr std::string_view supervisor_is_ready = "ready";
inline constexpr std::string_view another_was_first = "another";

/// Longer than a server takes to start or to end, even on a busy machine.
inline constexpr std::chrono::seconds server_start_patience{10};

/// Use of a server by connections other than this one.
struct server_use {
    long connections = 0;
    long keys = 0; ///< without keys that need no server, such as client information

    bool nobody() const noexcept { return connections == 0 && keys == 0; }
};
server_use use_of(server_link&);

} // namespace cli
