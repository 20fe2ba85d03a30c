// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

namespace holdfast::bench {

/// Returns the quantile `part` (0 to 1) of the values, interpolated if needed. `all` must not be
/// empty.
double quantile(std::vector<double> all, double part);

/// Median of the values, and the range of their middle half.
struct spread {
    double median, low, high;
};
spread spread_of(const std::vector<double>& all);

/// Returns the quantile `part` (0 to 1) of the samples, in microseconds. Changes the order of the
/// samples. `all` must not be empty.
double percentile_us(std::vector<std::chrono::nanoseconds>& all, double part);

/// Point of a distribution: this `part` of the samples took at most `us` microseconds.
struct mark {
    double part, us;
};

/// Returns points of the distribution, enough to draw it. The points are denser near the end.
/// Returns no points if there are no samples.
std::vector<mark> distribution_of(std::vector<std::chrono::nanoseconds> all);

} // namespace holdfast::bench
