// SPDX-License-Identifier: Apache-2.0
// holdfast_bench: how far the library is from what the server and the kernel allow. README.md
// beside this file says how to read what it prints.
#include "bench/onlooker.hpp"
#include "bench/report.hpp"
#include "bench/wishes.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <unistd.h>

namespace holdfast::bench {
namespace {

struct contest {
    const char* name;
    std::unique_ptr<contender> (*ours)(const server&, int);
    std::unique_ptr<contender> (*yardstick)(const server&, int);
    int at_once;
    std::optional<double> goal;
};

const contest contests[] = {
    {"blocking.1", holdfast_threads, bare_sockets, 1, {}},
    {"blocking.8", holdfast_threads, bare_sockets, 8, {}},
    {"blocking.64", holdfast_threads, bare_sockets, 64, 1.0},
    {"coroutines.512", holdfast_coroutines, raw_pipeline, 512, 0.85},
};

volatile std::sig_atomic_t interrupted = 0;

/// The first Ctrl-C ends the run between two turns, so that the server's folder is removed; the
/// second ends it at once.
void listen_to_signals() {
    struct sigaction how {};
    how.sa_handler = [](int) { interrupted = 1; };
    how.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        ::sigaction(signal, &how, nullptr);
}

void erase_progress() {
    if (::isatty(STDERR_FILENO))
        std::fputs("\r\033[K", stderr);
}

void show_progress(const contest& which, int round, int rounds) {
    if (interrupted)
        throw std::runtime_error{"interrupted"};
    if (!::isatty(STDERR_FILENO))
        return;
    erase_progress();
    if (round == 0)
        std::fprintf(stderr, "%s: warming up", which.name);
    else
        std::fprintf(stderr, "%s: round %d of %d", which.name, round, rounds);
}

std::string conditions(const accounts& books, const wishes& how) {
    double load[1] = {0};
    ::getloadavg(load, 1);
    char text[200];
    std::snprintf(text, sizeof text,
                  "%s, %s, %u cores, load %.1f before; %d rounds of %g s for each side",
                  books.version().c_str(),
                  how.way == transport::tcp_loopback ? "TCP loopback" : "unix socket",
                  std::thread::hardware_concurrency(), load[0], how.rounds, how.seconds);
    return text;
}

void run(const contest& which, const server& home, accounts& books, const wishes& how) {
    const auto ours = which.ours(home, which.at_once);
    const auto yardstick = which.yardstick(home, which.at_once);
    const course rules{.turn_length = nanoseconds{static_cast<long long>(how.seconds * 1e9)},
                       .rounds = how.rounds,
                       .progress = [&](int round) { show_progress(which, round, how.rounds); }};
    const auto rounds = duel(*ours, *yardstick, books, rules);
    erase_progress();
    for (const figure& one : figures(which.name, which.goal, rounds))
        how.json ? print_json(one) : print_table_line(one);
}

void run_all(const wishes& how) {
    std::vector<contest> wanted;
    for (const contest& one : contests)
        if (how.wants(one.name))
            wanted.push_back(one);
    if (wanted.empty())
        throw std::runtime_error{"there is no " + how.only + "; see --help"};

    listen_to_signals();
    const server home{how.way};
    accounts books{home.connect()};
    if (!how.json)
        print_table_head(conditions(books, how));
    const onlooker watching{books};
    for (const contest& which : wanted)
        run(which, home, books, how);
    watching.warn_if_crowded();
}

} // namespace
} // namespace holdfast::bench

int main(int argc, char** argv) try {
    holdfast::bench::run_all(holdfast::bench::read_wishes(argc, argv));
} catch (const std::exception& trouble) {
    holdfast::bench::erase_progress();
    std::fprintf(stderr, "holdfast_bench: %s\n", trouble.what());
    return EXIT_FAILURE;
}
