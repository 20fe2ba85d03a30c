// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/quantile.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::bench {
namespace {

using std::chrono::nanoseconds;

double in_us(nanoseconds length) {
    return std::chrono::duration<double, std::micro>{length}.count();
}

std::ptrdiff_t rank(std::size_t count, double part) {
    return static_cast<std::ptrdiff_t>(part * static_cast<double>(count - 1));
}

} // namespace

double quantile(std::vector<double> all, double part) {
    std::sort(all.begin(), all.end());
    const double at = part * static_cast<double>(all.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, all.size() - 1);
    return all[below] + (at - static_cast<double>(below)) * (all[above] - all[below]);
}

spread spread_of(const std::vector<double>& all) {
    return {.median = quantile(all, 0.5), .low = quantile(all, 0.25), .high = quantile(all, 0.75)};
}

double percentile_us(std::vector<nanoseconds>& all, double part) {
    const auto at = all.begin() + rank(all.size(), part);
    std::nth_element(all.begin(), at, all.end());
    return in_us(*at);
}

std::vector<mark> distribution_of(std::vector<nanoseconds> all) {
    std::vector<mark> marks;
    if (all.empty())
        return marks;
    std::sort(all.begin(), all.end());
    const auto add = [&](double part) {
        marks.push_back({.part = part, .us = in_us(all[rank(all.size(), part)])});
    };
    for (int percent = 0; percent < 99; percent += percent < 90 ? 5 : 1)
        add(percent / 100.0);
    for (const double part : {0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999, 1.0})
        add(part);
    return marks;
}

} // namespace holdfast::bench
