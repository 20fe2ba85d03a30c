// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>

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

const discipline pairs = {
    {"", "pairs/s", better::higher, &turn::per_second},
    {".p50", "us", better::lower, &turn::p50_us},
    {".p99", "us", better::lower, &turn::p99_us},
    {".client_cpu", "us/pair", better::lower, &turn::client_cpu_us},
    {".server_cpu", "us/pair", better::lower, &turn::server_cpu_us},
};

const discipline hand_offs = {
    {"", "hand-offs/s", better::higher, &turn::per_second},
    {".p50", "us waited", better::lower, &turn::p50_us},
    {".p99", "us waited", better::lower, &turn::p99_us},
    {".client_cpu", "us/hand-off", better::lower, &turn::client_cpu_us},
    {".server_cpu", "us/hand-off", better::lower, &turn::server_cpu_us},
};

/// Figures of hand-overs, for a comparison with a program that uses no server.
const discipline hand_offs_alone{hand_offs.begin(), hand_offs.end() - 1};

/// Figures of hand-overs while another process wants the lock, too. That process has its own
/// figures.
const discipline hand_offs_beside = {hand_offs.front()};

const discipline re_entries = {
    {"", "re-entries/s", better::higher, &turn::per_second},
    {".p50", "us", better::lower, &turn::p50_us},
    {".client_cpu", "us/re-entry", better::lower, &turn::client_cpu_us},
};

const discipline server_time = {
    {"", "us/pair", better::lower, &turn::server_cpu_us},
};

const discipline commands = {
    {"", "commands/s", better::higher, &turn::per_second},
    {".p50", "us", better::lower, &turn::p50_us},
    {".p99", "us", better::lower, &turn::p99_us},
    {".memory", "KB while held", better::lower, &turn::memory_kb},
};

const discipline acquisitions = {
    {"", "acquisitions/s", better::higher, &turn::per_second},
    {".p50", "us waited", better::lower, &turn::p50_us},
    {".p99", "us waited", better::lower, &turn::p99_us},
    {".commands", "commands each", better::lower, &turn::commands},
    {".client_cpu", "us each", better::lower, &turn::client_cpu_us},
    {".server_cpu", "us each", better::lower, &turn::server_cpu_us},
};

/// Figures of readers with one writer. The percentiles are those of the writer's waits only.
/// Otherwise these waits would be lost among the waits of the many readers.
const discipline pairs_beside_a_writer = {
    {"", "pairs/s", better::higher, &turn::per_second},
    {".writer.p50", "us waited", better::lower, &turn::p50_us},
    {".writer.p99", "us waited", better::lower, &turn::p99_us},
    {".client_cpu", "us/pair", better::lower, &turn::client_cpu_us},
    {".server_cpu", "us/pair", better::lower, &turn::server_cpu_us},
};

const discipline wake_ups = {
    {".p50", "us", better::lower, &turn::p50_us},
    {".p99", "us", better::lower, &turn::p99_us},
};

/// Figures of a call. "Pairs per second" is missing, because the comparison program does less than
/// a whole pair of lock and unlock.
const discipline calls = wake_ups;

/// Figures of the extra time for a grant that replicas confirm.
const discipline confirmations = {
    {".p50", "us more", better::lower, &turn::p50_us},
};

/// Figures of the extra time for one call. The measured pair has two calls, lock() and unlock(), so
/// its time is divided by two.
const discipline added_to_calls = {
    {"", "us/call more", better::lower, &turn::client_cpu_us, 2},
    {".client_cpu", "us/pair", better::lower, &turn::client_cpu_us},
};

/// Figures of waiters that only wait.
const discipline waits = {
    {".server_cpu", "% of a core", better::lower, &turn::server_share},
};

namespace {

bool is_met(better best, double limit, double value) {
    return best == better::higher ? value >= limit : value <= limit;
}

goal goal_of(const goals& wanted, const char* suffix) {
    const auto found = wanted.find(suffix);
    return found == wanted.end() ? goal{} : found->second;
}

/// Returns whether there are values of a comparison program, and none of them is zero.
bool can_be_compared(const comparison& seen) {
    return !seen.yardstick.empty() && std::none_of(seen.yardstick.begin(), seen.yardstick.end(),
                                                   [](double each) { return each == 0; });
}

/// Throws if a goal names a figure that does not exist: nobody would notice that this goal is never
/// checked.
template <typename All>
void expect_figures_for(const goals& wanted, const All& all, const std::string& contest) {
    for (const auto& [suffix, limit] : wanted)
        if (std::none_of(all.begin(), all.end(), [&](auto& each) { return each.suffix == suffix; }))
            throw std::logic_error{contest + " has a goal for a figure that it has not"};
}

figure one(const std::string& contest, const comparison& seen, const goals& wanted) {
    figure made{.name = contest + seen.suffix,
                .unit = seen.unit,
                .best = seen.best,
                .ours = spread_of(seen.ours),
                .wanted = goal_of(wanted, seen.suffix)};
    if (!seen.yardstick.empty())
        made.yardstick = spread_of(seen.yardstick);
    if (!can_be_compared(seen))
        return made;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < seen.ours.size(); ++i)
        ratios.push_back(seen.ours[i] / seen.yardstick.at(i));
    made.ratio = spread_of(ratios);
    return made;
}

comparison seen_in(const std::vector<round>& rounds, const aspect& what) {
    comparison all{what.suffix, what.unit, what.best, {}};
    for (const round& each : rounds) {
        const double ours = each.ours.*what.value, yardstick = each.yardstick.*what.value;
        if (what.more_by_parts > 0) {
            all.ours.push_back((ours - yardstick) / what.more_by_parts);
        } else {
            all.ours.push_back(ours);
            all.yardstick.push_back(yardstick);
        }
    }
    return all;
}

} // namespace

std::optional<bool> figure::holds() const {
    if (!wanted.ratio && !wanted.value)
        return std::nullopt;
    return (!wanted.ratio || (ratio && is_met(best, *wanted.ratio, ratio->median))) &&
           (!wanted.value || is_met(best, *wanted.value, ours.median));
}

std::vector<figure> figures(const std::string& contest, const discipline& what, const goals& wanted,
                            const std::vector<round>& rounds) {
    expect_figures_for(wanted, what, contest);
    std::vector<figure> all;
    for (const aspect& each : what)
        all.push_back(one(contest, seen_in(rounds, each), wanted));
    return all;
}

std::vector<figure> figures(const std::string& contest, const goals& wanted,
                            const std::vector<sighting>& seen) {
    expect_figures_for(wanted, seen, contest);
    std::vector<figure> all;
    for (const sighting& each : seen)
        all.push_back(one(contest, {each.suffix, each.unit, each.best, {each.value}}, wanted));
    return all;
}

std::vector<figure> figures(const std::string& contest, const goals& wanted,
                            const std::vector<comparison>& seen) {
    expect_figures_for(wanted, seen, contest);
    std::vector<figure> all;
    for (const comparison& each : seen)
        all.push_back(one(contest, each, wanted));
    return all;
}

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

/// Formats a number with fewer decimals the greater it is.
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

/// Formats the goal of a figure. ">= 30, 100000" means: the ratio must be at least 30, and the
/// value at least 100000.
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

/// Formats a number, or null if there is no number. JSON cannot represent infinity, the result of a
/// division by zero.
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
    // Append piece by piece. At -O3, g++ 12 wrongly warns of an overlap for "[" + text (PR 105651).
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
