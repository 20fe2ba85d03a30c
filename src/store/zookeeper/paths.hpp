// SPDX-License-Identifier: Apache-2.0
// Translates the name of a lock into the path of its node. Pure functions.
#pragma once

#include <holdfast/store.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

/// Translator between lock names and paths. Thread safety: any thread may use it.
class paths {
public:
    /// The parameters are options of the store. `root` must be a valid path.
    paths(std::string root, bool names_are_paths);

    /// Maximum length of the path of a lock, in bytes. The lock's nodes are below this path.
    static constexpr std::size_t bytes_max = 1000;

    std::optional<std::string> objection_to(const lock_name&) const;

    /// Returns the path of a lock. The children of the path are the holders and waiters. The name
    /// must be allowed.
    std::string of(const lock_name&) const;

    /// Returns the name of the lock at the path. Empty: no name leads to this path.
    std::optional<std::string> name_at(std::string_view path) const;

    /// Returns the parent of all locks' nodes. Empty if names are paths.
    const std::string& root() const noexcept { return root_; }

private:
    std::string root_; // without a final slash; empty: names are paths
    bool names_are_paths_;
};

/// Returns why ZooKeeper refuses the path. Empty: ZooKeeper accepts the path.
std::optional<std::string> objection_to_path(std::string_view path);

/// Replaces each byte that is not ASCII, or that a node's name must not contain, by `%` and two
/// digits.
std::string encoded(std::string_view name);
/// Reverses `encoded`. Returns an empty result if `encoded` cannot have made the text.
std::optional<std::string> decoded(std::string_view node);

/// Joins "/a/b" and "c" to "/a/b/c".
std::string below(std::string_view parent, std::string_view child);
/// Returns "/a/b" for "/a/b/c", and "/" for "/a".
std::string_view parent_of(std::string_view path);
/// Returns "c" for "/a/b/c".
std::string_view last_part(std::string_view path);

} // namespace holdfast::zookeeper
