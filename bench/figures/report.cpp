// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/report.hpp"

#include <cmath>
#include <cstdio>

namespace holdfast::bench {
namespace {

constexpr char line_format[] = "%-34s %-12s %10s %10s %8s  %-14s %-16s %s";

template <typename... T>
std::string text(const char* format, T... what) {
    char out[200];
    std::snprintf(out, sizeof out, format, what...);
    return out;
}

template <typename... Words>
std::string line(const Words&... words) {
    std::string out = text(line_format, words.c_str()...);
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
}

/// Formats a number with its meaningful digits.
std::string amount(double number) {
    const char* const format = number < 0.1    ? "%.2g"
                               : number < 10   ? "%.2f"
                               : number < 1000 ? "%.1f"
                                               : "%.0f";
    return text(format, number);
}

std::string or_dash(const std::optional<spread>& of) {
    return of ? amount(of->median) : "-";
}

/// Formats a goal. For example, "at least 30, 100000/s" has a limit of the ratio and a limit of the
/// value.
std::string shown(const figure& f) {
    if (!f.wanted.ratio && !f.wanted.value)
        return "-";
    std::string out = f.best == better::higher ? ">= " : "<= ";
    if (f.wanted.ratio)
        out += text("%g", *f.wanted.ratio);
    if (f.wanted.value)
        out += text(f.wanted.ratio ? ", %.7g" : "value %.7g", *f.wanted.value);
    return out;
}

/// Formats a number or null. JSON cannot represent infinity, which is the ratio to a yardstick of
/// zero.
std::string json(std::optional<double> number) {
    return number && std::isfinite(*number) ? text("%.6g", *number) : "null";
}

std::string json(const std::string& words) {
    std::string out = "\"";
    for (const char c : words)
        if (c == '"' || c == '\\')
            out += {'\\', c};
        else
            out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    return out + '"';
}

std::string json(const std::optional<spread>& of) {
    if (!of)
        return "null";
    // Append piece by piece. At -O3, g++ 12 warns of a false overlap for "[" + text (PR 105651).
    std::string out = "[";
    out += json(of->low);
    out += ", ";
    out += json(of->high);
    return out + "]";
}

std::string json(const std::vector<mark>& marks) {
    std::string out;
    for (const mark& each : marks)
        out += (out.empty() ? "[" : ", [") + json(each.part) + ", " + json(each.us) + "]";
    return "[" + out + "]";
}

std::optional<double> median(const std::optional<spread>& of) {
    return of ? std::optional{of->median} : std::nullopt;
}

} // namespace

std::string table_head() {
    using std::string;
    return line(string{"name"}, string{"unit"}, string{"ours"}, string{"yardstick"},
                string{"ratio"}, string{"spread"}, string{"goal"}, string{"holds"});
}

std::string table_line(const figure& f) {
    const auto holds = f.holds();
    return line(f.name, std::string{f.unit}, amount(f.ours.median), or_dash(f.yardstick),
                or_dash(f.ratio),
                f.ratio ? amount(f.ratio->low) + ".." + amount(f.ratio->high) : "-", shown(f),
                std::string{holds ? (*holds ? "yes" : "no") : "-"});
}

std::string json_line(const figure& f) {
    const auto holds = f.holds();
    return "{\"name\": " + json(f.name) + ", \"value\": " + json(f.ours.median) +
           ", \"unit\": " + json(std::string{f.unit}) +
           ", \"yardstick\": " + json(median(f.yardstick)) +
           ", \"ratio\": " + json(median(f.ratio)) + ", \"goal\": " + json(f.wanted.ratio) +
           ", \"holds\": " + (holds ? (*holds ? "true" : "false") : "null") +
           ", \"better\": " + (f.best == better::higher ? "\"higher\"" : "\"lower\"") +
           ", \"value_goal\": " + json(f.wanted.value) +
           ", \"value_spread\": " + json(std::optional{f.ours}) +
           ", \"yardstick_spread\": " + json(f.yardstick) + ", \"ratio_spread\": " + json(f.ratio) +
           "}";
}

std::string table_line_of_skipped(const std::string& contest, const std::string& reason) {
    return text("%-34s ", contest.c_str()) + "skipped: " + reason;
}

std::string json_line_of_skipped(const std::string& contest, const std::string& reason) {
    return "{\"name\": " + json(contest) +
           ", \"value\": null, \"unit\": null, \"yardstick\": null, \"ratio\": null, "
           "\"goal\": null, \"holds\": null, \"skipped\": " +
           json(reason) + "}";
}

std::string json_line(const std::string& contest, const outcome& all) {
    return "{\"distribution\": " + json(contest) + ", \"ours\": " + json(all.ours) +
           ", \"yardstick\": " + json(all.yardstick) + "}";
}

std::string json_line(const std::map<std::string, std::string>& conditions) {
    std::string out;
    for (const auto& [name, value] : conditions)
        out += (out.empty() ? "" : ", ") + json(name) + ": " + json(value);
    return "{\"conditions\": {" + out + "}}";
}

} // namespace holdfast::bench
