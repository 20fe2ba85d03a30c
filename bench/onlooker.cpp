// SPDX-License-Identifier: Apache-2.0
#include "bench/onlooker.hpp"

#include <cstdio>

namespace holdfast::bench {

onlooker::onlooker(const accounts& books)
    : books_{books}
    , machine_before_{machine_cpu_seconds()}
    , ours_before_{ours()} {}

void onlooker::warn_if_crowded() const {
    constexpr double tolerable = 0.15;
    const machine_time now = machine_cpu_seconds();
    const double all = now.all - machine_before_.all;
    const double others = now.busy - machine_before_.busy - (ours() - ours_before_);
    if (others > tolerable * all)
        std::fprintf(stderr,
                     "Other programs used %.0f%% of this machine meanwhile, so the ratios say who "
                     "takes less CPU rather than who is faster. Measure again when it is idle.\n",
                     100 * others / all);
}

double onlooker::ours() const {
    return own_cpu_seconds() + books_.cpu_seconds();
}

} // namespace holdfast::bench
