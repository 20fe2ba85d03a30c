// SPDX-License-Identifier: Apache-2.0
// All ways in which a job is ended from outside: the lock stays taken until its processes are gone.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include <stdlib.h>

namespace holdfast::cli_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class JobEnds : public on_server {
protected:
    /// A process that cleans up when it gets TERM, for as long as stdin is open.
    const std::string cleaner =
        "trap 'echo cleaning; read x <&5; echo clean; exit 0' TERM; echo begun; "
        "while :; do sleep 0.05; done";

    /// Starts that process in the way that `wrapped` says, where it has `$cleaner`.
    std::vector<std::string> job(const std::string& wrapped,
                                 std::vector<std::string> options = {}) {
        return shell("exec 5<&0; export cleaner=\"" + cleaner + "\"; " + wrapped,
                     std::move(options));
    }

    /// Ways to start a process that does not end with the command.
    const std::vector<std::string> wrappers{
        "sh -c \"$cleaner\"; true",
        "sh -c \"$cleaner\" & wait",
        "timeout 60 sh -c \"$cleaner\"; true",
        "setsid sh -c \"$cleaner\" & wait",
        "setsid sh -c 'sh -c \"$cleaner\"; true' & wait",
        "(setsid sh -c \"$cleaner\" &); sleep 1000",
    };
};
HOLDFAST_ON_EACH_SERVER(JobEnds);

TEST_P(JobEnds, TermKeepsTheLockUntilEachProcessHasCleanedUp) {
    for (const std::string& wrapped : wrappers) {
        SCOPED_TRACE(wrapped);
        program holder{job(wrapped), url()};
        ASSERT_EQ(holder.line(), "begun");
        holder.signal(SIGTERM);
        ASSERT_EQ(holder.line(), "cleaning");
        EXPECT_TRUE(is_locked());
        EXPECT_EQ(run({"run", "-n", "job", "true"}, url()).status, 1) << "entered too early";
        holder.close_stdin();
        const ended over = holder.end();
        EXPECT_EQ(over.status, 128 + SIGTERM);
        EXPECT_EQ(over.out, "clean\n");
        EXPECT_FALSE(is_locked());
    }
}

TEST_P(JobEnds, OnLossEachProcessHasTheGrace) {
    for (const std::string& wrapped : wrappers) {
        SCOPED_TRACE(wrapped);
        program holder{job(wrapped, {"--on-loss", "TERM:1h"}), url()};
        ASSERT_EQ(holder.line(), "begun");
        ASSERT_EQ(run({"unlock", "--force", "--yes", "job"}, url()).status, 0);
        ASSERT_EQ(holder.line(), "cleaning");
        holder.close_stdin();
        const ended over = holder.end();
        EXPECT_EQ(over.status, 75);
        EXPECT_THAT(over.out, HasSubstr("clean\n"));
    }
}

TEST_P(JobEnds, OnLossADescendantOfAWaitingCommandIsToldToo) {
    program holder{job("trap 'wait; exit' TERM; timeout 60 sh -c \"$cleaner\" & wait",
                       {"--on-loss", "TERM:1h"}),
                   url()};
    ASSERT_EQ(holder.line(), "begun");
    server().command({"DEL", name});
    ASSERT_EQ(holder.line(), "cleaning");
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 75);
}

TEST_P(JobEnds, ProcessesThatDoNotEndAreKilledAfterTheGrace) {
    program holder{shell("setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' & wait",
                         {"--on-loss", "TERM:300ms"}),
                   url()};
    observed_process deaf{std::stoi(holder.line())};
    holder.signal(SIGTERM);
    const ended over = holder.end();
    EXPECT_EQ(over.status, 128 + SIGTERM);
    EXPECT_THAT(over.err, HasSubstr("what the command has started did not stop: killing it"));
    EXPECT_TRUE(deaf.ended_within(far_too_long));
    EXPECT_FALSE(is_locked());
}

