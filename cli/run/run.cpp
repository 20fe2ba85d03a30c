// SPDX-License-Identifier: Apache-2.0
// Command line of `holdfast run`.
#include "cli/command_line.hpp"
#include "cli/run/locked_run.hpp"
#include "cli/run/locks.hpp"
#include "cli/server/server_access.hpp"
#include "cli/terminal/output.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace cli {
namespace {

constexpr std::string_view run_help =
    R"(Runs a command while it holds a lock, as flock(1) does with a file.

Usage: holdfast run [OPTIONS] NAME [--] COMMAND [ARGUMENT...]

  -n, --nonblock       do not wait if the lock is busy
  -w, --wait TIME      wait at most this long (0.5, 30, 2m); without -n and -w,
                       wait for ever
  -E, --conflict-exit-code CODE
                       exit with CODE if the lock stays busy (default 1); if
                       CODE is 0, also print nothing
  -s, --shared         share the lock with other commands that use -s, and
                       exclude commands that use -x
  -x, --exclusive      exclude all other commands that use -s or -x. Commands
                       without -s and -x take a lock of another kind, also if
                       the NAME is the same: for each NAME, use one of these
                       options always or never
      --slots N        run at most N commands at the same time, on all machines:
                       each command takes one of N slots. The first command that
                       uses the NAME sets N
      --rate N/TIME    start at most N commands in any time of this length, on
                       all machines (10/1m); no lock is held while the command
                       runs. The first command that uses the NAME sets the rate
      --spin           take a lock that JVMs take with getSpinLock: its release
                       sends no message, so a waiting command asks the server
                       again and again
      --fair           wait in order of arrival; commands that wait for the same
                       lock without --fair may overtake this command
      --hold-for TIME  hold the lock at least this long, even if the command
                       ends sooner; INT or TERM ends this wait
      --lease TIME     how long other commands must wait if this program is
                       killed or cut off from the server (default 30s, at least
                       100ms). This program renews the lease while the command
                       runs. On ZooKeeper, the servers limit the lease, usually
                       to 4s up to 40s; with -v, this program prints the lease
                       that they granted
      --fenced[=dated]
                       give the command a token (HOLDFAST_TOKEN): a number that
                       is greater than the numbers of all earlier holders. If
                       the command sends the token with each write, the resource
                       can refuse the writes of an older holder. With =dated,
                       and on the private server, the numbers grow even if the
                       server loses its data
      --with NAME      also take the lock NAME: the command gets all of its
                       locks or none. May be given several times. There is no
                       deadlock, in whatever order the locks are named, because
                       a command never waits long for one lock while it holds
                       another
      --longest-lease TIME
                       on a quorum: how long a server has no vote after a
                       restart, because it may have forgotten its locks
                       (default: the lease; not less than that)
      --nodes-remember on a quorum: each server writes every change to its disk
                       before it replies, so it votes as soon as it is back
      --replicas N     require that N replicas of the server confirm the lock,
                       and each renewal of its lease, so that a failover to one
                       of them does not lose the lock. If fewer replicas
                       confirm, the lock is not taken, and a held lock is lost
                       (default 0, or the number in the URL)
      --on-loss SIGNAL[:GRACE]
                       the signal for the command and the processes that it has
                       started if the lock is lost (default TERM), and the time
                       until KILL; if the lease ends before this time, KILL
                       comes earlier
      --on-ask SIGNAL[:GRACE]
                       the signal for the command if another program asks for
                       the lock ('holdfast ask'). The command may then end
                       early, or go on. With a GRACE, it gets KILL if it still
                       runs after this time. Not for --slots and --rate; the
                       server must be Redis or Valkey
      --metrics-textfile FILE
                       when the run has ended, write its metrics to FILE for
                       node_exporter, the program of Prometheus that reads
                       files with names that end in .prom. Each job needs a
                       FILE of its own. If it cannot be written, or if this
                       program was built without prometheus-cpp, a message says
                       so, and the exit status stays the same
      --url URL        the server that keeps the lock:
                       redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE] or
                       unix:///PATH/TO/SOCKET; for the servers behind Sentinels
                       redis+sentinel://HOST[:PORT],HOST[:PORT]/SERVICE; for a
                       cluster redis+cluster://HOST[:PORT],HOST[:PORT]; with
                       rediss instead of redis for TLS. MySQL and MariaDB:
                       mysql://[USER[:PASSWORD]@]HOST[:PORT][,HOST]/SCHEMA.
                       ZooKeeper: zk://HOST[:PORT][,HOST[:PORT]][/CHROOT].
                       Without this option, the variable HOLDFAST_URL names the
                       server; without the variable, this machine's private
                       server keeps the lock (see 'holdfast server --help'). If
                       --url is given 3, 5 or more times, the servers form a
                       quorum: they are independent, and a majority of them must
                       grant the lock
  -v, --verbose        print which server is used, who holds the lock, when this
                       command gets the lock, and when a failover has moved it.
                       Also print what the server does not grant: a right, or on
                       ZooKeeper the requested lease
  -h, --help           print this text

