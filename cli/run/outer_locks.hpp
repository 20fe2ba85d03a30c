// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cli {

/// The locks of the `holdfast run` commands around this one: a command that asks for one of them
/// again waits for the end of a command that waits for it.
///
///     HOLDFAST_LOCK    the name of the innermost, as it is
///     HOLDFAST_LOCKS   all of them on HOLDFAST_URL's server, a line each, the outermost first;
///                      `%` and the end of a line are %25 and %0A in a name
class outer_locks {
public:
    /// What the environment says. Locks of another server than this one do not count.
    static outer_locks on(const std::string& url);

    bool have(const std::string& name) const;

    /// `NAME=value`, for the environment of a command that runs under this lock too.
    std::vector<std::string> variables_with(const std::string& name) const;

    /// One more, inside of the others.
    void add(const std::string& name);

private:
    std::vector<std::string> names_; ///< as they are written
};

} // namespace cli
