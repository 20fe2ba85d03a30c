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
    /// The parameters are those of the options. `root` must be a valid path.
    paths(std::string root, bool names_are_paths);

    /// Limit for the path below which one lock's nodes are.
    static constexpr std::size_t bytes_max = 1000;

    std::optional<std::string> objection_to(const lock_name&) const;

    /// Returns the path whose children are the holders and waiters. The name must be allowed.
    std::string of(const lock_name&) const;

    /// Returns the name for which `of` returns that path. Empty: there is none.
    std::optional<std::string> name_at(std::string_view path) const;

    /// Returns the parent of all locks' nodes; empty if names are paths.
    const std::string& root() const noexcept { return root_; }

private:
    std::string root_; // without a slash at its end; empty: names are paths
    bool names_are_paths_;
};

/// Returns why ZooKeeper does not accept the path; empty: it does.
std::optional<std::string> objection_to_path(std::string_view path);

/// Replaces each byte that is not ASCII or not allowed in a node's name by `%` and two digits.
std::string encoded(std::string_view name);
/// Reverses `encoded`. Empty: the text was not made by it.
std::optional<std::string> decoded(std::string_view node);

/// Joins "/a/b" and "c" to "/a/b/c".
std::string below(std::string_view parent, std::string_view child);
/// Returns "/a/b" for "/a/b/c", and "/" for "/a".
std::string_view parent_of(std::string_view path);
/// Returns "c" for "/a/b/c".
std::string_view last_part(std::string_view path);

} // namespace holdfast::zookeeper
