// SPDX-License-Identifier: Apache-2.0
#include "support/acl_file.hpp"

#include "support/source_tree.hpp"

#include <fstream>
#include <sstream>
#include <utility>

namespace holdfast::support {
namespace {

constexpr std::string_view written_prefix = "app:";

} // namespace

std::vector<std::string> rules_of_acl_file(std::string_view prefix, std::string_view name) {
    std::ifstream file{source_file("docs/security/" + std::string{name})};
    std::vector<std::string> rules;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#'))
            continue;
        std::istringstream words{line};
        for (std::string rule; words >> rule; rules.push_back(rule))
            if (const std::size_t at = rule.find(written_prefix); at != rule.npos)
                rule.replace(at, written_prefix.size(), prefix);
    }
    return rules;
}

std::vector<std::string> acl_setuser(std::string user, std::string password,
                                     const std::vector<std::string>& rules) {
    std::vector<std::string> words{"ACL",          "SETUSER",   std::move(user), "reset", "on",
                                   ">" + password, "resetkeys", "resetchannels", "-@all"};
    words.insert(words.end(), rules.begin(), rules.end());
    return words;
}

} // namespace holdfast::support
