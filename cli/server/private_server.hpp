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

/// Blocking connection to a server on a unix socket, for a few simple commands that the library
/// itself does not need. Each command waits at most a few seconds.
class server_link {
public:
    /// Connects to the server. Returns nothing if no server listens on that socket.
    static std::optional<server_link> open(const std::string& socket);

    /// Sends a command and returns the reply. The arguments must not need quoting. An error reply
    /// of the server is returned like any other reply.
    std::string ask(std::string_view command);

    pid_t server() const; ///< returns the process id of the server
    bool answers() noexcept;

    /// Returns true if the last command timed out, and false if the connection was closed.
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

/// text_in() and number_in() return the value after `NAME:` in an INFO reply, as a text or as a
/// number. If the name is missing, they return an empty text or 0.
std::string text_in(std::string_view info, std::string_view name);
long number_in(std::string_view info, std::string_view name);

/// Abstract unix socket that shows that a private server runs. Its name contains the user, the
/// mount namespace and the path of the server's folder. It exists as long as the supervisor or its
/// server runs. Deleting the server's files or the whole folder does not remove it.
class server_guard {
public:
    /// Creates the guard for that folder. Returns nothing if another server of this user has the
    /// guard. Throws `std::system_error`.
    static std::optional<server_guard> make(const std::string& folder);

    /// Returns the process id of the supervisor that has the guard. Returns 0 if there is no guard,
    /// or if another user has it. Returns -1 if the supervisor is stopped and its queue of
    /// connections is full.
    static pid_t holder(const std::string& folder);

    /// Returns the socket, for a child process that must also keep the guard. The result is
    /// negative if there is no socket.
    int descriptor() const noexcept { return socket_ ? socket_->get() : -1; }

    /// Accepts and closes the pending connections. They come from processes that called `holder()`,
    /// which need only the process id of this process. Call the function when the descriptor is
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
    /// because that user could grant locks.
    static private_folder make();

    /// Finds the folder. Returns nothing if the folder does not exist.
    static std::optional<private_folder> find();

    /// Returns the path of the folder, even if the folder does not exist.
    static std::string likely_path();

    /// Returns the URL for a server that listens on this socket.
    static std::string url_of_socket(const std::string& path);

    const std::string& path() const noexcept { return path_; }
    std::string socket() const { return path_ + "/socket"; }
    std::string log() const { return path_ + "/log"; }

    /// Marks the server as used, so that the supervisor does not stop it. If the server is being
    /// stopped now, waits for its end, but at most for `timeout`. Returns false if the server has
    /// not ended by then.
    bool use(std::chrono::milliseconds timeout) const;
    bool try_to_end() const;
    void stop_ending() const noexcept;

    /// Takes the exclusive flock of the file "lock". The returned descriptor, and every process
    /// that inherits it, keeps the flock. Returns nothing if a server runs.
    std::optional<descriptor> try_to_serve() const;
    bool is_served() const;

    /// Returns whether a new program would find this folder with a socket in it.
    bool is_found() const noexcept;

private:
    private_folder(std::string path, descriptor opened)
        : path_{std::move(path)}
        , folder_{std::move(opened)} {}

    std::string path_;
    descriptor folder_;
};

/// Time between two checks, for changes that the kernel does not report.
inline constexpr std::chrono::milliseconds look_again{5};

/// Starts the private server if it does not run. Returns its URL. The server then stays until this
/// process ends. Throws `no_server`.
///
/// Call it before any thread is started, because it may change the environment. It removes
/// HOLDFAST_USERNAME and HOLDFAST_PASSWORD, which are meant for another server.
std::string use_private_server();

std::string url_of(const private_folder&);

/// Returns the URL of the private server, even if the server's folder does not exist.
std::string private_server_url();

/// Records on the private server that `holdfast run` sets this counter again if the counter is
/// gone. So the server may end although the counter exists, if no command uses it.
void remember_counter_of_run(const std::string& name) noexcept;

/// Returns the environment variables for a command that gets `url` as HOLDFAST_URL: `NAME=value`
/// sets a variable, `NAME` removes it. If `url` is the private server, they tell the command that
/// the user gave no URL, and they remove the password for another server.
std::vector<std::string> variables_of_private_server(const std::string& url);

/// Returns for how long the server keeps running after its last use, so that the next command of a
/// script finds it running. The value comes from the environment variable HOLDFAST_SERVER_LINGER.
/// Throws `usage_error` if the value is wrong.
holdfast::duration server_linger();

/// Starts the supervisor in a session of its own. Returns when the server replies, or when another
/// supervisor was faster. `lock` is the flock of the folder. If the start fails, throws `no_server`
/// with the supervisor's message.
void start_supervisor(const private_folder&, const descriptor& lock);

/// Message of the supervisor when the server replies. Any other message except `another_was_first`
/// is the reason of a failure.
inline constexpr std::string_view supervisor_is_ready = "ready";
inline constexpr std::string_view another_was_first = "another";

/// Timeout for starting or stopping a server. It is long enough even on a busy machine.
inline constexpr std::chrono::seconds server_start_timeout{10};

/// How many connections and keys use the server. The connection that asks is not counted.
struct server_use {
    long connections = 0;
    long keys = 0; ///< number of keys, without keys that need no server, such as client information

    bool nobody() const noexcept { return connections == 0 && keys == 0; }
};
server_use use_of(server_link&);

} // namespace cli
