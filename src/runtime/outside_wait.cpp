// SPDX-License-Identifier: Apache-2.0
#include "runtime/outside_wait.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace holdfast::runtime {

outside_wait::~outside_wait() {
    if (nudge_ >= 0)
        ::close(nudge_);
}

bool outside_wait::prepare() noexcept {
    if (std::exchange(nudged_, false)) {
        eventfd_t any = 0;
        (void)::eventfd_read(nudge_, &any);
    }
    if (nudge_ < 0)
        nudge_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return nudge_ >= 0;
}

// Returns false also if a signal ends the wait early. The caller then waits in another way.
bool outside_wait::until_readable(int socket, duration longest) const noexcept {
    std::array<pollfd, 2> both{{{.fd = socket, .events = POLLIN, .revents = 0},
                                {.fd = nudge_, .events = POLLIN, .revents = 0}}};
    constexpr duration hour{3'600'000}; // limit so that the milliseconds fit into an int
    const auto bound = std::clamp(longest, duration::zero(), hour);
    return ::poll(both.data(), both.size(), static_cast<int>(bound.count())) > 0 &&
           both[0].revents != 0;
}

void outside_wait::interrupt() noexcept {
    nudged_ = true;
    (void)::eventfd_write(nudge_, 1);
}

} // namespace holdfast::runtime
