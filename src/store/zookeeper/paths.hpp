// SPDX-License-Identifier: Apache-2.0
// Which node a lock's name is. Pure.
#pragma once

#include <holdfast/store.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

/// Thread safety: any.
class paths {
public:
    /// As in the options. `root` is a valid path.
    paths(std::string root, bool names_are_paths);

    /// The nodes of one lock are below one path, which names may not exceed in this.
    static constexpr std::size_t bytes_max = 1000;

    std::optional<std::string> objection_to(const lock_name&) const;

    /// The node whose children are the holders and waiters. The name must be allowed.
    std::string of(const lock_name&) const;

    /// What has that node as `of` says; nothing: no name has.
    std::optional<std::string> name_at(std::string_view path) const;

    /// The node that has all locks' nodes as its children: empty where names are paths.
    const std::string& root() const noexcept { return root_; }

private:
    std::string root_; // with no slash at its end; empty: names are paths
    bool names_are_paths_;
};

/// Why ZooKeeper takes no such path; empty: it does.
std::optional<std::string> objection_to_path(std::string_view path);

/// `%` and two digits for each byte that a node's name may not have, or that is no ASCII.
std::string encoded(std::string_view name);
/// Nothing: it was not encoded so.
std::optional<std::string> decoded(std::string_view node);

/// "/a/b" and "c": "/a/b/c".
std::string below(std::string_view parent, std::string_view child);
/// "/a/b/c": "/a/b"; "/a": "/".
std::string_view parent_of(std::string_view path);
/// "/a/b/c": "c".
std::string_view last_part(std::string_view path);

} // namespace holdfast::zookeeper
