// SPDX-License-Identifier: Apache-2.0
// Another program, spoken to in lines.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::support {

/// A running program with our ends of its standard input and output. Killed and reaped with the
/// object; one that reads its input also ends when we do.
/// Thread safety: `next_line` and `speaks_within` on one thread, the rest on another.
class child_process {
public:
    /// What it prints as errors goes to that file. Throws `std::system_error`.
    child_process(std::vector<std::string> command, const std::filesystem::path& errors);
    child_process(const child_process&) = delete;
    ~child_process();

    /// Waits for it as long as the program lives; nothing when its output has ended.
    std::optional<std::string> next_line();

    /// Whether within that time it says something, or its output ends.
    bool speaks_within(std::chrono::milliseconds) const;

    /// On its standard input. A program that is gone hears nothing.
    void say(const std::string& line);

    void signal(int) const;
    pid_t id() const { return pid_; }

    /// Returns when it has ended: its exit status, or 128 + the signal that ended it.
    int wait();

private:
    pid_t pid_ = 0;
    int in_ = -1, out_ = -1;
    std::string heard_;
};

/// As exec wants them. Valid as long as the words stay as they are.
std::vector<char*> pointers_to(std::vector<std::string>& words);

} // namespace holdfast::support
