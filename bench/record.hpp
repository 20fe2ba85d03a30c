// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/figures/report.hpp"
#include "bench/wishes.hpp"

#include <fstream>

namespace holdfast::bench {

/// Where figures go: to standard output as they come, and to a file if one is wanted.
class record {
public:
    /// Throws if there can be no such file.
    explicit record(const wishes&);

    void begin(const std::map<std::string, std::string>& conditions);
    void end(const std::map<std::string, std::string>& what_else_is_known); ///< for the file alone
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
