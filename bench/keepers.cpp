// SPDX-License-Identifier: Apache-2.0
// All contests and goals on ZooKeeper. There is one contest per line.
#include "bench/contests.hpp"

namespace holdfast::bench {
namespace {

/// Returns a contest with long turns. A write of ZooKeeper takes long, and the last of 64 waiters
/// waits long.
contest at_keeper(std::string name, int at_once, goals wanted) {
    return {.name = std::move(name),
            .at_once = at_once,
            .ours = holdfast_threads,
            .yardstick = curator_threads,
            .wanted = std::move(wanted),
            .way = transport::tcp_loopback,
            .slowness = 5,
            .group = one_keeper};
}

} // namespace

std::vector<contest> about_keepers() {
    contest queue = at_keeper("keeper.queue.64", 64,
                              {{".p50", {.ratio = 0.75}}, {".client_cpu", {.ratio = 0.25}}});
    queue.ours = holdfast_queue;
    queue.yardstick = curator_queue;
    queue.what = &hand_offs;
    return {at_keeper("keeper.1", 1, {{"", {.ratio = 1.3}}}),
            at_keeper("keeper.8", 8, {{"", {.ratio = 1.5}}}),
            at_keeper("keeper.64", 64, {{"", {.ratio = 2}}, {".client_cpu", {.ratio = 0.25}}}),
            queue};
}

std::vector<standstill> standstills_at_keepers() {
    return {{"keeper.executor", troubled_keeper, standstill::within(10)}};
}

} // namespace holdfast::bench
