// SPDX-License-Identifier: Apache-2.0
// A redis-server or valkey-server of this user's on this machine, for whoever names no other:
//
//   whoever needs it ──▶ does it answer? ──yes──▶ use it
//                               │ no
//                 take the file "lock", hand it to a supervisor, which starts the server
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

/// Its URL. It runs, and is not ended before this process is, whatever happens to the others.
/// Throws `no_server`.
///
/// Call before there are threads: it may change the environment, since whoever the environment
/// says we are, we are that at another server.
std::string use_private_server();

std::string url_of(const private_folder&);

/// The same for the folder that would be used, whether it is there or not.
std::string private_server_url();

/// Returns the variables of a command whose HOLDFAST_URL is this, as `NAME=value`, or `NAME` for a
/// variable that the command shall not have. On the private server these tell it that the URL was
/// not given by anybody, and keep back a password that is for another server.
std::vector<std::string> variables_of_private_server(const std::string& url);

/// How long the server outlives its last use, by HOLDFAST_SERVER_LINGER: the next command of a
/// script finds it running. Throws `usage_error`.
holdfast::duration server_linger();

/// Starts the supervisor in a session of its own, and returns when the server answers, or when
/// another supervisor was there first. `lock` is the folder's. Throws `no_server` with the
/// supervisor's words.
void start_supervisor(const private_folder&, const descriptor& lock);

/// What the supervisor says when the server answers; anything else is why it does not.
inline constexpr std::string_view supervisor_is_ready = "ready";
inline constexpr std::string_view another_was_first = "another";

/// Longer than a server takes to start or to end, on a busy machine too.
inline constexpr std::chrono::seconds server_start_patience{10};

/// How much a server is used by others than this link.
struct server_use {
    long connections = 0;
    long keys = 0; ///< but those that only say who a client is

    bool nobody() const noexcept { return connections == 0 && keys == 0; }
};
server_use use_of(server_link&);

} // namespace cli
