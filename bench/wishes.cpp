// SPDX-License-Identifier: Apache-2.0
#include "bench/wishes.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <getopt.h>

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

} // namespace holdfast::bench
