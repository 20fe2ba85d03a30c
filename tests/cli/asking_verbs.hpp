// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace holdfast::cli_test {

/// A command line of each verb that asks a server, as short as it can be.
inline std::vector<std::vector<std::string>> asking_verbs() {
    return {{"run", "-n", "job", "--", "true"},
            {"ls"},
            {"inspect", "job"},
            {"wait", "-w", "0", "job"},
            {"unlock", "--force", "--yes", "job"},
            {"latch", "count", "gate"},
            {"bench", "-t", "10ms"},
            {"doctor"},
            {"demo"}};
}

/// Of those that print something for programs, with --json.
inline std::vector<std::vector<std::string>> asking_verbs_in_json() {
    std::vector<std::vector<std::string>> all;
    for (std::vector<std::string> each : asking_verbs())
        if (each.front() != "run" && each.front() != "demo") {
            each.insert(each.begin() + 1, "--json");
            all.push_back(std::move(each));
        }
    return all;
}

} // namespace holdfast::cli_test