TIME is a number of seconds, or a number with a unit: 500ms, 30s, 2m, 1h, 1d.
The -- is needed only if the command begins with a dash.

The command runs in its own process group. This program passes on to it every
signal that it can catch. On a terminal, the command runs in the foreground.
Ctrl-Z stops the command, but this program still renews the lock.

When the command ends by itself, this program releases the lock at once. If the
command ends because of a signal, this program holds the lock until the
processes that the command has started have ended, too. Processes that the
signal did not reach get TERM. Processes that still run after the GRACE of
--on-loss (here 10s by default) get KILL. This rule applies to the signals INT,
TERM, HUP, QUIT, PWR and RTMIN+3, to WINCH without a terminal, and to every
other signal that kills the command.

The lock (or the slot) is lost if the server cannot be reached for too long, or
if an operator removes the lock. Then the command and the processes that it has
started get TERM, and KILL later. If this program gets KILL, the command is
killed too, but the processes that it has started continue. This program cannot
stop a command that changes its user: write 'sudo holdfast run ...', not
'holdfast run ... sudo'.

Environment of the command:
  HOLDFAST_LOCK        the NAME
  HOLDFAST_LOCKS       the names of all locks under which the command runs, one
                       per line; the NAME is the last. In a name, % is written
                       as %25, and the end of a line as %0A
  HOLDFAST_TOKEN       the fencing token, with --fenced; otherwise not set
  HOLDFAST_TOKENS      with --fenced and --with, the tokens of all locks, one
                       per line: of the NAME, and of each --with
  HOLDFAST_URL         the server, with its password if the URL has one; those
                       of a quorum with a space between them
  HOLDFAST_PRIVATE_SERVER
                       the folder of the private server, if that server keeps
                       the lock. It tells a 'holdfast' in the command that the
                       user has named no server. HOLDFAST_USERNAME and
                       HOLDFAST_PASSWORD are then not set

Environment of this program:
  HOLDFAST_URL         the server, or those of a quorum, unless --url is given
  HOLDFAST_REQUIRE_SERVER
                       1: exit with status 64 if no server is given, and do not
                       use the private server; set it for a job that must
                       exclude jobs on other machines
  HOLDFAST_USERNAME, HOLDFAST_PASSWORD
                       the user name and the password, unless the URL has them

Exit status:
  the command's; 128+N if signal N ended it, or ended the wait for the lock
    1   the lock is busy (with -n or -w); -E changes this
   64   the command line or a variable is wrong
   65   the NAME belongs to something else on the server: to data that is no
        lock; or to a lock that others take with -s and -x, and this command
        without, or the other way round; or to --slots or --rate with another
        number ('holdfast unlock --force --type permits NAME' or '--type rate'
        deletes it)
   69   the server cannot be reached, or refuses the request
   75   the lock or slot was lost before the command had ended; then the status
        of the command does not matter
  126   the command cannot be executed
  127   the command is not found

Examples:
  holdfast run nightly-report ./report.sh
  holdfast run -n -E 0 cleanup find /srv/cache -mtime +7 -delete
  holdfast run -n -E 0 --hold-for 1m sync-stock -- ./sync.sh --all
  holdfast run -s prices ./show.sh       # many at once, but ...
  holdfast run -x prices ./update.sh     # ... this one runs alone
  holdfast run --slots 4 convert ./convert.sh   # four at once, wherever
  holdfast run --rate 10/1m mails ./send.sh     # ten in any minute
  holdfast run --fenced report sh -c './report --token "$HOLDFAST_TOKEN"'
  holdfast run --with account:8 account:7 ./transfer.sh
  holdfast run --on-ask TERM:1m nightly-report ./report.sh
  holdfast run -w 10 --on-loss INT:5s deploy -- sh -c 'git pull && make install'
)";

using length = std::chrono::duration<double>;

struct given_options {
    bool nonblock = false;
    bool verbose = false;
    bool fair = false;
    bool spin = false;
    bool shared = false;
    bool exclusive = false;
    std::optional<std::uint32_t> slots;
    std::optional<std::string> rate; ///< text that the user typed
    std::optional<length> wait;
    std::optional<length> lease;
    std::optional<length> longest_lease;
    bool nodes_remember = false;
    std::optional<length> hold_for;
    std::optional<unsigned> replicas;
    std::optional<std::string> loss;
    std::optional<std::string> ask;
    std::optional<std::string> metrics_textfile;
    std::optional<std::string> fenced; ///< how tokens grow; empty: depends on the server
    std::vector<std::string> urls;
    std::vector<std::string> with;
    int busy_status = busy;
    std::string name;
};

