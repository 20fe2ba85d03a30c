// SPDX-License-Identifier: Apache-2.0
#include "bench/progress.hpp"

#include <csignal>
#include <cstdio>
#include <stdexcept>

#include <unistd.h>

namespace holdfast::bench {
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