TEST_P(JobEnds, EachSignalThatWouldEndTheProgramIsPassedOnAndFreesTheLock) {
    std::vector<int> all{SIGALRM, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,      SIGXCPU,
                         SIGXFSZ, SIGUSR1,   SIGUSR2, SIGABRT, SIGSEGV,     SIGBUS,
                         SIGFPE,  SIGILL,    SIGSYS,  SIGTRAP, SIGSTKFLT,   SIGPIPE,
                         SIGHUP,  SIGINT,    SIGQUIT, SIGTERM, SIGRTMIN + 3};
    for (int each = SIGRTMIN; each <= SIGRTMAX; each += 5)
        all.push_back(each);
    for (const int number : all) {
        SCOPED_TRACE(number);
        program holder{shell("ulimit -c 0; sleep 1000 & echo $!; wait"), url()};
        observed_process started{std::stoi(holder.line())};
        holder.signal(number);
        const ended over = holder.end();
        EXPECT_EQ(over.status, 128 + number);
        EXPECT_FALSE(over.by_signal);
        EXPECT_TRUE(started.ended_within(far_too_long));
        EXPECT_FALSE(is_locked());
    }
}

TEST_P(JobEnds, EachOfThemEndsAWait) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    for (const int number : {SIGALRM, SIGIO, SIGPWR, SIGRTMIN + 3, SIGRTMAX, SIGWINCH, SIGSEGV}) {
        SCOPED_TRACE(number);
        program waiter{shell("echo ran"), url()};
        await_waiter();
        waiter.signal(number);
        const ended cancelled = waiter.end();
        EXPECT_EQ(cancelled.status, 128 + number);
        EXPECT_EQ(cancelled.out, "");
        EXPECT_TRUE(eventually([this] {
            return server().command({"CLIENT", "LIST", "TYPE", "pubsub"}).text.empty();
        })) << "the waiter still listens";
    }
}

TEST_P(JobEnds, TheStopSignalsOfContainersAreTakenAsSuch) {
    for (const int number : {SIGWINCH, SIGRTMIN + 3}) {
        SCOPED_TRACE(number);
        const std::string asked = "trap 'exit 3' " + std::to_string(number) + "; ";
        program holder{job(asked + "sh -c \"$cleaner\" & wait"), url()};
        ASSERT_EQ(holder.line(), "begun");
        holder.signal(number);
        if (number == SIGWINCH) { // what does not heed it gets TERM
            ASSERT_EQ(holder.line(), "cleaning");
            EXPECT_TRUE(is_locked());
            holder.close_stdin();
        }
        EXPECT_EQ(holder.end().status, 3);
        EXPECT_FALSE(is_locked());
    }
}

TEST_P(JobEnds, AnInnerRunIsToldOnceAndItsJobEndsInOrderToo) {
    const std::string inner = "'" + program_path() + "' run inner sh -c \"$cleaner\"";
    program holder{job(inner + "; true"), url()};
    ASSERT_EQ(holder.line(), "begun");
    holder.signal(SIGTERM);
    ASSERT_EQ(holder.line(), "cleaning");
    EXPECT_TRUE(is_locked());
    holder.close_stdin();
    EXPECT_EQ(holder.end().out, "clean\n") << "told twice?";
    EXPECT_FALSE(is_locked());
}

TEST_P(JobEnds, AChildFromBeforeTheExecIsNotOfTheJob) {
    const std::string script = "sleep 1000 & echo $!; exec '" + program_path() +
                               "' run --on-loss TERM:1s job sh -c 'echo held; read nothing'";
    program holder{program::exactly{{"sh", "-c", script}}, url()};
    observed_process older{std::stoi(holder.line())};
    ASSERT_EQ(holder.line(), "held");
    server().command({"DEL", name});
    EXPECT_EQ(holder.end().status, 75);
    EXPECT_FALSE(older.ended_within(duration::zero()));
    older.kill();
}

