// SPDX-License-Identifier: Apache-2.0
// Signals: to the command while it runs, to the wait before that.
#include "cli/server_test.hpp"

#include <csignal>
#include <fstream>

namespace holdfast::cli_test {
namespace {

class Signals : public on_server {
protected:
    /// Answers signals until stdin is closed; each of them ends a `read`.
    const std::string loop = "; echo ready; while ! read nothing; do :; done";
};
HOLDFAST_ON_EACH_SERVER(Signals);

TEST_P(Signals, ArePassedOnToTheCommand) {
    program holder{shell("trap 'echo usr1' USR1; trap 'echo usr2' USR2; trap 'echo hup' HUP; "
                         "trap 'echo quit' QUIT; trap 'echo int' INT; trap 'echo term; exit 7' "
                         "TERM" +
                         loop),
                   url()};
    ASSERT_EQ(holder.line(), "ready");
    const std::vector<std::pair<int, std::string>> passed{{SIGUSR1, "usr1"}, {SIGUSR2, "usr2"},
                                                          {SIGHUP, "hup"},   {SIGQUIT, "quit"},
                                                          {SIGINT, "int"},   {SIGTERM, "term"}};
    for (const auto& [number, answer] : passed) {
        holder.signal(number);
        EXPECT_EQ(holder.line(), answer);
    }
    EXPECT_EQ(holder.end().status, 7);
    EXPECT_FALSE(is_locked());
}

TEST_P(Signals, ThatEndTheCommandAreItsStatus) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    holder.signal(SIGINT);
    const ended interrupted = holder.end();
    EXPECT_EQ(interrupted.status, 128 + SIGINT);
    EXPECT_FALSE(interrupted.by_signal);
    EXPECT_FALSE(is_locked());
}

/// There, a signal without a handler does nothing to the first process.
TEST_P(Signals, ArePassedOnByTheFirstProcessOfAContainerToo) {
    if (program{program::exactly{{"unshare", "--pid", "--fork", "true"}}}.end().status != 0)
        GTEST_SKIP() << "this user may not make a namespace";
    const auto as_first = [&](const std::string& lock, const std::string& script) {
        return program::exactly{
            {"unshare", "--pid", "--fork", program_path(), "run", lock, "sh", "-c", script}};
    };
    const auto first_process_of = [](const program& around) {
        const std::string id = std::to_string(around.id());
        std::ifstream children{"/proc/" + id + "/task/" + id + "/children"};
        pid_t found = 0;
        children >> found;
        return found;
    };
    program holder{as_first(name, "trap 'echo term; exit 7' TERM" + loop), url()};
    ASSERT_EQ(holder.line(), "ready");
    program standing_by{as_first(name, "true"), url()};
    await_waiter();
    ::kill(first_process_of(standing_by), SIGTERM);
    EXPECT_EQ(standing_by.end().status, 128 + SIGTERM);
    ::kill(first_process_of(holder), SIGTERM);
    EXPECT_EQ(holder.line(), "term");
    EXPECT_EQ(holder.end().status, 7);
}

TEST_P(Signals, ReachTheWholeGroupEvenIfItIsStopped) {
    // The inner shell ignores nothing, and its end shows that it got the signal too.
    program holder{shell("sh -c 'echo $$; kill -STOP 0'; exit 3"), url()};
    observed_process inner{std::stoi(holder.line())};
    holder.signal(SIGTERM);
    EXPECT_EQ(holder.end().status, 128 + SIGTERM);
    EXPECT_TRUE(inner.ended_within(far_too_long));
}

TEST_P(Signals, StopTheCommandButNotUsBecauseTheLockMustBeRenewed) {
    program holder{shell("echo $$; read nothing; echo done"), url()};
    const observed_process ourselves{holder.id()};
    const observed_process command{std::stoi(holder.line())};
    holder.signal(SIGTSTP);
    EXPECT_TRUE(eventually([&] { return command.is_stopped(); }));
    EXPECT_FALSE(ourselves.is_stopped());

    holder.signal(SIGCONT);
    EXPECT_TRUE(eventually([&] { return !command.is_stopped(); }));
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
}

TEST_P(Signals, StopAWait) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    program waiter{shell("echo mine"), url()};
    const observed_process waiting{waiter.id()};
    await_waiter();
    waiter.signal(SIGTSTP);
    EXPECT_TRUE(eventually([&] { return waiting.is_stopped(); }));

    holder.close_stdin();
    holder.end();
    waiter.signal(SIGCONT);
    EXPECT_EQ(waiter.end().out, "mine\n");
}

TEST_P(Signals, CancelAWaitAndNothingRuns) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
        program waiter{shell("echo ran"), url()};
        await_waiter();
        waiter.signal(number);
        const ended cancelled = waiter.end();
        EXPECT_EQ(cancelled.status, 128 + number);
        EXPECT_FALSE(cancelled.by_signal);
        EXPECT_EQ(cancelled.out, "");
        EXPECT_TRUE(eventually([this] {
            return server().command({"CLIENT", "LIST", "TYPE", "pubsub"}).text.empty();
        })) << "the waiter still listens";
    }
    holder.close_stdin();
    holder.end();
    EXPECT_FALSE(is_locked());
}

TEST_P(Signals, ThatWereIgnoredStayIgnoredAsUnderNohup) {
    const std::string nohup = "trap '' HUP; exec '" + program_path() +
                              "' run job -- sh -c 'trap \"echo usr1\" USR1" + loop + "'";
    program holder{program::exactly{{"sh", "-c", nohup}}, url()};
    ASSERT_EQ(holder.line(), "ready");
    holder.signal(SIGHUP); // ends nobody
    holder.signal(SIGUSR1);
    EXPECT_EQ(holder.line(), "usr1");
    holder.signal(SIGTERM);
    EXPECT_EQ(holder.end().status, 128 + SIGTERM);
}

} // namespace
} // namespace holdfast::cli_test
