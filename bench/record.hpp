// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/figures/report.hpp"
#include "bench/wishes.hpp"

#include <fstream>

namespace holdfast::bench {

/// Writes figures to stdout at once, and to a file if the user asked for a file.
class record {
public:
    /// Opens the record. Throws if the file cannot be created.
    explicit record(const wishes&);

    void begin(const std::map<std::string, std::string>& conditions);
    /// Writes these values to the file, and nothing to stdout. They are known only after the run.
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

} // namespace holdfast::bench
