// SPDX-License-Identifier: Apache-2.0
#include "bench/server/cpu_time.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace holdfast::bench {

namespace {

double used_by(int whom) {
    rusage used{};
    ::getrusage(whom, &used);
    const auto seconds = [](timeval t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double read(clockid_t clock) {
    timespec used{};
    ::clock_gettime(clock, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

} // namespace

double own_cpu_seconds() {
    return used_by(RUSAGE_SELF);
}

double ended_children_cpu_seconds() {
    return used_by(RUSAGE_CHILDREN);
}

double cpu_seconds_of(pid_t process) {
    clockid_t clock{};
    return ::clock_getcpuclockid(process, &clock) == 0 ? read(clock) : 0;
}

double thread_cpu_seconds() {
    return read(CLOCK_THREAD_CPUTIME_ID);
}

double thread_seconds_without_core() {
    std::ifstream counts{"/proc/thread-self/schedstat"};
    double ran = 0, waited = 0; // in nanoseconds
    counts >> ran >> waited;
    return waited / 1e9;
}

machine_time machine_cpu_seconds() {
    std::ifstream stat{"/proc/stat"};
    std::string all_cores;
    double user = 0, nice = 0, system = 0, idle = 0, io_wait = 0, irq = 0, soft_irq = 0, stolen = 0;
    stat >> all_cores >> user >> nice >> system >> idle >> io_wait >> irq >> soft_irq >> stolen;
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    const double busy = (user + nice + system + irq + soft_irq + stolen) / ticks;
    return {.busy = busy, .all = busy + (idle + io_wait) / ticks};
}

void run_on(cores which) {
    const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (long core = 0; core < count; ++core)
        if ((core == count - 1) == (which == cores::the_last))
            CPU_SET(static_cast<std::size_t>(core), &wanted);
    if (count < 2 || ::sched_setaffinity(0, sizeof wanted, &wanted) != 0)
        throw std::runtime_error{"--apart needs two cores that this program may use"};
}

onlooker::onlooker(std::function<double()> ours)
    : ours_{std::move(ours)}
    , machine_before_{machine_cpu_seconds()}
    , ours_before_{ours_()} {}

double onlooker::others_share() const {
    const machine_time now = machine_cpu_seconds();
    const double others = now.busy - machine_before_.busy - (ours_() - ours_before_);
    const double all = now.all - machine_before_.all;
    // The difference of the two CPU times can be slightly negative, because both times are rounded.
    return all > 0 ? std::max(0.0, 100 * others / all) : 0;
}

void onlooker::warn_if_crowded() const {
    constexpr double tolerable = 15;
    if (const double others = others_share(); others > tolerable)
        std::fprintf(stderr,
                     "Other programs used %.0f%% of this machine meanwhile, so the ratios say who "
                     "takes less CPU rather than who is faster. Measure again when it is idle.\n",
                     others);
}

} // namespace holdfast::bench
