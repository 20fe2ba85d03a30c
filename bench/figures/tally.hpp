// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

using std::chrono::nanoseconds;

/// What a contender did in one turn: how often what is counted, how long all of it took together,
/// and how long one took (or a caller waited for one), in no order.
struct tally {
    long long done = 0;
    nanoseconds elapsed{};
    std::vector<nanoseconds> samples{};
};

/// As a contender in another process tells it, in one line: `done`, `elapsed`, and the samples, all
/// but the first in nanoseconds; or `failed` and why. Throws that, and what is no such line.
tally read_tally(std::string_view line);

/// The other end of it.
std::string line_of(const tally&);
std::string line_of_failure(std::string why);

} // namespace holdfast::bench
