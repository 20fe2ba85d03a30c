// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

namespace holdfast::bench {

/// The value that `part` (0 to 1) of them lie below, between two of them if need be. Not of none.
double quantile(std::vector<double> all, double part);

/// A median with what half of the values lie between.
struct spread {
    double median, low, high;
};
spread spread_of(const std::vector<double>& all);

/// The one that `part` (0 to 1) of them lie below, in microseconds. Puts them into another order.
/// Not of none.
double percentile_us(std::vector<std::chrono::nanoseconds>& all, double part);

/// How long so large a part of them took at most.
struct mark {
    double part, us;
};

/// Marks close enough to draw the whole from, finer towards the end. None of none.
std::vector<mark> distribution_of(std::vector<std::chrono::nanoseconds> all);

} // namespace holdfast::bench
