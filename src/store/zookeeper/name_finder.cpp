// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/name_finder.hpp"

#include "store/zookeeper/formats.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include <fnmatch.h>

namespace holdfast::zookeeper {
namespace {

/// Maximum number of nodes that are searched. Each node costs at least one request.
constexpr std::size_t nodes_max = 2000;

bool matches(const std::string& pattern, const std::string& name) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

void add_matching(found_paths& to, const std::string& pattern, std::string name, std::string path) {
    if (matches(pattern, name))
        to.entries.push_back({std::move(name), std::move(path)});
}

/// Returns the folder before the pattern's first wildcard: "/a/b" for "/a/b/c*d".
std::string folder_of(const std::string& pattern) {
    const std::size_t special = pattern.find_first_of("*?[\\");
    const std::string plain = pattern.substr(0, special);
    const std::size_t slash = plain.rfind('/');
    if (slash == plain.npos || slash == 0)
        return "/";
    return plain.substr(0, slash);
}

asio::awaitable<void> find_below_root(household& home, const std::string& pattern,
                                      found_paths& found) {
    std::string root = home.where.root();
    co_await home.at->sync(root);
    const listing names = co_await home.at->list(root);
    if (!names)
        co_return;
    for (const std::string& each : *names) {
        std::string path = below(root, each);
        if (std::optional<std::string> name = home.where.name_at(path))
            add_matching(found, pattern, std::move(*name), std::move(path));
    }
}

asio::awaitable<void> find_in_folders(household& home, const std::string& pattern,
                                      found_paths& found) {
    std::deque<std::string> folders{folder_of(pattern)};
    co_await home.at->sync(folders.front());
    for (std::size_t seen = 0; !folders.empty(); ++seen) {
        if (seen == nodes_max) {
            found.complete = false;
            co_return;
        }
        const std::string folder = std::move(folders.front());
        folders.pop_front();
        const listing names = co_await home.at->list(folder);
        bool is_ours = false;
        for (const std::string& each : names.value_or(std::vector<std::string>{})) {
            if (contender_at(each) || each == "leases")
                is_ours = true;
            else if (std::string inner = below(folder, each); inner != "/zookeeper")
                folders.push_back(std::move(inner));
        }
        if (is_ours)
            add_matching(found, pattern, folder, folder);
    }
}

} // namespace

asio::awaitable<found_paths> find_paths(household& home, std::string pattern) {
    found_paths found;
    if (home.where.root().empty())
        co_await find_in_folders(home, pattern, found);
    else
        co_await find_below_root(home, pattern, found);
    std::ranges::sort(found.entries, {}, &found_paths::entry::name);
    if (found.entries.size() > nodes_max) {
        found.entries.resize(nodes_max);
        found.complete = false;
    }
    co_return found;
}

} // namespace holdfast::zookeeper
