// SPDX-License-Identifier: Apache-2.0
// File descriptors that are closed by a destructor: any descriptor, pipes, and pidfds.
#pragma once

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace cli {

/// File descriptor with an owner: the destructor closes it.
class descriptor {
public:
    /// Takes ownership of `fd`, which is the result of open() or a similar call. Throws the error
    /// in `errno` if `fd` is negative.
    explicit descriptor(int fd)
        : fd_{fd} {
        if (fd < 0)
            throw std::system_error{errno, std::system_category()};
    }
    descriptor(descriptor&& other) noexcept
        : fd_{other.release()} {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
        if (fd_ >= 0)
            ::close(fd_);
    }

    [[nodiscard]] int get() const noexcept { return fd_; }
    int release() noexcept { return std::exchange(fd_, -1); }

private:
    int fd_;
};

struct pipe_ends {
    descriptor read;
    descriptor write;
};

inline pipe_ends make_pipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw std::system_error{errno, std::system_category(), "pipe"};
    return {descriptor{ends[0]}, descriptor{ends[1]}};
}

/// Returns a descriptor that becomes readable when the process has exited. The descriptor has
/// close-on-exec set. Returns a negative number if the kernel does not have pidfd_open(), or a
/// container forbids it. The caller must then poll with waitid().
inline int open_pidfd(pid_t id) noexcept {
    return static_cast<int>(::syscall(SYS_pidfd_open, id, 0U));
}

} // namespace cli
