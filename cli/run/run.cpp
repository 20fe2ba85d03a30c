// SPDX-License-Identifier: Apache-2.0
// The command line of `holdfast run`.
#include "cli/exit_status.hpp"
#include "cli/run/locked_run.hpp"
#include "cli/terminal/say.hpp"
#include "cli/verbs.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <optional>

namespace cli {
namespace {

constexpr std::string_view run_help =
    R"(Runs a command while holding a lock, as flock(1) does with a file.

Usage: holdfast run [OPTIONS] NAME -- COMMAND [ARGUMENT...]

  -n, --nonblock       do not wait if the lock is busy
  -w, --wait SECONDS   wait no longer than that (0.5, 30, 2m); without it: for
                       ever
  -E, --conflict-exit-code CODE
                       exit status if the lock stays busy (default 1; 0 also
                       says nothing)
      --lease TIME     how long the lock outlives this program if it is killed
                       or cut off (30s, 500ms; default 30s); it is renewed as
                       long as the command runs
      --url URL        redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE], with
                       rediss: for TLS, or unix:///PATH/TO/SOCKET; default: the
                       environment's HOLDFAST_URL, or else this machine's
                       private server (see 'holdfast server --help');
                       HOLDFAST_USERNAME and HOLDFAST_PASSWORD say who
  -v, --verbose        say what is waited for, who holds it, and when it was
                       taken
  -h, --help           this text

The command has a process group of its own, to which INT, TERM, HUP, QUIT, USR1,
USR2, TSTP and CONT are passed on; on a terminal it has the foreground. Ctrl-Z
stops the job, and its lock is still renewed.

If the lock is lost (the server is away too long, or an operator takes it), the
command is stopped: TERM, then KILL, also for the daemons it has started. If
this program is killed, so is the command, but not what that has started, and
not a command that became another user: put sudo before holdfast, not behind.

In the command's environment, HOLDFAST_LOCK is the NAME and HOLDFAST_URL the
server, with a password if you have put one there.

Exit status:
  the command's; 128+N if signal N ended it, or ended the wait for the lock
    1   the lock is busy (-n, -w); -E changes it
   64   the command line is wrong
   69   the server cannot be reached, or refuses
   75   the lock was lost before the command had ended, whatever that ended with
  126   the command cannot be executed
  127   the command is not found

Examples:
  holdfast run nightly-report -- ./report.sh
  holdfast run -n -E 0 cleanup -- find /srv/cache -mtime +7 -delete
  holdfast run -w 10 --lease 5s deploy -- sh -c 'git pull && make install'
)";

struct given_options {
    bool nonblock = false;
    bool verbose = false;
    std::optional<std::string> wait;
    std::optional<std::string> lease;
    std::optional<std::string> url;
    int busy_status = busy;
    std::string name;
};

/// The likeliest reason for a word that nobody expects.
void reject_forgotten_dashes(const CLI::App& expected) {
    if (const arguments surplus = expected.remaining(); !surplus.empty())
        throw usage_error{"put -- before the command: holdfast run [OPTIONS] NAME -- " +
                          printable(surplus.front()) + " ..."};
}

std::chrono::duration<double> patience(const given_options& given) {
    if (given.nonblock && given.wait)
        throw usage_error{"-n (do not wait) and -w (wait) exclude each other"};
    if (given.nonblock)
        return std::chrono::duration<double>::zero();
    if (!given.wait)
        return std::chrono::duration<double>::max();
    return parse_time("-w", *given.wait);
}

} // namespace

int run(const inheritance& inherited, arguments all) {
    auto [ours, command] = split_at_dashes(std::move(all));
    given_options given;
    CLI::App expected{"", "run"};
    expected.add_flag("-n,--nonblock", given.nonblock);
    expected.add_flag("-v,--verbose", given.verbose);
    expected.add_option("-w,--wait", given.wait);
    expected.add_option("-E,--conflict-exit-code", given.busy_status)->check(CLI::Range(0, 255));
    expected.add_option("--lease", given.lease);
    expected.add_option("--url", given.url);
    expected.add_option("NAME", given.name);
    if (!parse(expected, std::move(ours), run_help))
        return success;

    if (!command)
        reject_forgotten_dashes(expected);
    reject_surplus(expected);
    const char* const form = ": holdfast run [OPTIONS] NAME -- COMMAND [ARGUMENT...]";
    if (given.name.empty())
        throw usage_error{std::string{"which lock? Its NAME is missing"} + form};
    if (!command)
        throw usage_error{std::string{"-- and the command are missing"} + form};
    if (command->empty())
        throw usage_error{std::string{"the command after -- is missing"} + form};

    locked_run wanted{server_url(given.url), given.name,        std::move(*command), std::nullopt,
                      patience(given),       given.busy_status, given.verbose};
    if (given.lease)
        wanted.lease = parse_time("--lease", *given.lease);
    return perform(wanted, inherited);
}

} // namespace cli
