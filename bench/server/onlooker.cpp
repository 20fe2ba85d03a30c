// SPDX-License-Identifier: Apache-2.0
#include "bench/server/onlooker.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace holdfast::bench {

onlooker::onlooker(std::function<double()> ours)
    : ours_{std::move(ours)}
    , machine_before_{machine_cpu_seconds()}
    , ours_before_{ours_()} {}

double onlooker::others_share() const {
    const machine_time now = machine_cpu_seconds();
    const double others = now.busy - machine_before_.busy - (ours_() - ours_before_);
    const double all = now.all - machine_before_.all;
    // can be slightly negative, because both counts are rounded
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
