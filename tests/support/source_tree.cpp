// SPDX-License-Identifier: Apache-2.0
#include "support/source_tree.hpp"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::support {
namespace fs = std::filesystem;
namespace {

std::optional<fs::path> find_above(fs::path folder, std::string_view path) {
    for (;; folder = folder.parent_path()) {
        if (fs::exists(folder / path))
            return folder / path;
        if (folder == folder.root_path())
            return std::nullopt;
    }
}

} // namespace

fs::path source_file(std::string_view path) {
    if (const char* root = std::getenv("HOLDFAST_SOURCE_DIR"))
        return fs::path{root} / path;
    if (const auto found = find_above(fs::read_symlink("/proc/self/exe").parent_path(), path))
        return *found;
    if (const auto found = find_above(fs::current_path(), path))
        return *found;
    throw std::runtime_error{"no " + std::string{path} +
                             " above this program: set HOLDFAST_SOURCE_DIR to the sources"};
}

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
