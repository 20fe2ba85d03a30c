// SPDX-License-Identifier: Apache-2.0
// Processes of a test's own: this very program, started anew with one story to play, or a fork of
// the running test. Every wait for one has a limit (support::far_too_long).
#pragma once

#include <holdfast/error.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace holdfast::process {

/// What a process does instead of running tests; its answer is the exit status.
using story = int (*)(const std::vector<std::string>& arguments);

/// Makes a story known: `const named_story holds{"holds", [](const auto& arguments) {…}};`
struct named_story {
    named_story(const char* name, story);
};

/// Plays the story that the command line names, if it names one. For main() alone.
bool plays_a_story(int argc, char** argv, int& exit_status);

/// A process that plays a story. Killed and reaped with the object.
class child {
public:
    enum class start { posix_spawn, fork, vfork };
    struct setting {
        std::vector<std::string> arguments{};
        start how = start::posix_spawn;
    };
    explicit child(const std::string& story_name)
        : child{story_name, setting{}} {}
    child(const std::string& story_name, const setting&);
    child(const child&) = delete;
    ~child();

    /// What it prints next. Throws `std::runtime_error` if nothing comes.
    std::string next_line();
    bool has_said(); ///< whether there is something that next_line() would bring at once
    void say(const std::string& line); ///< on its standard input
    void signal(int number);           ///< after SIGSTOP, all of it stands still
    int wait();                        ///< its exit status, or 128 + the signal that ended it

private:
    pid_t pid_ = 0;
    int in_ = -1, out_ = -1;
    std::string heard_;
};

/// What a forked process finds wrong.
class findings {
public:
    void expect(bool holds, std::string_view what) {
        if (!holds)
            text_ += std::string{what} + "\n";
    }
    /// Both, if a call threw something else.
    void expect(const error_code& got, errc wanted, std::string_view what) {
        if (got != wanted)
            text_ += std::string{what} + ": " + got.message() + "\n";
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// Forks, and has the child look. What it found wrong: nothing, if all is well. It ends by _exit.
std::string found_by_fork(const std::function<void(findings&)>& look);

} // namespace holdfast::process
