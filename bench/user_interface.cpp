// SPDX-License-Identifier: Apache-2.0
#include "bench/user_interface.hpp"

#include <holdfast/version.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#include <getopt.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace holdfast::bench {
namespace {

constexpr char help[] = R"(holdfast_bench [--json] [--only NAME] [--all] [--seconds S] [--rounds N]
               [--tcp] [--apart] [--record FILE]

Measures holdfast by turns with yardsticks, on a redis-server of its own: with the barest code that
sends the same two scripts, and with Redisson in a JVM, where there is one.

  --json         one JSON object a line instead of a table
  --only NAME    one contest (gate.64), or all whose names begin so (blocking)
  --all          also those that are left out otherwise: the points between, for curves; and
                 budget, by which that of local hand-off was chosen
  --seconds S    length of each turn (0.1)
  --rounds N     turns of each side (40)
  --tcp          TCP over the loopback device instead of a unix socket, for all and not for
                 contests with Redisson alone
  --apart        the server has a core for itself, and clients have the others
  --record FILE  writes all that was seen, for ./dev bench --report

HOLDFAST_REDIS_SERVER names the server's program (redis-server). How to read the figures:
bench/README.md. The exit status tells of errors; a missed goal is none.
)";

double number(const char* option, const char* text, double most) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || *end || !(value > 0 && value <= most))
        throw std::runtime_error{std::string{option} + ": " + text + " is not a number above 0"};
    return value;
}

} // namespace

wishes read_wishes(int argc, char** argv) {
    const option known[] = {
        {"json", no_argument, nullptr, 'j'},         {"all", no_argument, nullptr, 'a'},
        {"apart", no_argument, nullptr, 'p'},        {"only", required_argument, nullptr, 'o'},
        {"record", required_argument, nullptr, 'w'}, {"seconds", required_argument, nullptr, 's'},
        {"rounds", required_argument, nullptr, 'r'}, {"tcp", no_argument, nullptr, 't'},
        {"help", no_argument, nullptr, 'h'},         {}};
    wishes how;
    for (int letter; (letter = ::getopt_long(argc, argv, "", known, nullptr)) != -1;)
        switch (letter) {
        case 'j':
            how.json = true;
            break;
        case 'a':
            how.all = true;
            break;
        case 'p':
            how.apart = true;
            break;
        case 'w':
            how.record = ::optarg;
            break;
        case 'o':
            how.only = ::optarg;
            break;
        case 's':
            how.seconds = number("--seconds", ::optarg, 3600);
            break;
        case 'r':
            how.rounds = static_cast<int>(std::ceil(number("--rounds", ::optarg, 1e6)));
            break;
        case 't':
            how.way = transport::tcp_loopback;
            break;
        case 'h':
            std::fputs(help, stdout);
            std::exit(EXIT_SUCCESS);
        default:
            throw std::runtime_error{"see --help"};
        }
    if (::optind != argc)
        throw std::runtime_error{std::string{argv[::optind]} + " is not an option; see --help"};
    return how;
}

namespace {

template <typename... T>
std::string text(const char* format, T... what) {
    char out[200];
    std::snprintf(out, sizeof out, format, what...);
    return out;
}

/// Returns the processor's name from the kernel. On some machines the kernel has no name for it.
std::string processor() {
    std::ifstream about{"/proc/cpuinfo"};
    for (std::string line; std::getline(about, line);)
        if (line.starts_with("model name"))
            return line.substr(line.find(':') + 2);
    return "unnamed processor";
}

std::string kernel() {
    utsname name{};
    ::uname(&name);
    return std::string{name.sysname} + " " + name.release + " " + name.machine;
}

std::string load() {
    double average[1] = {0};
    ::getloadavg(average, 1);
    return text("load %.1f before", average[0]);
}

std::string cores() {
    return text(", %ld cores, ", ::sysconf(_SC_NPROCESSORS_ONLN));
}

std::string reached(const wishes& how) {
    const std::string way = how.way == transport::tcp_loopback
                                ? " over TCP loopback"
                                : " over a unix socket, and TCP loopback where Redisson takes part";
    return way + (how.apart ? ", on a core of its own" : "");
}

std::string date() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char out[40];
    std::strftime(out, sizeof out, "%Y-%m-%d %H:%M UTC", &parts);
    return out;
}

} // namespace

std::map<std::string, std::string> conditions(const accounts& books, const wishes& how) {
    return {{"date", date()},
            {"holdfast", text("%s, g++ %s", HOLDFAST_VERSION_STRING, __VERSION__)},
            {"machine", processor() + cores() + kernel() + ", " + load()},
            {"server", books.version() + reached(how)},
            {"turns", text("%d of %g s for each side", how.rounds, how.seconds)}};
}

record::record(const wishes& how)
    : json_{how.json} {
    if (how.record.empty())
        return;
    file_.open(how.record);
    if (!file_)
        throw std::runtime_error{how.record + " cannot be written"};
}

void record::begin(const std::map<std::string, std::string>& conditions) {
    keep(json_line(conditions));
    if (json_)
        return;
    for (const auto& [name, value] : conditions)
        std::printf("%-9s %s\n", name.c_str(), value.c_str());
    std::printf("\n%s\n", table_head().c_str());
}

void record::end(const std::map<std::string, std::string>& what_else_is_known) {
    keep(json_line(what_else_is_known));
}

void record::figures_of(const std::vector<figure>& all) {
    for (const figure& each : all)
        say(table_line(each), json_line(each));
}

void record::distribution_of(const std::string& contest, const outcome& all) {
    keep(json_line(contest, all));
}

void record::skipped(const std::string& contest, const std::string& reason) {
    say(table_line_of_skipped(contest, reason), json_line_of_skipped(contest, reason));
}

void record::say(const std::string& table_line, const std::string& json_line) {
    std::printf("%s\n", json_ ? json_line.c_str() : table_line.c_str());
    std::fflush(stdout);
    keep(json_line);
}

void record::keep(const std::string& line) {
    if (file_.is_open() && !(file_ << line << std::endl))
        throw std::runtime_error{"the record cannot be written"};
}

namespace {

volatile std::sig_atomic_t interrupted = 0;

} // namespace

void listen_to_signals() {
    struct sigaction how {};
    how.sa_handler = [](int) { interrupted = 1; };
    how.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        ::sigaction(signal, &how, nullptr);
}

bool is_interrupted() {
    return interrupted != 0;
}

void show_progress(const std::string& contest, const std::string& doing) {
    if (interrupted)
        throw std::runtime_error{"interrupted"};
    if (!::isatty(STDERR_FILENO))
        return;
    erase_progress();
    std::fprintf(stderr, "%s: %s", contest.c_str(), doing.c_str());
}

void erase_progress() {
    if (::isatty(STDERR_FILENO))
        std::fputs("\r\033[K", stderr);
}

} // namespace holdfast::bench
