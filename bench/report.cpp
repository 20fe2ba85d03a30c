// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <cmath>
#include <cstdio>

namespace holdfast::bench {
namespace {

std::string text(const char* format, double number) {
    char out[64];
    std::snprintf(out, sizeof out, format, number);
    return out;
}

/// As many digits as one can believe.
std::string amount(double number) {
    return text(number < 1000 ? "%.1f" : "%.0f", number);
}

/// JSON knows no infinity, which a ratio to nothing is.
std::string json(double number) {
    return std::isfinite(number) ? text("%.6g", number) : "null";
}

std::string spread(const figure& f) {
    return text("%.2f", f.low) + ".." + text("%.2f", f.high);
}

} // namespace

void print_table_head(const std::string& conditions) {
    std::printf("%s\n\n%-26s %-8s %10s %10s %6s  %-12s %5s  %s\n", conditions.c_str(), "name",
                "unit", "ours", "yardstick", "ratio", "spread", "goal", "holds");
}

void print_table_line(const figure& f) {
    const auto holds = f.holds();
    std::printf("%-26s %-8s %10s %10s %6.2f  %-12s %5s  %s\n", f.name.c_str(), f.unit.data(),
                amount(f.value).c_str(), amount(f.yardstick).c_str(), f.ratio, spread(f).c_str(),
                f.goal ? text("%.2f", *f.goal).c_str() : "-",
                holds ? (*holds ? "yes" : "no") : "-");
    std::fflush(stdout);
}

void print_json(const figure& f) {
    const auto holds = f.holds();
    std::printf("{\"name\": \"%s\", \"value\": %s, \"unit\": \"%s\", \"yardstick\": %s, "
                "\"ratio\": %s, \"goal\": %s, \"holds\": %s}\n",
                f.name.c_str(), json(f.value).c_str(), f.unit.data(), json(f.yardstick).c_str(),
                json(f.ratio).c_str(), f.goal ? json(*f.goal).c_str() : "null",
                holds ? (*holds ? "true" : "false") : "null");
    std::fflush(stdout);
}

} // namespace holdfast::bench
