// SPDX-License-Identifier: Apache-2.0
#include "bench/conditions.hpp"

#include <holdfast/version.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include <sys/utsname.h>
#include <unistd.h>

namespace holdfast::bench {
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

} // namespace holdfast::bench
