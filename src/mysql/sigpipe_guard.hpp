// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace holdfast::mysql {

/// While it lives, this thread gets no SIGPIPE from what it does: it is blocked, and one that was
/// raised meanwhile is taken away. OpenSSL writes with write(), which raises it when the peer is
/// gone, and would kill a program that has not chosen to ignore it.
class sigpipe_guard {
public:
    explicit sigpipe_guard(bool needed) noexcept;
    sigpipe_guard(const sigpipe_guard&) = delete;
    ~sigpipe_guard();

private:
    const bool needed_;
    bool was_pending_ = false; // then it is somebody else's
    sigset_t before_{};
};

} // namespace holdfast::mysql
