// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cli {

/// Locks of the `holdfast run` commands around this one. A command that asks for one of them again
/// waits for a command that waits for it in turn.
///
///     HOLDFAST_LOCK   the name of the innermost lock, unchanged
///     HOLDFAST_LOCKS  all locks on HOLDFAST_URL's server, one per line, the outermost first;
///                     in a name, `%` and the end of a line are %25 and %0A
class outer_locks {
public:
    /// Reads the environment. Locks of another server than `url` do not count.
    static outer_locks on(const std::string& url);

    bool have(const std::string& name) const;

    /// Returns `NAME=value` variables for a command that runs under this lock too.
    std::vector<std::string> variables_with(const std::string& name) const;

    /// Adds a lock inside of the others.
    void add(const std::string& name);

private:
    std::vector<std::string> names_; ///< as written in the variable
};

} // namespace cli
