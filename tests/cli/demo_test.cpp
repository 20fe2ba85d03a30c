// SPDX-License-Identifier: Apache-2.0
#include "cli/private_server.hpp"
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"
#include "support/redis_server.hpp"

#include <csignal>

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Demo : public on_server {};
HOLDFAST_ON_EACH_SERVER(Demo);

TEST_P(Demo, TellsItsStoryInAPipeAndLeavesNothingBehind) {
    const ended demo = run({"demo"}, " " + url() + " "); // blanks around a URL are ignored
    EXPECT_EQ(demo.status, 0) << demo.err;
    EXPECT_EQ(demo.err, "");
    EXPECT_THAT(demo.out, HasSubstr("updates were lost."));
    EXPECT_THAT(demo.out, HasSubstr("The number is 1000: no update was lost"));
    EXPECT_THAT(demo.out, HasSubstr("after the kill it was ours"));
    EXPECT_THAT(demo.out, HasSubstr("Try next"));
    EXPECT_THAT(demo.out, Not(HasSubstr("\x1b"))) << "no terminal, no cursor movement";

    std::istringstream lines{demo.out};
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 80U) << line;
    EXPECT_THAT(support::lock_keys(server()), testing::IsEmpty());
}

TEST_P(Demo, HasATableThatMovesOnATerminal) {
    terminal_session watched{{program_path(), "demo", "--url", url()}, {"TERM=xterm", "NO_COLOR="}};
    watched.expect("1. Without a lock");
    watched.expect("\x1b[5F");  // back to the first of its lines
    watched.expect("\x1b[31m"); // red, with what is lost
    watched.expect("2. With a lock");
    watched.expect("<- has the lock");
}

TEST_P(Demo, CtrlCWhileTheProcessesUseTheLockReleasesIt) {
    terminal_session watched{{program_path(), "demo", "--url", url()}, {"TERM=xterm", "NO_COLOR="}};
    watched.expect("<- has the lock");
    watched.type(ctrl_c);
    EXPECT_EQ(watched.end(), 128 + SIGINT);
    EXPECT_THAT(support::lock_keys(server()), testing::IsEmpty());
}

TEST_P(Demo, CtrlCBeforeTheHolderIsKilledReleasesTheLock) {
    terminal_session watched{{program_path(), "demo", "--url", url()},
                             {"TERM=xterm", "NO_COLOR=1"}};
    watched.expect("3. A holder is killed");
    watched.expect("has the lock");
    watched.type(ctrl_c);
    EXPECT_EQ(watched.end(), 128 + SIGINT);
    EXPECT_THAT(support::lock_keys(server()), testing::IsEmpty());
}

TEST_P(Demo, CtrlCAfterTheHolderWasKilledRemovesTheLock) {
    terminal_session watched{{program_path(), "demo", "--url", url()},
                             {"TERM=xterm", "NO_COLOR=1"}};
    watched.expect("3. A holder is killed");
    watched.expect("since the kill");
    watched.type(ctrl_c);
    watched.end();
    EXPECT_THAT(support::lock_keys(server()), testing::IsEmpty());
}

TEST_P(Demo, CtrlCWhileTheProcessesUseTheLockEndsItIfTheServerIsAway) {
    terminal_session watched{
        {program_path(), "demo", "--url", url() + "?unavailable_timeout=1h&release_timeout=1h"},
        {"TERM=xterm", "NO_COLOR="}};
    watched.expect("<- has the lock");
    server().stop();
    watched.type(ctrl_c);
    EXPECT_EQ(watched.end(), 128 + SIGINT);
}

TEST_P(Demo, CtrlCBeforeTheHolderIsKilledEndsItIfTheServerStandsStill) {
    terminal_session watched{{program_path(), "demo", "--url",
                              url() + "?connect_timeout=1h&command_timeout=1h&release_timeout=1h"},
                             {"TERM=xterm", "NO_COLOR=1"}};
    watched.expect("3. A holder is killed");
    watched.expect("has the lock");
    server().pause();
    watched.type(ctrl_c);
    EXPECT_EQ(watched.end(), 128 + SIGINT);
}

TEST_P(Demo, TermReleasesTheLock) {
    program demo{{"demo", "--url", url()}};
    while (demo.line().find("2. With a lock") == std::string::npos) {
    }
    ASSERT_TRUE(eventually([&] { return !support::lock_keys(server()).empty(); }));
    demo.signal(SIGTERM);
    EXPECT_EQ(demo.end().status, 128 + SIGTERM);
    EXPECT_THAT(support::lock_keys(server()), testing::IsEmpty());
}

TEST_P(Demo, HasNoColoursWhereTheyAreNotWelcome) {
    terminal_session watched{{program_path(), "demo", "--url", url()},
                             {"TERM=xterm", "NO_COLOR=1"}};
    watched.expect("1. Without a lock");
    watched.expect("\x1b[5F");
    EXPECT_THAT(watched.expect("3. A holder is killed"), Not(HasSubstr("\x1b[3")));
    EXPECT_THAT(watched.expect("the lease"), Not(HasSubstr("\x1b[3")));
    EXPECT_THAT(watched.expect("have the lock"), HasSubstr("since the kill"));
    EXPECT_EQ(watched.end(), 0);
}

class DemoAlone : public with_private_server {};
HOLDFAST_ON_EACH_SERVER(DemoAlone);

TEST_P(DemoAlone, NeedsNoServerOfTheUsers) {
    const ended demo = run({"demo"});
    EXPECT_EQ(demo.status, 0) << demo.err;
    EXPECT_THAT(demo.out, HasSubstr("unix://" + folder.string()));
    EXPECT_THAT(demo.out, HasSubstr("The number is 1000: no update was lost"));
}

} // namespace
} // namespace holdfast::cli_test
