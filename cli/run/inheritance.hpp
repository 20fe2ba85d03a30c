// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <vector>

namespace cli {

/// What this process was started with and what a command that it runs shall find as it was: open
/// descriptors (a shell's redirections), ignored signals (nohup), and the mask of blocked signals.
/// What we add is not for it.
class inheritance {
public:
    /// Call first of all, with one thread and before anything is opened. It also makes ours what
    /// the program needs: descriptors 0 to 2 open, SIGPIPE ignored, SIGCHLD not.
    static inheritance take();

    /// Whether the signal was being ignored.
    [[nodiscard]] bool ignores(int signal) const;

    /// The signals that were blocked.
    [[nodiscard]] const sigset_t& mask() const noexcept { return mask_; }

    /// In the child between fork and exec, so it calls nothing that is not async-signal-safe.
    void hand_on() const noexcept;

private:
    std::vector<int> descriptors_; ///< sorted; empty: not known
    bool sigpipe_ignored_ = false;
    sigset_t mask_{};
};

} // namespace cli
