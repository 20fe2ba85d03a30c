// SPDX-License-Identifier: Apache-2.0
// Result of one measurement, and its text form, in which another process reports it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

using std::chrono::nanoseconds;

/// Result of one measurement: the number of operations, the whole time, and a sample for each
/// operation, in any order. A sample is the time that the operation took, or only the time that it
/// waited.
struct tally {
    long long done = 0;
    nanoseconds elapsed{};
    std::vector<nanoseconds> samples{};
};

/// Parses a line from another process: either the numbers `done`, `elapsed` and the samples (times
/// in nanoseconds), or `failed` and a reason. Throws the reason as an error, and another error for
/// any other line.
tally read_tally(std::string_view line);

/// Formats the result as a line for read_tally().
std::string line_of(const tally&);
std::string line_of_failure(std::string why);

} // namespace holdfast::bench
