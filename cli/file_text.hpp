// SPDX-License-Identifier: Apache-2.0
// Functions that read a whole file, and return nothing if a read fails. A std::ifstream cannot
// replace them: it could throw, or return only a part of the file.
#pragma once

#include "cli/descriptor.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace cli {

/// Reads from the descriptor until the end of the file. Returns nothing if a read fails. For
/// example, reading /proc/PID/stat fails with ESRCH after that process has ended.
inline std::optional<std::string> rest_of(const descriptor& file) {
    std::string all;
    std::array<char, 4096> chunk;
    for (;;) {
        const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
        if (got > 0)
            all.append(chunk.data(), static_cast<std::size_t>(got));
        else if (got == 0)
            return all;
        else if (errno != EINTR)
            return std::nullopt;
    }
}

/// Returns the content of the file. Returns nothing if the file is missing or cannot be read.
inline std::optional<std::string> content_of(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return std::nullopt;
    return rest_of(descriptor{fd});
}

} // namespace cli
