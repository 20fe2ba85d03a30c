// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

namespace holdfast::bench {

/// Returns the value below which this `part` (0 to 1) of the values lie, interpolated if needed.
/// `all` must not be empty.
double quantile(std::vector<double> all, double part);

/// Median, and the range that contains the middle half of the values.
struct spread {
    double median, low, high;
};
spread spread_of(const std::vector<double>& all);

/// Returns the sample below which this `part` (0 to 1) of the samples lie, in microseconds. Changes
/// the order of the samples. `all` must not be empty.
double percentile_us(std::vector<std::chrono::nanoseconds>& all, double part);

/// Point of a distribution: this `part` of the samples took at most `us` microseconds.
struct mark {
    double part, us;
};

/// Returns points from which the whole distribution can be drawn, denser towards its end. Returns
/// none if there are no samples.
std::vector<mark> distribution_of(std::vector<std::chrono::nanoseconds> all);

} // namespace holdfast::bench
