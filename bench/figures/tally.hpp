// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

using std::chrono::nanoseconds;

/// Result of one turn of a contender: the number of operations, the time of the whole turn, and one
/// sample per operation. A sample is the time of an operation, or of its wait. Samples are in no
/// order.
struct tally {
    long long done = 0;
    nanoseconds elapsed{};
    std::vector<nanoseconds> samples{};
};

/// Parses the line of a contender in another process: `done`, `elapsed` and the samples, the last
/// two in nanoseconds; or `failed` and the reason. Throws the reason, or an error for any other
/// line.
tally read_tally(std::string_view line);

/// Writes such a line.
std::string line_of(const tally&);
std::string line_of_failure(std::string why);

} // namespace holdfast::bench
