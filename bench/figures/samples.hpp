// SPDX-License-Identifier: Apache-2.0
// Result of one turn (measurement) of a contender, and its text form for another process.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

using std::chrono::nanoseconds;

/// Result of one turn of a contender: the number of operations, the time of the whole turn, and the
/// samples. There is one sample for each operation, in no particular order. A sample is the time
/// that the operation took, or only the time that it waited.
struct tally {
    long long done = 0;
    nanoseconds elapsed{};
    std::vector<nanoseconds> samples{};
};

/// Parses a line of a contender in another process. The line is either `done`, `elapsed` and the
/// samples, the last two in nanoseconds, or `failed` and a reason. Throws the reason if there is
/// one, and an error for any other line.
tally read_tally(std::string_view line);

/// Formats the result as such a line, see read_tally().
std::string line_of(const tally&);
std::string line_of_failure(std::string why);

} // namespace holdfast::bench
