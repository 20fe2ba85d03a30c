// SPDX-License-Identifier: Apache-2.0
// Fixture with several test processes that use one real server.
#pragma once

#include "support/eventually.hpp"
#include "support/recorder.hpp"
#include "support/redis_server.hpp"

#include <holdfast/error.hpp>
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/types.h>

namespace holdfast::process {

// Processes of a test's own: this very program, started anew with one story to play, or a fork of
// the running test. Every wait for one has a limit (support::far_too_long).

/// Function that a process runs instead of the tests. Its result is the exit status.
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

    /// Returns the next line of output. Throws `std::runtime_error` if there is none.
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

/// Errors that a forked process has found.
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

// For tests whose processes meet at one real server.

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::thrown_by;

/// What all of them use, and what they leave alone.
inline options quick(const std::string& url) {
    return {.url = url, .close_timeout = 0ms, .poll_bound = 25ms};
}

/// Sends a line to the test.
inline void say(const char* words) {
    std::cout << words << std::endl;
}

/// Of a story that is given the server's URL, and perhaps a lease in ms.
inline options of_story(const std::vector<std::string>& arguments) {
    options how = quick(arguments.at(0));
    if (arguments.size() > 1)
        how.lease_time = std::chrono::milliseconds{std::stoi(arguments.at(1))};
    return how;
}

class with_server : public testing::Test {
protected:
    explicit with_server(support::redis_server::options how = {})
        : how_{std::move(how)} {
        how_.own_clock = true;
    }
    void SetUp() override;

    support::redis_server& server() { return *server_; }
    std::string url() const { return server_->url(); }

    static void kill(child& victim) {
        victim.signal(SIGKILL);
        EXPECT_EQ(victim.wait(), 128 + SIGKILL);
    }
    /// Ends a process that waits for a line on its standard input.
    static void end(child& other) {
        other.say("enough");
        EXPECT_EQ(other.wait(), 0);
    }

    /// The server's date passes the end of every lease of the default length.
    void outlive_leases() { server().step_clock(options{}.lease_time + 1s); }

    bool is_free(const std::string& name);
    bool is_renewed(const std::string& name); ///< waits until it is
    bool is_waited_for(const std::string& name);
    /// How many scripts it was asked to run until now.
    std::int64_t scripts_asked();
    /// Who is connected, by the server's numbers; but for the one who asks.
    std::set<std::string> connections();

private:
    support::redis_server::options how_;
    std::optional<support::redis_server> server_;
};

} // namespace holdfast::process
