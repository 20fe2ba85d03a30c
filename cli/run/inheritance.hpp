// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <vector>

namespace cli {

/// State of this process at its start. A command must get the same state. It consists of open
/// descriptors (redirections of a shell), ignored signals (nohup), and blocked signals. Later
/// changes by this program are not passed to the command.
class inheritance {
public:
    /// Records the state. Call it first in main(), with one thread, before any file is opened. It
    /// also prepares this process: descriptors 0 to 2 are open, SIGPIPE is ignored, and SIGCHLD is
    /// not ignored.
    static inheritance take();

    /// Returns whether the signal was ignored at the start.
    [[nodiscard]] bool ignores(int signal) const;

    /// Returns the signals that were blocked at the start.
    [[nodiscard]] const sigset_t& mask() const noexcept { return mask_; }

    /// Restores the state. The child calls it between fork and exec, so it makes only
    /// async-signal-safe calls.
    void hand_on() const noexcept;

private:
    std::vector<int> descriptors_; ///< sorted; empty if the list could not be read
    bool sigpipe_ignored_ = false;
    sigset_t mask_{};
};

} // namespace cli
