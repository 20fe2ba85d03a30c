// SPDX-License-Identifier: Apache-2.0
// `holdfast run` on a terminal, in a shell with job control and without. What is stopped here is
// busy with itself: a shell that is just starting a program (vfork) does not stop for Ctrl-Z.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <memory>
#include <utility>

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class OnATerminal : public on_server {
protected:
    /// A shell as people use it. It has no prompt but this, and a line typed is shown only once.
    std::unique_ptr<terminal_session> open_shell() {
        auto shell_there = std::make_unique<terminal_session>(
            std::vector<std::string>{"bash", "--norc", "--noprofile", "--noediting", "-i"},
            std::vector<std::string>{"HOLDFAST_URL=" + url(), "PS1=" + prompt, "TERM=xterm",
                                     "h=" + program_path(), "HISTFILE="});
        shell_there->expect(prompt);
        return shell_there;
    }

    const std::string prompt = "ready> ";
};
HOLDFAST_ON_EACH_SERVER(OnATerminal);

TEST_P(OnATerminal, TheCommandReadsWhatIsTyped) {
    const auto terminal = open_shell();
    terminal->type("$h run job -- sh -c 'echo go; read line; echo \"got $line.\"'\n");
    terminal->expect("go\r\n");
    terminal->type("hello\n");
    terminal->expect("got hello.");
    terminal->expect(prompt);
    EXPECT_FALSE(is_locked());
}

TEST_P(OnATerminal, AFullScreenProgramHasTheKeysAndTheShellHasTheTerminalBack) {
    const auto terminal = open_shell();
    terminal->type("$h run job -- sh -c 'stty raw -echo; echo on; head -c 3 | od -c; stty sane'\n");
    terminal->expect("on\n");
    terminal->type("q" + ctrl_c + ctrl_z); // keys without a meaning of their own there
    terminal->expect("q 003 032");
    terminal->expect(prompt);
    terminal->type("echo back $((6 * 7))\n");
    terminal->expect("back 42");
}

TEST_P(OnATerminal, CtrlCEndsTheCommand) {
    const auto terminal = open_shell();
    terminal->type("$h run job -- sh -c 'echo go; read line'\n");
    terminal->expect("go\r\n");
    terminal->type(ctrl_c);
    terminal->expect(prompt);
    terminal->type("echo status $?.\n");
    terminal->expect("status 130.");
    EXPECT_FALSE(is_locked());
}

TEST_P(OnATerminal, CtrlCEndsAScriptToo) {
    const auto terminal = open_shell();
    terminal->type(
        "sh -c '$h run job -- sh -c \"echo go; read line\"; echo went $((1 + 1)) far'\n");
    terminal->expect("go\r\n");
    terminal->type(ctrl_c);
    EXPECT_THAT(terminal->expect(prompt), Not(HasSubstr("went 2 far")));
}

TEST_P(OnATerminal, CtrlZStopsTheJobAndTheLockIsRenewedAllTheSame) {
    const auto terminal = open_shell();
    terminal->type("$h run --lease 6s job -- sh -c 'echo go; read line; echo \"got $line.\"'\n");
    terminal->expect("go\r\n");
    terminal->type(ctrl_z);
    terminal->expect("Stopped");
    terminal->expect(prompt);
    for (int renewals = 0; renewals < 3; ++renewals) { // as long as a lease
        std::int64_t left = server().command({"PTTL", name}).integer;
        EXPECT_TRUE(eventually([&] {
            const std::int64_t before =
                std::exchange(left, server().command({"PTTL", name}).integer);
            return left > before;
        }));
    }
    terminal->type("fg\n");
    terminal->type("hello\n");
    terminal->expect("got hello.");
    terminal->expect(prompt);
    EXPECT_FALSE(is_locked());
}

TEST_P(OnATerminal, AStoppedJobGoesOnInTheBackground) {
    const auto terminal = open_shell();
    terminal->type("$h run job -- sh -c 'echo go; while :; do :; done'\n");
    terminal->expect("go\r\n");
    const pid_t command = terminal->foreground();
    terminal->type(ctrl_z);
    terminal->expect("Stopped");
    const observed_process seen{command};
    EXPECT_TRUE(seen.is_stopped());
    terminal->type("bg\n");
    EXPECT_TRUE(eventually([&] { return !seen.is_stopped(); }));
    terminal->type("kill %1; wait; echo status $?.\n");
    terminal->expect("status ");
    EXPECT_TRUE(eventually([&] { return !is_locked(); }));
}

