// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::support {

/// Date of one child process. A test can move it while the process runs (clock_shim.c).
class moved_clock {
public:
    /// Keeps its file in `folder`. Throws `std::runtime_error` if the shim library cannot be built.
    explicit moved_clock(const std::filesystem::path& folder);
    moved_clock(const moved_clock&) = delete;
    ~moved_clock();

    void step(duration);
    void reset(); ///< sets the date back to the machine's date

    /// Returns the environment variables that make the child use this date.
    std::vector<std::string> environment() const;

private:
    std::string file_;
    std::int64_t* added_ = nullptr; // offset in memory that the child shares
};

} // namespace holdfast::support
