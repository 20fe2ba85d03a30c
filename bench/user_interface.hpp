// SPDX-License-Identifier: Apache-2.0
// The user interface of the benchmark: the command line, the conditions of a run, the record of its
// figures, and its progress.
#pragma once

#include "bench/figures/figures.hpp"
#include "bench/server/server.hpp"

#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::bench {

struct wishes {
    bool json = false;
    bool all = false;     ///< true: also run the comparisons that run only by their names
    std::string only;     ///< if not empty, the name of the only comparison or group to run
    bool apart = false;   ///< true: the server gets its own core
    std::string record;   ///< file for all results; empty: no file
    double seconds = 0.1; ///< length of one measurement of one program
    int rounds = 40;      ///< even, so that each program goes first in half of the rounds
    transport way = transport::unix_socket;

    /// Returns whether to run this comparison. `only` can also be the name of a group: `blocking`
    /// selects `blocking.1` and `blocking.8`.
    bool wants(std::string_view name, bool only_when_named = false) const {
        if (only.empty() || name.starts_with(only + "."))
            return all || !only_when_named;
        return name == only;
    }
};

/// Parses the command line. If the user asks for help, prints it and ends the program. Throws if an
/// argument is wrong.
wishes read_wishes(int argc, char** argv);

/// Returns the conditions of the run: the machine, the versions and the settings.
std::map<std::string, std::string> conditions(const accounts&, const wishes&);

/// Writes figures to stdout at once, and to a file if the user asked for a file.
class record {
public:
    /// Opens the record. Throws if the file cannot be created.
    explicit record(const wishes&);

    void begin(const std::map<std::string, std::string>& conditions);
    /// Writes values that are known only after the run to the file.
    void end(const std::map<std::string, std::string>& what_else_is_known);
    void figures_of(const std::vector<figure>&);
    void distribution_of(const std::string& contest, const outcome&);
    void skipped(const std::string& contest, const std::string& reason);

private:
    void say(const std::string& table_line, const std::string& json_line);
    void keep(const std::string& line);

    const bool json_;
    std::ofstream file_;
};

// Shows the progress of a run on one line of stderr, which is overwritten.

/// Handles Ctrl-C. The first Ctrl-C ends the run after the current measurement, so that the
/// server's folder is removed. The second Ctrl-C ends the program at once.
void listen_to_signals();
bool is_interrupted();

/// Prints the progress. Throws if the user pressed Ctrl-C.
void show_progress(const std::string& contest, const std::string& doing);
void erase_progress();

} // namespace holdfast::bench
