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

/// Opens /dev/null for each missing standard descriptor. If this program was started with stdin
/// closed, its first socket would otherwise become descriptor 0.
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
    ::signal(SIGPIPE, SIG_IGN); // writing a message to a closed pipe must not kill this process
    ::signal(SIGCHLD, SIG_DFL); // if SIGCHLD were ignored, the command's exit status would be lost
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
        return; // all descriptors of this program should have close-on-exec
    // All descriptors between the inherited descriptors were opened by this program. Set
    // close-on-exec instead of closing them, because the pipe for a failed exec is among them.
    unsigned first = 0;
    for (const int fd : descriptors_) {
        if (static_cast<unsigned>(fd) > first)
            ::close_range(first, static_cast<unsigned>(fd) - 1, CLOSE_RANGE_CLOEXEC);
        first = static_cast<unsigned>(fd) + 1;
    }
    ::close_range(first, ~0U, CLOSE_RANGE_CLOEXEC);
}

} // namespace cli
