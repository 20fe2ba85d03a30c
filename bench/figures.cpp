// SPDX-License-Identifier: Apache-2.0
#include "bench/figures.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::bench {
namespace {

struct aspect {
    const char* suffix;
    const char* unit;
    double turn::*value;
};

constexpr aspect throughput{"", "pairs/s", &turn::pairs_per_second};
constexpr aspect others[] = {
    {".p50", "us", &turn::p50_us},
    {".p99", "us", &turn::p99_us},
    {".client_cpu", "us/pair", &turn::client_cpu_us},
    {".server_cpu", "us/pair", &turn::server_cpu_us},
};

/// The value that `part` of them lie below, between two of them if need be.
double quantile(std::vector<double> all, double part) {
    std::sort(all.begin(), all.end());
    const double at = part * static_cast<double>(all.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, all.size() - 1);
    return all[below] + (at - static_cast<double>(below)) * (all[above] - all[below]);
}

double median(std::vector<double> all) {
    return quantile(std::move(all), 0.5);
}

figure one(const std::string& name, const aspect& what, std::optional<double> goal,
           const std::vector<round>& rounds) {
    std::vector<double> ours, yardstick, ratios;
    for (const round& r : rounds) {
        ours.push_back(r.ours.*what.value);
        yardstick.push_back(r.yardstick.*what.value);
        ratios.push_back(ours.back() / yardstick.back());
    }
    return {.name = name + what.suffix,
            .unit = what.unit,
            .value = median(ours),
            .yardstick = median(yardstick),
            .ratio = median(ratios),
            .low = quantile(ratios, 0.25),
            .high = quantile(ratios, 0.75),
            .goal = goal};
}

} // namespace

std::vector<figure> figures(const std::string& name, std::optional<double> goal,
                            const std::vector<round>& rounds) {
    std::vector<figure> all{one(name, throughput, goal, rounds)};
    for (const aspect& what : others)
        all.push_back(one(name, what, std::nullopt, rounds));
    return all;
}

} // namespace holdfast::bench
