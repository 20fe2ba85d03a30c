// SPDX-License-Identifier: Apache-2.0
// The holdfast program as a user starts it: arguments, environment, pipes, an exit status.
#pragma once

#include "support/eventually.hpp"

#include <holdfast/time.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::cli_test {

/// The program under test: HOLDFAST_PROGRAM, or the one in the build folder of this test.
std::string program_path();

struct ended {
    int status = 0; ///< 128 + n if the program itself, not its command, was ended by signal n
    bool by_signal = false;
    std::string out; ///< what was not read before by `line`
    std::string err;
};

using support::eventually;
using support::far_too_long;

/// The program did not do what it was waited for.
struct too_late : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A process with pipes to it and no terminal. It is killed if it still runs when this object goes.
class program {
public:
    /// `holdfast` with these arguments. HOLDFAST_URL is what it says, or is not there.
    explicit program(std::vector<std::string> arguments, std::string url = {});

    /// Any other command, searched in the PATH.
    struct exactly {
        std::vector<std::string> command;
        int passed_descriptor = -1; ///< stays open for it, as number 7
        bool without_pidfd = false; ///< the system does not let it have pidfd_open()
    };
    explicit program(exactly, std::string url = {});
    program(const program&) = delete;
    ~program();

    pid_t id() const { return id_; }
    std::string line();                 ///< the next line of its stdout
    bool said(const std::string& what); ///< whether its stderr has this in it by now
    void close_stdin();
    void close_stdout(); ///< nobody reads it any more
    void close_stderr(); ///< nobody reads it any more
    void signal(int);
    ended end(); ///< waits for it

private:
    void read_more(duration);
    void drain();

    pid_t id_ = -1;
    int in_ = -1;
    int out_ = -1;
    int err_ = -1;
    ended result_;
};

/// Runs it to its end.
ended run(std::vector<std::string> arguments, std::string url = {});

/// Runs it to its end, and again while it ends with 69. For a command line that does not wait on
/// several servers: on a busy machine they may not answer in time.
ended run_when_reached(const std::vector<std::string>& arguments, const std::string& url = {});

pid_t parent_of(pid_t);

/// A process that is nobody's child here, seen through its pidfd.
class observed_process {
public:
    explicit observed_process(pid_t);
    observed_process(const observed_process&) = delete;
    ~observed_process();
    bool ended_within(duration);
    bool is_stopped() const;
    void kill();

private:
    pid_t id_;
    int descriptor_;
};

/// A command line of each verb that asks a server, as short as it can be.
inline std::vector<std::vector<std::string>> asking_verbs() {
    return {{"run", "-n", "job", "--", "true"},
            {"ls"},
            {"inspect", "job"},
            {"top"},
            {"wait", "-w", "0", "job"},
            {"unlock", "--force", "--yes", "job"},
            {"latch", "count", "gate"},
            {"bench", "-t", "10ms"},
            {"doctor"},
            {"demo"}};
}

/// The verbs that have the option --json.
inline std::vector<std::vector<std::string>> asking_verbs_in_json() {
    std::vector<std::vector<std::string>> all;
    for (std::vector<std::string> each : asking_verbs())
        if (each.front() != "run" && each.front() != "demo") {
            each.insert(each.begin() + 1, "--json");
            all.push_back(std::move(each));
        }
    return all;
}

} // namespace holdfast::cli_test
