// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::support {

/// The date of one child process, to be moved while it runs (clock_shim.c).
class moved_clock {
public:
    /// Keeps its file in `folder`. Throws `std::runtime_error` if the shim cannot be built.
    explicit moved_clock(const std::filesystem::path& folder);
    moved_clock(const moved_clock&) = delete;
    ~moved_clock();

    void step(duration);
    void reset(); ///< the machine's date again

    /// What the child must find in its environment.
    std::vector<std::string> environment() const;

private:
    std::string file_;
    std::int64_t* added_ = nullptr; // shared with the child
};

} // namespace holdfast::support
