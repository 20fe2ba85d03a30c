// SPDX-License-Identifier: Apache-2.0
// Command lines of all verbs (subcommands): exit statuses, functions that parse options and words,
// and the functions of the verbs themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Exit statuses of the program. `holdfast run` normally exits with the status of its command
// instead. The numbers are those of flock(1), of shells and of sysexits.h.

namespace cli {

enum exit_status : int {
    success = 0,
    busy = 1,            ///< the lock is not free (run, wait, ask); -E changes this number
    is_free = 1,         ///< inspect, unlock: the lock is free
    left_alone = 1,      ///< unlock: the user answered "no"
    found_trouble = 1,   ///< doctor: found a problem that needs action
    not_running = 1,     ///< the private server does not run
    in_use = 1,          ///< the private server is in use, so it is not stopped
    wrong_result = 1,    ///< demo: the counted number is wrong
    usage = 64,          ///< EX_USAGE
    no_lock = 65,        ///< EX_DATAERR: the name belongs to something that is not a lock
    unavailable = 69,    ///< EX_UNAVAILABLE: the server cannot be reached, or refuses
    internal_error = 70, ///< EX_SOFTWARE
    system_error = 71,   ///< EX_OSERR: the system refused a call, for example fork()
    unwritten = 74,      ///< EX_IOERR: stdout could not be written
    lock_lost = 75,      ///< EX_TEMPFAIL; renew, give: the ticket's hold has ended
    cannot_execute = 126,
    not_found = 127,
    signalled = 128, ///< the exit status is this value plus the number of the signal
};

} // namespace cli

namespace CLI {
class App;
} // namespace CLI

namespace cli {

using arguments = std::vector<std::string>;

/// Parses the arguments with the options that are registered in the `CLI::App`. If the user asked
/// for help, prints the help and returns false. Throws `usage_error` for every mistake except
/// surplus words: the verb itself must call `reject_surplus`.
bool parse(CLI::App&, arguments, std::string_view help);

/// Throws `usage_error` if the command line has a word that the verb (subcommand) does not use.
void reject_surplus(const CLI::App&);

/// Parses a duration: `1.5`, `30s`, `500ms`, `2m`, `1h` or `1d`. A bare number means seconds.
/// Throws `usage_error`, with the option's name in the message.
std::chrono::duration<double> parse_time(std::string_view option, std::string_view text);

/// Registers an option whose value is a duration. `parse` throws `usage_error` if the value is not
/// a duration. So `-w job` is reported as a wrong duration, and not as a missing NAME.
void expect_time(CLI::App&, const std::string& names, std::string_view option,
                 std::optional<std::chrono::duration<double>>& into);

/// Shortest lease that the program takes. A busy machine may pause a process for longer than a very
/// short lease. Then the lock would be lost before the next step of a script.
inline constexpr std::chrono::milliseconds lease_min{100};

/// Registers the option `--lease`. `parse` throws `usage_error` if the value is not a duration, or
/// if it is shorter than `lease_min`.
void expect_lease(CLI::App&, std::optional<std::chrono::duration<double>>& into);

/// Registers an option whose value is a whole number. `parse` throws `usage_error` if the value is
/// not a number from `least` to `most`.
void expect_number(CLI::App&, const std::string& names, std::string_view option,
                   std::uint64_t least, std::uint64_t most,
                   std::function<void(std::uint64_t)> take);

/// Throws `usage_error` if NAME is missing or empty. The message ends with `form`, the correct form
/// of the command.
void require_name(const CLI::App&, const std::string& name, const std::string& what,
                  const std::string& form);

/// Registers the option `--replicas N`.
void expect_replicas(CLI::App&, std::optional<unsigned>& into);

class inheritance;

// The verbs (subcommands) of the program. Each function takes the arguments after the verb and
// returns the exit status.
int run(const inheritance&, arguments);
int demo(const inheritance&, arguments);
int doctor(const inheritance&, arguments);
int ls(const inheritance&, arguments);
int inspect(const inheritance&, arguments);
int top(const inheritance&, arguments);
int unlock(const inheritance&, arguments);
int wait(const inheritance&, arguments);
int ask(const inheritance&, arguments);
int latch(const inheritance&, arguments);
int take(const inheritance&, arguments);
int renew(const inheritance&, arguments);
int give(const inheritance&, arguments);
int bench(const inheritance&, arguments);
int server(const inheritance&, arguments);

// Internal verbs, with which the demo starts its worker processes and its holder process.
int demo_worker(const inheritance&, arguments);
int demo_holder(const inheritance&, arguments);

// Internal verb that starts this machine's private server if it does not run. The program runs a
// copy of itself with this verb.
int private_server(const inheritance&, arguments);

/// Arguments of `holdfast run`, split into the arguments for holdfast and the command to run. In
/// `run -w 5 job make -j`, the command is `make -j`.
struct split_arguments {
    arguments ours;
    std::optional<arguments> command; ///< empty if there is no command
};

/// Splits the arguments. The command begins after the first `--`. Without `--`, the first word that
/// is not an option or its value is the lock's name, and the second begins the command.
split_arguments split_at_command(const CLI::App& known, arguments);

} // namespace cli
