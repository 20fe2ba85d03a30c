// SPDX-License-Identifier: Apache-2.0
// All comparisons on MariaDB, one per line, with their goals.
#include "bench/contests.hpp"
#include "bench/database/mariadb.hpp"

namespace holdfast::bench {
namespace {

/// Returns a contest on MariaDB. Its measurements are long, because each pair of lock and unlock
/// makes two commits, which wait for the disk.
contest at_database(std::string name, int at_once, made (*ours)(const arena&),
                    made (*yardstick)(const arena&), goals wanted = {}) {
    return {.name = std::move(name),
            .at_once = at_once,
            .ours = ours,
            .yardstick = yardstick,
            .wanted = std::move(wanted),
            .way = transport::tcp_loopback,
            .slowness = 5,
            .group = one_database};
}

contest beside_shed_lock(std::string name, int threads) {
    return at_database(std::move(name), threads, holdfast_threads, shed_lock_threads,
                       {{"", {.ratio = 1}}});
}

contest waking_at_database() {
    contest all = at_database("mysql.wake", 2, holdfast_late_wake_up, shed_lock_wake_up,
                              {{".p50", {.ratio = 1.0 / 8}}});
    all.what = &wake_ups;
    return all;
}

/// Returns a comparison of waiters. The comparison takes long, because holdfast's waiters poll only
/// every few seconds.
contest waiting(std::string name, int waiters) {
    contest all = at_database(std::move(name), waiters, holdfast_waiters, shed_lock_waiters,
                              {{".server_cpu", {.value = 1}}});
    all.what = &waits;
    all.slowness = 60;
    return all;
}

} // namespace

std::vector<contest> about_databases() {
    return {beside_shed_lock("mysql.1", 1),
            beside_shed_lock("mysql.8", 8),
            beside_shed_lock("mysql.64", 64),
            at_database("mysql.bell.1", 1, holdfast_threads, holdfast_threads_without_bell,
                        {{"", {.ratio = 0.9}}}),
            at_database("mysql.user-lock.1", 1, holdfast_threads, user_lock_threads,
                        {{"", {.ratio = 0.1}}}),
            waking_at_database(),
            waiting("mysql.waiting.1", 1),
            waiting("mysql.waiting.16", 16)};
}

std::vector<standstill> standstills_at_databases() {
    return {{"mysql.executor", troubled_database, standstill::within(10)}};
}

} // namespace holdfast::bench