TEST_P(JobEnds, TheCommandFindsTheSignalMaskThatTheProgramHad) {
    const std::string blocking = "import os, signal, sys; "
                                 "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); "
                                 "os.execv(sys.argv[1], sys.argv[1:])";
    const ended told = program{program::exactly{{"python3", "-c", blocking, program_path(), "run",
                                                 "job", "grep", "SigBlk", "/proc/self/status"}},
                               url()}
                           .end();
    EXPECT_EQ(told.out, "SigBlk:\t0000000000000200\n") << told.err;
}

class JobEndsOnATerminal : public JobEnds {
protected:
    JobEndsOnATerminal() {
        std::string pattern = std::filesystem::temp_directory_path() / "holdfast-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
    }
    ~JobEndsOnATerminal() override { std::filesystem::remove_all(folder_); }

    /// A shell in which the command line runs, where the process has begun. It cleans up until
    /// `may_end`: it is in the background, and may not read there.
    std::unique_ptr<terminal_session> start(const std::string& wrapped) {
        const std::string script =
            "export cleaner='trap \"echo cleaning; until [ -e " + gate() +
            " ]; do sleep 0.05; done; echo clean; exit 0\" TERM; echo begun; "
            "while :; do sleep 0.05; done'; " +
            wrapped;
        auto terminal = std::make_unique<terminal_session>(
            std::vector<std::string>{"bash", "--norc", "--noprofile", "--noediting", "-i"},
            std::vector<std::string>{"HOLDFAST_URL=" + url(), "PS1=ready> ", "TERM=dumb",
                                     "h=" + program_path(), "script=" + script, "HISTFILE="});
        terminal->expect("ready> ");
        terminal->type("$h run job -- sh -c \"$script\"; echo status $?.\n");
        terminal->expect("begun\r\n");
        return terminal;
    }

    /// The process that the shell waits for: the grandparent of the command.
    static pid_t front_of(const terminal_session& terminal) {
        return parent_of(parent_of(terminal.foreground()));
    }

    void may_end() { std::ofstream{gate()} << "yes"; }
    void may_not_end() { std::filesystem::remove(gate()); }

private:
    std::string gate() const { return folder_ / "gate"; }

    std::filesystem::path folder_;
};
HOLDFAST_ON_EACH_SERVER(JobEndsOnATerminal);

TEST_P(JobEndsOnATerminal, CtrlCKeepsTheLockUntilEachProcessHasCleanedUp) {
    // Such a process ignores INT, as those in a shell's background do, and gets TERM.
    const auto terminal = start("sh -c \"$cleaner\" & wait");
    terminal->type(ctrl_c);
    terminal->expect("cleaning\r\n");
    EXPECT_TRUE(is_locked());
    may_end();
    terminal->expect("clean\r\n");
    EXPECT_TRUE(eventually([this] { return !is_locked(); }));
}

TEST_P(JobEndsOnATerminal, ASignalToTheProcessThatTheShellSeesEndsTheJobInOrder) {
    for (const int number : {SIGTERM, SIGPWR, SIGALRM, SIGRTMIN + 3}) {
        SCOPED_TRACE(number);
        may_not_end();
        const auto terminal = start("setsid sh -c \"$cleaner\" & wait");
        ::kill(front_of(*terminal), number);
        terminal->expect("cleaning\r\n");
        EXPECT_TRUE(is_locked());
        may_end();
        terminal->expect("clean\r\n");
        terminal->expect("status " + std::to_string(128 + number) + ".");
        EXPECT_FALSE(is_locked());
    }
}

TEST_P(JobEndsOnATerminal, IfTheProcessThatTheShellSeesIsKilledTheJobEndsInOrder) {
    const auto terminal = start("sh -c \"$cleaner\" & wait");
    ::kill(front_of(*terminal), SIGKILL);
    terminal->expect("cleaning\r\n");
    EXPECT_TRUE(is_locked());
    may_end();
    terminal->expect("clean\r\n");
    EXPECT_TRUE(eventually([this] { return !is_locked(); }));
}

} // namespace
} // namespace holdfast::cli_test
