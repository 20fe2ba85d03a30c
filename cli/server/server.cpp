// SPDX-License-Identifier: Apache-2.0
// `holdfast server`: shows or stops the private server.
#include "cli/command_line.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/server/private_server.hpp"
#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <holdfast/time.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json.hpp>

#include <csignal>
#include <iostream>
#include <thread>

namespace cli {
namespace {

constexpr std::string_view server_help =
    R"(Shows or stops this machine's private server: a redis-server or valkey-server
that belongs only to you. It keeps the locks if no server is given (neither
--url nor HOLDFAST_URL). holdfast starts it when it is needed. It listens on a
unix socket in a folder that only you can enter, and on no network. It saves
nothing to disk. It ends some time after its last client has left and its last
lock has ended. It stays while a slot is held, a --rate still counts a start, or
a latch or a semaphore is set.

Usage: holdfast server status [--json]
       holdfast server stop [--force]

  status         print whether it runs, where, and how much it is used
      --json     for programs: {"running", "url", "program", "process",
                 "uptime_seconds", "connections", "keys"}; if it does not run,
                 all but the first are null
  stop           stop it now, unless it is in use
      --force    stop it even if it is in use; its locks are lost then
  -h, --help     print this text

The folder of the server is /tmp/holdfast-UID. There is one exception: if you
have set XDG_RUNTIME_DIR to a folder of yours, the folder of the server is
$XDG_RUNTIME_DIR/holdfast. /run/user/UID does not count as such a folder,
because cron jobs do not have it.

Environment of this program:
  HOLDFAST_SERVER_LINGER
                       how long the server stays after its last use (60s, 10m;
                       default 60s)
  HOLDFAST_REQUIRE_SERVER
                       1: commands without a server exit with status 64, and do
                       not use the private server

Exit status:
    0   it runs (status); it does not run any more (stop)
    1   it does not run (status); it is in use (stop)
   64   the command line or a variable is wrong
   69   it does not reply

Example:
  holdfast server status --json | jq -r .url
)";

struct server_state {
    std::string program; ///< for example "redis 7.0.15"
    long process = 0;
    long uptime_seconds = 0;
    server_use use;
};

server_state ask_for_state(server_link& link) {
    const std::string info = link.ask("INFO server");
    const std::string valkey = text_in(info, "valkey_version");
    return {.program =
                valkey.empty() ? "redis " + text_in(info, "redis_version") : "valkey " + valkey,
            .process = number_in(info, "process_id"),
            .uptime_seconds = number_in(info, "uptime_in_seconds"),
            .use = use_of(link)};
}

std::string use_in_words(const server_use& use) {
    return how_many(use.connections, "connection") + ", " + how_many(use.keys, "key");
}

boost::json::object in_json(const std::optional<server_state>& now, const std::string& url) {
    if (!now)
        return {{"running", false},
                {"url", nullptr},
                {"program", nullptr},
                {"process", nullptr},
                {"uptime_seconds", nullptr},
                {"connections", nullptr},
                {"keys", nullptr}};
    return {{"running", true},
            {"url", url},
            {"program", now->program},
            {"process", now->process},
            {"uptime_seconds", now->uptime_seconds},
            {"connections", now->use.connections},
            {"keys", now->use.keys}};
}

/// Connects to the server. Returns nothing if there is no server.
std::optional<server_link> find(const std::optional<private_folder>& home) {
    return home ? server_link::open(home->socket()) : std::nullopt;
}

/// Returns the state of the server. Returns nothing if there is no server, or if the server ended
/// before it had replied. Throws `no_answer` if the server does not reply.
std::optional<server_state> find_state(const std::optional<private_folder>& home) {
    std::optional<server_link> link = find(home);
    try {
        return link ? std::optional{ask_for_state(*link)} : std::nullopt;
    } catch (const no_answer&) {
        if (link->was_silent())
            throw;
        return std::nullopt;
    }
}

int status(const std::optional<private_folder>& home, bool json) {
    const std::optional<server_state> now = find_state(home);
    const std::string url = now ? url_of(*home) : "";
    if (json) {
        write_json(in_json(now, url));
    } else if (now) {
        std::cout << "running   " << url << "\nserver    " << now->program << ", process "
                  << now->process << ", for " << how_many(now->uptime_seconds, "second")
                  << "\nin use    " << use_in_words(now->use) << '\n';
    } else {
        std::cout << "not running; it starts when it is needed" << '\n';
    }
    return now ? success : not_running;
}

/// Waits for the end of a stopping server and of its supervisor. Returns false if one of the two
/// processes still runs after the timeout.
bool wait_for_end(const private_folder& home) {
    const auto give_up_at = holdfast::boot_clock::now() + server_start_timeout;
    while (home.is_served()) {
        if (holdfast::boot_clock::now() > give_up_at)
            return false;
        std::this_thread::sleep_for(look_again);
    }
    return true;
}

int refuse_to_stop(const std::string& by) {
    say("the private server is in use (" + by +
        "). 'holdfast server stop --force' ends it anyway, and all locks on it are lost");
    return in_use;
}

/// Executes `holdfast server stop` if there is no server, or if the server's socket was removed.
int stop_without_socket(const std::optional<private_folder>& home, bool force) {
    const pid_t supervisor = home ? server_guard::holder(home->path()) : 0;
    if (supervisor == 0)
        return success;
    if (force && supervisor > 0)
        ::kill(supervisor, SIGKILL); // the supervisor's server ends with it
    if (wait_for_end(*home))
        return success;
    throw no_answer{"it runs, but its socket was removed"};
}

/// Stops a server that has accepted a connection. Returns the exit status, or nothing if the server
/// is ending already. Throws `no_answer` if the server does not reply.
std::optional<int> stop_connected(const private_folder& home, server_link& link, bool force) {
    try {
        if (!force) {
            if (!home.try_to_end()) // after success, no `holdfast` program can begin to use it
                return refuse_to_stop("by a holdfast program that runs");
            if (const server_use use = use_of(link); !use.nobody())
                return refuse_to_stop(use_in_words(use));
        }
        link.ask("PING");
        link.shut_down();
    } catch (const no_answer&) {
        if (!link.was_silent())
            return std::nullopt;
        if (!force)
            throw;
        ::kill(link.server(), SIGKILL); // the server hangs, so the process id is still its own
    }
    // The supervisor (the server's parent process) notices the end of the server, and cleans up.
    if (wait_for_end(home))
        return success;
    say("the private server in " + printable(home.path()) + " does not end");
    return unavailable;
}

int stop(const std::optional<private_folder>& home, bool force) {
    std::optional<server_link> link = find(home);
    const std::optional<int> stopped = link ? stop_connected(*home, *link, force) : std::nullopt;
    return stopped ? *stopped : stop_without_socket(home, force);
}

} // namespace

int server(const inheritance& inherited, arguments all) {
    bool json = false;
    bool force = false;
    std::string what;
    CLI::App expected{"", "server"};
    expected.add_flag("--json", json);
    expected.add_flag("--force", force);
    expected.add_option("WHAT", what);
    if (!parse(expected, std::move(all), server_help))
        return success;
    reject_surplus(expected);
    if ((what != "status" && what != "stop") || (json && what == "stop") ||
        (force && what == "status"))
        throw usage_error{"the command must be 'holdfast server status [--json]' or 'holdfast "
                          "server stop [--force]'"};
    try {
        const std::optional<private_folder> home = private_folder::find();
        if (what == "stop")
            return stop(home, force);
        end_with_reader(inherited);
        return status(home, json);
    } catch (const no_answer& failure) {
        throw no_server{std::string{"the private server: "} + failure.what() +
                        "; 'holdfast server stop --force' ends it"};
    }
}

} // namespace cli
