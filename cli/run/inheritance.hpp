// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <vector>

namespace cli {

/// State of this process at its start, which a command must find unchanged. It has three parts:
/// open descriptors (redirections of a shell), ignored signals (nohup), and the mask of blocked
/// signals. What this program adds later is not passed to the command.
class inheritance {
public:
    /// Records the state. Call first of all, with one thread and before anything is opened. Also
    /// sets up what the program needs: descriptors 0 to 2 open, SIGPIPE ignored, SIGCHLD not
    /// ignored.
    static inheritance take();

    /// Returns whether the signal was ignored at the start.
    [[nodiscard]] bool ignores(int signal) const;

    /// Returns the signals that were blocked at the start.
    [[nodiscard]] const sigset_t& mask() const noexcept { return mask_; }

    /// Restores the state. Called in the child between fork and exec, so it makes only
    /// async-signal-safe calls.
    void hand_on() const noexcept;

private:
    std::vector<int> descriptors_; ///< sorted; empty if not known
    bool sigpipe_ignored_ = false;
    sigset_t mask_{};
};

} // namespace cli
