// SPDX-License-Identifier: Apache-2.0
#include "cli/run/inheritance.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

namespace cli {
namespace {

bool ignored(int signal) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// Opens /dev/null for each missing standard descriptor. Otherwise a program that was started with
/// stdin closed would get its first socket as descriptor 0.
void open_standard_descriptors() {
    for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::dup(fd)) {
        if (fd > STDERR_FILENO) {
            ::close(fd);
            return;
        }
    }
}

std::vector<int> list_descriptors() {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc/self/fd"), ::closedir};
    std::vector<int> found;
    if (!folder)
        return found;
    while (const dirent* const entry = ::readdir(folder.get())) {
        const std::string_view name{entry->d_name};
        int fd = -1;
        std::from_chars(name.data(), name.data() + name.size(), fd);
        if (fd >= 0 && fd != ::dirfd(folder.get()))
            found.push_back(fd);
    }
    std::ranges::sort(found);
    return found;
}

} // namespace

inheritance inheritance::take() {
    open_standard_descriptors();
    inheritance taken;
    taken.descriptors_ = list_descriptors();
    taken.sigpipe_ignored_ = ignored(SIGPIPE);
    ::sigprocmask(SIG_BLOCK, nullptr, &taken.mask_);
    ::signal(SIGPIPE, SIG_IGN); // a message that no process reads must not cost us the lock
    ::signal(SIGCHLD, SIG_DFL); // if it were ignored, the command's exit status would be lost
    return taken;
}

bool inheritance::ignores(int signal) const {
    return signal == SIGPIPE ? sigpipe_ignored_ : ignored(signal);
}

void inheritance::hand_on() const noexcept {
    if (!sigpipe_ignored_)
        ::signal(SIGPIPE, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
    if (descriptors_.empty())
        return; // then close-on-exec must suffice; all of our descriptors should have it
    // All descriptors in the gaps between the inherited ones are ours. They get close-on-exec and
    // are not closed here, because the pipe that reports a failed exec is among them.
    unsigned first = 0;
    for (const int fd : descriptors_) {
        if (static_cast<unsigned>(fd) > first)
            ::close_range(first, static_cast<unsigned>(fd) - 1, CLOSE_RANGE_CLOEXEC);
        first = static_cast<unsigned>(fd) + 1;
    }
    ::close_range(first, ~0U, CLOSE_RANGE_CLOEXEC);
}

} // namespace cli