TEST_P(OnATerminal, ABackgroundJobThatReadsWaitsToBeBroughtForward) {
    const auto terminal = open_shell();
    terminal->type("$h run job -- sh -c 'echo go; read line; echo \"got $line.\"' &\n");
    terminal->expect("go\r\n");
    EXPECT_TRUE(eventually([&] {
        terminal->type("jobs\n");
        return terminal->expect("run job").find("Stopped") != std::string::npos;
    }));
    terminal->type("fg\n");
    terminal->type("hello\n");
    terminal->expect("got hello.");
}

TEST_P(OnATerminal, TheEndOfAPipeMayStillAskThePerson) {
    const auto terminal = open_shell();
    terminal->type("echo data | $h run job -- sh -c "
                   "'read one; echo go; read two </dev/tty; echo \"got $one and $two.\"'\n");
    terminal->expect("go\r\n");
    terminal->type("an answer\n");
    terminal->expect("got data and an answer.");
    terminal->expect(prompt);
}

TEST_P(OnATerminal, AWaitShowsItsProgressAndCanBeStoppedAndCancelled) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    await_known_client();
    const auto terminal = open_shell();
    terminal->type("$h run job -- echo mine\n");
    terminal->expect("waiting for lock 'job', ");
    EXPECT_THAT(terminal->expect(":" + std::to_string(holder.id()) + " sh"), HasSubstr("held by "));
    terminal->expect("waiting for lock 'job', "); // and once more, later
    terminal->type(ctrl_z);
    terminal->expect("Stopped");
    terminal->expect(prompt);
    terminal->type("fg\n");
    terminal->expect("waiting for lock 'job', ");
    terminal->type(ctrl_c);
    EXPECT_THAT(terminal->expect(prompt), Not(HasSubstr("mine")));
    terminal->type("echo status $?.\n");
    terminal->expect("status 130.");

    terminal->type("$h run job -- echo mine $((1 + 1))\n");
    terminal->expect("waiting for lock 'job', ");
    holder.close_stdin();
    terminal->expect("mine 2");
}

TEST_P(OnATerminal, ALostLockEndsAStoppedJob) {
    const auto terminal = open_shell();
    terminal->type("$h run --lease 6s job -- sh -c 'echo go; read line'\n");
    terminal->expect("go\r\n");
    terminal->type(ctrl_z);
    terminal->expect("Stopped");
    server().command({"DEL", name});
    terminal->expect("was lost: stopping the command");
    terminal->type("wait; echo status $?.\n"); // wait: nothing is left to be brought forward
    terminal->expect("status ");
}

TEST_P(OnATerminal, AFullScreenProgramThatIsKilledOnLossLeavesAUsableTerminal) {
    const auto terminal = open_shell();
    // In a script, for an interactive shell mends its terminal itself.
    terminal->type(
        "sh -c '$h run --lease 6s job -- "
        "sh -c \"trap : TERM; stty raw -echo; echo on; while :; do read x; done\"; stty -a'\n");
    terminal->expect("on\n");
    server().command({"DEL", name});
    terminal->expect("holdfast: lock 'job' was lost: stopping the command");
    terminal->expect("the command did not stop: killing it");
    terminal->expect("holdfast: lock 'job' was lost: the command was stopped\r\n");
    const std::string settings = terminal->expect(prompt);
    EXPECT_THAT(settings, HasSubstr(" icanon"));
    EXPECT_THAT(settings, HasSubstr(" echo "));
    EXPECT_THAT(settings, Not(HasSubstr("-icanon")));
}

TEST_P(OnATerminal, ACommandThatChangesTheTerminalOnPurposeMayDoSo) {
    const auto terminal = open_shell();
    terminal->type("sh -c '$h run job stty -echo; stty -a; stty echo'\n");
    EXPECT_THAT(terminal->expect(prompt), HasSubstr("-echo "));
}

TEST_P(OnATerminal, TheCommandDiesWithTheProcessThatTheShellSees) {
    const auto terminal = open_shell();
    terminal->type("$h run job -- sh -c 'echo go; read line'\n");
    terminal->expect("go\r\n");
    observed_process command{terminal->foreground()};
    const pid_t worker = parent_of(terminal->foreground());
    ::kill(parent_of(worker), SIGKILL);
    EXPECT_TRUE(command.ended_within(far_too_long));
    terminal->expect(prompt);
}

TEST_P(OnATerminal, WithoutAShellItRunsJustAsWell) {
    terminal_session alone{
        {program_path(), "run", "job", "--", "sh", "-c", "echo go; read line; exit 7"},
        {"HOLDFAST_URL=" + url(), "TERM=dumb"}};
    alone.expect("go\r\n");
    alone.type(ctrl_z); // nobody could continue it
    alone.type("hello\n");
    EXPECT_EQ(alone.end(), 7);
}

} // namespace
} // namespace holdfast::cli_test