void expect(CLI::App& expected, given_options& given) {
    expected.add_flag("-n,--nonblock", given.nonblock);
    expected.add_flag("-v,--verbose", given.verbose);
    expected.add_flag("--fair", given.fair);
    expected.add_flag("--spin", given.spin);
    expected.add_flag("-s,--shared", given.shared);
    expected.add_flag("-x,--exclusive", given.exclusive);
    expect_number(expected, "--slots", "--slots", 1, 1'000'000, [&given](std::uint64_t number) {
        given.slots = static_cast<std::uint32_t>(number);
    });
    expected.add_option("--rate", given.rate);
    expect_time(expected, "-w,--wait", "-w", given.wait);
    expect_number(expected, "-E,--conflict-exit-code", "-E", 0, 255,
                  [&given](std::uint64_t number) { given.busy_status = static_cast<int>(number); });
    expect_lease(expected, given.lease);
    expect_time(expected, "--longest-lease", "--longest-lease", given.longest_lease);
    expected.add_flag("--nodes-remember", given.nodes_remember);
    expect_time(expected, "--hold-for", "--hold-for", given.hold_for);
    expected.add_flag("--fenced{}", given.fenced);
    expect_replicas(expected, given.replicas);
    expected.add_option("--on-loss", given.loss);
    expected.add_option("--on-ask", given.ask);
    expected.add_option("--metrics-textfile", given.metrics_textfile);
    expected.add_option("--url", given.urls)->allow_extra_args(false);
    expected.add_option("--with", given.with)->allow_extra_args(false);
    expected.add_option("NAME", given.name);
}

length timeout(const given_options& given) {
    if (given.nonblock && given.wait)
        throw usage_error{"-n (do not wait) and -w (wait) cannot be used together"};
    if (given.nonblock)
        return length::zero();
    return given.wait.value_or(length::max());
}

void check_numbers(const std::string& numbers) {
    if (!numbers.empty() && numbers != "counted" && numbers != "dated")
        throw usage_error{"--fenced: '" + printable(numbers) +
                          "' is not allowed; give --fenced or --fenced=dated"};
}

/// Returns the kind of lock that the options ask for. Throws `usage_error` if two options ask for
/// different kinds.
holdfast::lock_kind kind_of(const given_options& given) {
    using holdfast::lock_kind;
    const struct {
        bool wanted;
        const char* option;
        lock_kind kind;
    } choices[] = {{given.shared, "--shared", lock_kind::read},
                   {given.exclusive, "--exclusive", lock_kind::write},
                   {given.fair, "--fair", lock_kind::fair},
                   {given.spin, "--spin", lock_kind::spin},
                   {given.slots.has_value(), "--slots", lock_kind::permit},
                   {given.rate.has_value(), "--rate", lock_kind::plain},
                   {given.fenced.has_value(), "--fenced", lock_kind::fenced}};
    const char* first = nullptr;
    lock_kind kind = lock_kind::plain;
    for (const auto& each : choices) {
        if (!each.wanted)
            continue;
        if (first != nullptr)
            throw usage_error{std::string{first} + " and " + each.option +
                              " are locks of different kinds: choose one"};
        first = each.option;
        kind = each.kind;
    }
    return kind;
}

/// Throws `usage_error` if the user names a lock twice, because the run would wait for itself.
void check_with(const given_options& given) {
    constexpr std::size_t locks_max = 64;
    if (given.with.size() >= locks_max)
        throw usage_error{"--with: at most 64 locks can be taken as one"};
    for (auto one = given.with.begin(); one != given.with.end(); ++one) {
        if (one->empty())
            throw usage_error{"--with: the name of a lock must not be empty"};
        if (*one == given.name || std::find(given.with.begin(), one, *one) != one)
            throw usage_error{"--with: lock '" + printable(*one) + "' is given twice"};
    }
}

/// Throws `usage_error` if --slots or --rate is given together with an option for locks.
void check_counted(const given_options& given) {
    if (given.slots && !given.with.empty())
        throw usage_error{"--with cannot be used with --slots"};
    if (given.slots && given.ask)
        throw usage_error{"--on-ask cannot be used with --slots"};
    if (!given.rate)
        return;
    const char* const option = !given.with.empty() ? "--with"
                               : given.lease       ? "--lease"
                               : given.hold_for    ? "--hold-for"
                               : given.loss        ? "--on-loss"
                               : given.ask         ? "--on-ask"
                                                   : nullptr;
    if (option != nullptr)
        throw usage_error{std::string{option} +
                          " cannot be used with --rate, because --rate holds no lock"};
}

