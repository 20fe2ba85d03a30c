// SPDX-License-Identifier: Apache-2.0
// Computes the results of a comparison (medians, ratios, and whether a goal is met), and formats
// them as lines of text.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

/// Point of a distribution: the fraction `part` of the samples took at most `us` microseconds.
struct mark {
    double part, us;
};

/// Returns points for drawing the distribution. There are more points near the end of the
/// distribution. Returns no points if there are no samples.
std::vector<mark> distribution_of(std::vector<std::chrono::nanoseconds> all);

/// Results of one measurement (turn) of one program.
struct turn {
    double per_second;     ///< operations of all threads or coroutines together
    double p50_us, p99_us; ///< time of one operation
    /// CPU time of the measured process per operation, including the kernel's time.
    double client_cpu_us;
    double server_cpu_us; ///< per operation; CPU time that the server itself reports
    double memory_kb;     ///< memory of one process, if each operation starts a process
    double commands;      ///< commands that the server received per operation
    /// CPU use of the server, in percent of a core, divided by the number of operations.
    double server_share;
};

/// Results of a round: a measurement of holdfast, and a measurement of the program with which
/// holdfast is compared.
struct round {
    turn ours, yardstick;
};

/// Results of a comparison: each round, and the distribution of the samples over all rounds.
struct outcome {
    std::vector<round> rounds;
    std::vector<mark> ours, yardstick;
};

enum class better { higher, lower };

/// Limits of a figure: minima if a higher value is better, else maxima. The figure must be within
/// both limits.
struct goal {
    std::optional<double> ratio{}; ///< limit of holdfast's value divided by the other program's
    std::optional<double> value{}; ///< limit of holdfast's value
};

struct figure {
    std::string name;
    std::string_view unit;
    better best;
    spread ours;                       ///< over the rounds
    std::optional<spread> yardstick{}; ///< values of the other program, if there is one
    std::optional<spread> ratio{};     ///< ratios of single rounds, holdfast / the other program
    goal wanted{};

    /// Returns whether the goal is met. The result is empty if the figure has no goal.
    std::optional<bool> holds() const;
};

/// Value of a measurement that becomes a figure.
struct aspect {
    const char* suffix; ///< suffix of the contest's name
    const char* unit;
    better best;
    double turn::*value;
    /// If `more_by_parts` is not 0, the figure has no ratio, and its value is (holdfast's value -
    /// the other program's value) / `more_by_parts`.
    int more_by_parts = 0;
};

/// List of the figures of a comparison.
using discipline = std::vector<aspect>;
extern const discipline pairs, hand_offs, hand_offs_alone, hand_offs_beside, re_entries,
    server_time, commands, acquisitions, pairs_beside_a_writer, wake_ups, calls, confirmations,
    added_to_calls, waits;

/// Goals of a comparison, by the suffixes of its figures.
using goals = std::map<std::string_view, goal>;

/// Returns one figure for each aspect, in the same order. There must be at least one round.
std::vector<figure> figures(const std::string& contest, const discipline&, const goals&,
                            const std::vector<round>&);

/// Value that was measured once, without a comparison.
struct sighting {
    const char* suffix;
    const char* unit;
    better best;
    double value;
};
std::vector<figure> figures(const std::string& contest, const goals&, const std::vector<sighting>&);

/// Values that were measured several times, for holdfast and perhaps for another program.
struct comparison {
    const char* suffix;
    const char* unit;
    better best;
    std::vector<double> ours;        ///< at least one
    std::vector<double> yardstick{}; ///< none, or as many as `ours`
};
std::vector<figure> figures(const std::string& contest, const goals&,
                            const std::vector<comparison>&);

// Functions that format figures as lines of text, without `\n`.

/// The next functions return lines of a readable table.
std::string table_head();
std::string table_line(const figure&);

/// Returns a figure as a JSON object on one line. A missing value is null, and a spread is [low,
/// high].
std::string json_line(const figure&);

/// Returns a line for a comparison that could not be run. Such a comparison does not count as a
/// failure.
std::string table_line_of_skipped(const std::string& contest, const std::string& reason);
std::string json_line_of_skipped(const std::string& contest, const std::string& reason);

/// Returns the distributions of the samples of holdfast and of the comparison program. Each
/// distribution has the form [[part, us], …].
std::string json_line(const std::string& contest, const outcome&);

/// Returns the conditions of a run, by name.
std::string json_line(const std::map<std::string, std::string>& conditions);

} // namespace holdfast::bench
