// SPDX-License-Identifier: Apache-2.0
// `holdfast server`: what the private server does, and its end.
#include "cli/exit_status.hpp"
#include "cli/server/private_server.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/say.hpp"
#include "cli/verbs.hpp"

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
    R"(This machine's private server: a redis-server or valkey-server of yours alone,
which keeps the locks where no server is given (no --url, no HOLDFAST_URL). It
is started when it is needed, listens on a unix socket in a folder that only you
can enter and on no network, saves nothing, and ends when no client is connected
and no lock is left for a while.

Usage: holdfast server status [--json]
       holdfast server stop [--force]

  status         whether it runs, where, and who uses it
      --json     for programs: {"running", "url", "program", "process",
                 "uptime_seconds", "connections", "keys"}
  stop           end it now, unless it is in use
      --force    even then: whoever holds a lock there loses it
  -h, --help     this text

The folder is /tmp/holdfast-UID, or $XDG_RUNTIME_DIR/holdfast if that variable
names a folder of your own choice (not the login session's /run/user/UID, which
cron jobs do not have).

Environment: HOLDFAST_SERVER_LINGER, how long it outlives its last use (60s,
10m; default 60s).

Exit status:
    0   it runs (status); it does not run any more (stop)
    1   it does not run (status); it is in use (stop)
   64   the command line is wrong
   69   it does not answer

Example:
  holdfast server status --json | jq -r .url
)";

struct server_state {
    std::string program; ///< as in "redis 7.0.15"
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

std::string count(long number, const std::string& noun, const std::string& ending) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : ending);
}

std::string in_words(const server_use& use) {
    return count(use.connections, "connection", "s") + ", " + count(use.keys, "key", "s");
}

/// The connection, if there is a server. Throws `no_answer` if it has one that says nothing.
std::optional<server_link> find(const std::optional<private_folder>& home) {
    return home ? server_link::open(home->socket()) : std::nullopt;
}

int status(const std::optional<private_folder>& home, bool json) {
    std::optional<server_link> link = find(home);
    if (json) {
        boost::json::object whole{{"running", link.has_value()}};
        if (link) {
            const server_state now = ask_for_state(*link);
            whole = {{"running", true},
                     {"url", url_of(*home)},
                     {"program", now.program},
                     {"process", now.process},
                     {"uptime_seconds", now.uptime_seconds},
                     {"connections", now.use.connections},
                     {"keys", now.use.keys}};
        }
        std::cout << boost::json::serialize(whole) << '\n';
    } else if (link) {
        const server_state now = ask_for_state(*link);
        std::cout << "running   " << url_of(*home) << "\nserver    " << now.program << ", process "
                  << now.process << ", for " << count(now.uptime_seconds, "second", "s")
                  << "\nin use    " << in_words(now.use) << '\n';
    } else {
        std::cout << "not running; it starts when it is needed" << '\n';
    }
    return link ? success : not_running;
}

/// A server that was told to end, and its supervisor, are gone. False: they are not.
bool wait_for_end(const private_folder& home) {
    const auto give_up_at = holdfast::boot_clock::now() + server_start_patience;
    while (home.is_served()) {
        if (holdfast::boot_clock::now() > give_up_at)
            return false;
        std::this_thread::sleep_for(look_again);
    }
    return true;
}

int refuse_to_stop(const std::string& by) {
    say("the private server is in use (" + by +
        "). 'holdfast server stop --force' ends it even so: whoever holds a lock there loses it");
    return in_use;
}

int stop(const std::optional<private_folder>& home, bool force) {
    std::optional<server_link> link = find(home);
    if (!link)
        return success;
    if (!force) {
        if (!home->try_to_end()) // and if it can be, no program of ours begins to use it
            return refuse_to_stop("by a holdfast program that runs");
        if (const server_use use = use_of(*link); !use.nobody())
            return refuse_to_stop(in_words(use));
    }
    // Its supervisor sees the end, and tidies up.
    if (link->answers())
        link->shut_down();
    else if (force)
        ::kill(link->server(), SIGKILL); // stuck, so it is still there
    else
        throw no_answer{"it does not answer"};
    if (wait_for_end(*home))
        return success;
    say("the private server in " + printable(home->path()) + " does not end");
    return unavailable;
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
        throw usage_error{"it is 'holdfast server status [--json]' or 'holdfast server stop "
                          "[--force]'"};
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