/// Throws `usage_error` for options that do not apply to a lock on several servers.
void check_quorum_has(const given_options& given, holdfast::lock_kind kind) {
    if (!given.with.empty())
        throw usage_error{
            "--with cannot be used with a quorum, because each lock would need its own majority"};
    if (kind == holdfast::lock_kind::fenced)
        throw usage_error{"--fenced cannot be used with a quorum, because independent servers "
                          "cannot count together"};
    if (given.slots || given.rate)
        throw usage_error{"--slots and --rate cannot be used with a quorum, because independent "
                          "servers cannot count together"};
    if (kind != holdfast::lock_kind::plain)
        throw usage_error{
            "-s, -x, --fair and --spin cannot be used with a quorum, which has only plain locks"};
}

void check_has_no_nodes(const given_options& given) {
    const char* const option = given.longest_lease    ? "--longest-lease"
                               : given.nodes_remember ? "--nodes-remember"
                                                      : nullptr;
    if (option != nullptr)
        throw usage_error{std::string{option} +
                          " works only with a quorum: give --url 3 to 15 times"};
}

/// Throws `usage_error` if the lease in a URL is shorter than `lease_min`.
void check_lease(const given_options& given, const std::string& urls) {
    for (const std::string& url : each_url(urls)) {
        const std::optional<length> of_url = time_in(url, "lease_time");
        if (!given.lease && of_url && *of_url < lease_min)
            throw usage_error{"lease_time in the URL is too short: give 100ms or more"};
    }
}

void check_memory_of_nodes(const given_options& given) {
    if (given.longest_lease && given.nodes_remember)
        throw usage_error{
            "--longest-lease (servers forget) and --nodes-remember cannot be used together"};
    if (given.longest_lease && given.lease && *given.longest_lease < *given.lease)
        throw usage_error{"--longest-lease is shorter than --lease: it must be at least the "
                          "longest lease of all programs that use these servers"};
}

/// Returns the kind of fencing tokens for this server. The default for the private server is dated
/// (based on the clock), because this server loses its token counter when it ends.
holdfast::fencing fencing_on(const std::string& url, const std::string& numbers) {
    const bool dated = numbers.empty() ? is_private_server(url) : numbers == "dated";
    return dated ? holdfast::fencing::dated : holdfast::fencing::counted;
}

} // namespace

int run(const inheritance& inherited, arguments all) {
    given_options given;
    CLI::App expected{"", "run"};
    expect(expected, given);
    auto [ours, command] = split_at_command(expected, std::move(all));
    if (!parse(expected, std::move(ours), run_help))
        return success;

    reject_surplus(expected);
    const char* const form = ": holdfast run [OPTIONS] NAME [--] COMMAND [ARGUMENT...]";
    require_name(expected, given.name, "lock", form);
    if (!command || command->empty())
        throw usage_error{std::string{"the COMMAND is missing"} + form};
    const length most = timeout(given);
    const on_loss loss = given.loss ? parse_on_loss("--on-loss", *given.loss) : on_loss{};
    std::optional<on_loss> asked;
    if (given.ask)
        asked = parse_on_loss("--on-ask", *given.ask);

    if (given.metrics_textfile && given.metrics_textfile->empty())
        throw usage_error{"--metrics-textfile: the name of the FILE is empty"};

    const holdfast::lock_kind kind = kind_of(given);
    const std::string numbers = given.fenced.value_or("");
    check_numbers(numbers);

    check_with(given);
    check_counted(given);
    std::optional<holdfast::rate> rate;
    if (given.rate)
        rate = parse_rate(*given.rate);

    const std::string url = server_urls(given.urls);
    if (each_url(url).size() > 1)
        check_quorum_has(given, kind);
    else
        check_has_no_nodes(given);
    if (asked && !is_on_redis(each_url(url).front()))
        throw usage_error{"--on-ask: this store passes no requests on to the holder of a lock; "
                          "Redis and Valkey do"};
    check_memory_of_nodes(given);
    check_lease(given, url);
    const locked_run wanted{.url = url,
                            .name = given.name,
                            .with = given.with,
                            .command = std::move(*command),
                            .lease = given.lease,
                            .longest_lease = given.longest_lease,
                            .nodes_remember = given.nodes_remember,
                            .hold_for = given.hold_for,
                            .timeout = most,
                            .kind = kind,
                            .slots = given.slots,
                            .rate = rate,
                            .numbers = fencing_on(url, numbers),
                            .replicas = given.replicas,
                            .loss = loss,
                            .ask = asked,
                            .metrics_textfile = given.metrics_textfile,
                            .busy_status = given.busy_status,
                            .verbose = given.verbose};
    return perform(wanted, inherited);
}

} // namespace cli
