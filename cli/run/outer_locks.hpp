// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cli {

/// Locks of the `holdfast run` commands that run this command, directly or indirectly. If this
/// command asked for one of these locks again, it would wait for a command that waits for it.
///
///     HOLDFAST_LOCK   the name of the innermost lock, unchanged
///     HOLDFAST_LOCKS  all locks on HOLDFAST_URL's server, one per line, the outermost first;
///                     in a name, `%` and the end of a line are %25 and %0A
class outer_locks {
public:
    /// Reads the environment. Ignores locks on other servers than `url`.
    static outer_locks on(const std::string& url);

    bool have(const std::string& name) const;

    /// Returns `NAME=value` variables for a command under all these locks and the lock `name`.
    std::vector<std::string> variables_with(const std::string& name) const;

    /// Adds a lock as the innermost lock.
    void add(const std::string& name);

private:
    std::vector<std::string> names_; ///< names, encoded as in the variable
};

} // namespace cli
