// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::support {

/// Date of one child process, which can be moved while the process runs (clock_shim.c).
class moved_clock {
public:
    /// Keeps its file in `folder`. Throws `std::runtime_error` if the shim cannot be built.
    explicit moved_clock(const std::filesystem::path& folder);
    moved_clock(const moved_clock&) = delete;
    ~moved_clock();

    void step(duration);
    void reset(); ///< back to the machine's date

    /// Returns the environment variables that the child needs.
    std::vector<std::string> environment() const;

private:
    std::string file_;
    std::int64_t* added_ = nullptr; // shared with the child
};

} // namespace holdfast::support
