// SPDX-License-Identifier: Apache-2.0
// Another program, with which a test exchanges lines of text.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::support {

/// Running program whose standard input and output are connected to the test. The destructor kills
/// and reaps the program. If the test ends, the program's input ends, so a program that reads its
/// input ends, too. Thread safety: one thread may call `next_line` and `speaks_within` while
/// another thread calls the other functions.
class child_process {
public:
    /// Starts the program. Its stderr goes to the file `errors`. Throws `std::system_error`.
    child_process(std::vector<std::string> command, const std::filesystem::path& errors);
    child_process(const child_process&) = delete;
    ~child_process();

    /// Waits for the next line of the output, and returns it. Returns nothing after the end of the
    /// output.
    std::optional<std::string> next_line();

    /// Returns whether the program writes output or closes its output within this time.
    bool speaks_within(std::chrono::milliseconds) const;

    /// Writes a line to the program's standard input. Does nothing if the program has ended.
    void say(const std::string& line);

    void signal(int) const;
    pid_t id() const { return pid_; }

    /// Waits until the program ends. Returns its exit status, or 128 + the number of the signal
    /// that ended it.
    int wait();

private:
    pid_t pid_ = 0;
    int in_ = -1, out_ = -1;
    std::string heard_;
};

/// Returns pointers to the words, as exec needs them. The pointers are valid until the words
/// change.
std::vector<char*> pointers_to(std::vector<std::string>& words);

} // namespace holdfast::support
