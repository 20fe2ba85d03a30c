// SPDX-License-Identifier: Apache-2.0
#include "bench/figures.hpp"

#include <algorithm>

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

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    const auto half = all.size() / 2;
    return all.size() % 2 ? all[half] : (all[half - 1] + all[half]) / 2;
}

figure one(const std::string& name, const aspect& what, std::optional<double> goal,
           const std::vector<round>& rounds) {
    std::vector<double> ours, yardstick, ratios;
    for (const round& r : rounds) {
        ours.push_back(r.ours.*what.value);
        yardstick.push_back(r.yardstick.*what.value);
        ratios.push_back(ours.back() / yardstick.back());
    }
    const auto [lowest, highest] = std::minmax_element(ratios.begin(), ratios.end());
    return {.name = name + what.suffix,
            .unit = what.unit,
            .value = median(ours),
            .yardstick = median(yardstick),
            .ratio = median(ratios),
            .lowest = *lowest,
            .highest = *highest,
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
