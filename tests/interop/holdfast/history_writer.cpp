// SPDX-License-Identifier: Apache-2.0
#include "interop/holdfast/history_writer.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::interop {

history_writer::history_writer(const std::string& path)
    : file_{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)} {
    if (file_ < 0)
        throw std::system_error{errno, std::generic_category(), path};
}

history_writer::~history_writer() {
    ::close(file_);
}

void history_writer::write(const std::string& what) {
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    const std::string line = std::to_string(now.count()) + " " + what + "\n";
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::system_error{errno, std::generic_category(), "history"};
}

} // namespace holdfast::interop
