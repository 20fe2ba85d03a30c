// SPDX-License-Identifier: Apache-2.0
// Private redis-server or valkey-server of this user on this machine. A command uses it if the user
// names no other server:
//
//   a command ──▶ does the server answer? ──yes──▶ use it
//                       │ no
//          take the file "lock", pass it to a supervisor, which starts the server
//
// The supervisor (server_supervisor.cpp) stops the server when no command has used it for a while.
#pragma once

#include "cli/descriptor.hpp"

#include <holdfast/time.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace cli {

/// Exception: the server did not reply in time, or closed the connection.
struct no_answer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Blocking connection to a server on a unix socket, for commands such as INFO that the library
/// does not send. Each command waits at most a few seconds.
class server_link {
public:
    /// Connects to the server. Returns nothing if no server listens on the given socket.
    static std::optional<server_link> open(const std::string& socket);

    /// Sends a command and returns the reply, which may be an error reply. The arguments must not
    /// contain spaces or quotes.
    std::string ask(std::string_view command);

    pid_t server() const; ///< returns the process id of the server
    bool answers() noexcept;

    /// Returns true if the last command timed out, and false if the connection was closed.
    bool was_silent() const noexcept { return silent_; }

    void shut_down(); ///< stops the server, which saves nothing

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

/// text_in() and number_in() return the value after `NAME:` in an INFO reply, as a text or as a
/// number. If the name is missing, they return an empty text or 0.
std::string text_in(std::string_view info, std::string_view name);
long number_in(std::string_view info, std::string_view name);

/// Abstract unix socket that exists as long as the private server or its supervisor runs, even if
/// somebody deletes the server's folder. So no second server is started. The socket's name contains
/// the user, the mount namespace and the folder's path.
class server_guard {
public:
    /// Creates the socket for the given folder. Returns nothing if another server of this user has
    /// this socket. Throws `std::system_error`.
    static std::optional<server_guard> make(const std::string& folder);

    /// Returns the process id of the supervisor that owns the socket. Returns 0 if the socket does
    /// not exist or belongs to another user, and -1 if the supervisor is stopped and accepts no
    /// connections.
    static pid_t holder(const std::string& folder);

    /// Returns the socket's descriptor, which a child process must keep open, too. The result is
    /// negative if there is no socket.
    int descriptor() const noexcept { return socket_ ? socket_->get() : -1; }

    /// Accepts and closes the pending connections. These connections come from calls of `holder()`,
    /// which read only the process id of this process. Call the function when the descriptor is
    /// readable.
    void let_go() const noexcept;

private:
    std::optional<cli::descriptor> socket_; ///< empty if another user has taken the name
};

/// Folder of this user's private server. It has the server's socket, its log, and these locks:
///
///     the folder itself, shared flock       a program uses the server: it must not be ended
///     the folder itself, exclusive flock    it is being ended: no program may begin to use it
///     the file "lock", exclusive flock      a supervisor or its server lives, or is being started
///     server_guard                          the same, even if that file was removed
///
/// The kernel releases these locks when their processes end, also after a crash.
class private_folder {
public:
    /// Finds or creates the folder. Throws `no_server` if another user can write to the folder,
    /// because that user could replace the server.
    static private_folder make();

    /// Finds the folder. Returns nothing if the folder does not exist.
    static std::optional<private_folder> find();

    /// Returns the path that the folder has or would have.
    static std::string likely_path();

    /// Returns the URL for a server that listens on this socket.
    static std::string url_of_socket(const std::string& path);

    const std::string& path() const noexcept { return path_; }
    std::string socket() const { return path_ + "/socket"; }
    std::string log() const { return path_ + "/log"; }

    /// Marks the server as used, so that the supervisor does not stop it. If the supervisor is
    /// stopping the server just now, waits until the server has ended. Returns false if the server
    /// has not ended after `timeout`.
    bool use(std::chrono::milliseconds timeout) const;
    bool try_to_end() const;
    void stop_ending() const noexcept;

    /// Takes the exclusive flock of the file "lock". The returned descriptor, and every process
    /// that inherits it, keeps the flock. Returns nothing if a server runs.
    std::optional<descriptor> try_to_serve() const;
    bool is_served() const;

    /// Returns whether the folder still exists at its path and has a socket.
    bool is_found() const noexcept;

private:
    private_folder(std::string path, descriptor opened)
        : path_{std::move(path)}
        , folder_{std::move(opened)} {}

    std::string path_;
    descriptor folder_;
};

/// Time between two polls, for changes that the kernel does not report.
inline constexpr std::chrono::milliseconds look_again{5};

/// Starts the private server if it does not run, and returns its URL. The server is not stopped
/// before this process ends. Throws `no_server`.
///
/// Call this function before any thread is started, because it removes HOLDFAST_USERNAME and
/// HOLDFAST_PASSWORD from the environment. These variables are meant for another server.
std::string use_private_server();

std::string url_of(const private_folder&);

/// Returns the URL of the private server, whether it runs or not.
std::string private_server_url();

/// Records on the private server that `holdfast run` has created this counter and can create it
/// again. Such a counter does not keep the server running.
void remember_counter_of_run(const std::string& name) noexcept;

/// Returns environment variables for a command on the server `url`: `NAME=value` sets a variable,
/// `NAME` removes it. If `url` is the private server's URL, the variables tell the command that the
/// user named no server, and remove the password of another server.
std::vector<std::string> variables_of_private_server(const std::string& url);

/// Returns how long the server keeps running after its last use: the value of
/// HOLDFAST_SERVER_LINGER, or the default. So the next command of a script need not start the
/// server again. Throws `usage_error` if the value is wrong.
holdfast::duration server_linger();

/// Starts the supervisor in its own session. Waits until its server, or the server of another
/// supervisor, replies. `lock` is the flock of the file "lock". Throws `no_server` with the
/// supervisor's message if the start fails.
void start_supervisor(const private_folder&, const descriptor& lock);

/// Returns words for the message that the server could not be started, if a hard limit of this
/// session (`ulimit -H`) is too low for the server. Returns an empty text if no limit is too low.
std::string words_for_low_limits();

/// Message of the supervisor when the server replies. Any other message except `another_was_first`
/// is the reason of a failure.
inline constexpr std::string_view supervisor_is_ready = "ready";
inline constexpr std::string_view another_was_first = "another";

/// Timeout for starting or stopping a server. The timeout is long enough even on a busy machine.
inline constexpr std::chrono::seconds server_start_timeout{10};

/// How many connections and keys use the server. The connection that asks is not counted.
struct server_use {
    long connections = 0;
    long keys = 0; ///< number of keys, except those that may be lost, such as client information

    bool nobody() const noexcept { return connections == 0 && keys == 0; }
};
server_use use_of(server_link&);

} // namespace cli
