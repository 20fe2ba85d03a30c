// SPDX-License-Identifier: Apache-2.0
// What the program writes on a terminal, and what a shell is offered.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"

#include <boost/json.hpp>

#include <sstream>

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Words : public on_server {};
HOLDFAST_ON_EACH_SERVER(Words);

TEST_P(Words, NamesThatCommandATerminalAreEscaped) {
    // CSI of C1, right-to-left override, isolate, end of a line.
    const std::string odd = "a\xc2\x9b"
                            "31m\xe2\x80\xae"
                            "b\xe2\x81\xa6"
                            "c\xe2\x80\xa8"
                            "d\x7f";
    server().command({"HSET", odd, "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    for (const std::vector<std::string>& verb :
         std::vector<std::vector<std::string>>{{"ls", "--json"},
                                               {"inspect", "--json", odd},
                                               {"ls"},
                                               {"inspect", odd},
                                               {"wait", "-w", "0", "--json", odd}}) {
        SCOPED_TRACE(verb.front());
        const ended told = run(verb, url());
        for (const char* const each :
             {"\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\xa8", "\x7f"})
            EXPECT_THAT(told.out, Not(HasSubstr(each)));
        if (verb.front() == "inspect" && verb.size() == 3) {
            EXPECT_EQ(boost::json::parse(told.out).at("name").as_string(), odd);
        }
    }
}

TEST_P(Words, ADoctorOnATerminalFitsIntoIt) {
    server().command({"CONFIG", "SET", "maxmemory", "100mb"});
    server().command({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
    terminal_session terminal{{"sh", "-c", program_path() + " doctor; echo over"},
                              {"HOLDFAST_URL=" + url(), "TERM=dumb"}};
    std::istringstream lines{terminal.expect("over")};
    int seen = 0;
    for (std::string line; std::getline(lines, line); ++seen)
        EXPECT_LE(line.size(), 81U) << line; // with its CR
    EXPECT_GT(seen, 5);
}

TEST_P(Words, ARefusedNumberOfSlotsOrStartsNamesTheWayOut) {
    ASSERT_EQ(run({"run", "--slots", "3", "seats", "true"}, url()).status, 0);
    const ended slots = run({"run", "--slots", "4", "seats", "true"}, url());
    EXPECT_EQ(slots.status, 65);
    EXPECT_THAT(slots.err, HasSubstr("holdfast unlock --force --type permits 'seats'"));
    ASSERT_EQ(run({"run", "--rate", "3/1m", "mails", "true"}, url()).status, 0);
    const ended rate = run({"run", "--rate", "4/1m", "mails", "true"}, url());
    EXPECT_EQ(rate.status, 65);
    EXPECT_THAT(rate.err, HasSubstr("holdfast unlock --force --type rate 'mails'"));
}

TEST_P(Words, AWaitInTheBackgroundDrawsNothing) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    terminal_session terminal{
        {"bash", "--norc", "--noprofile", "--noediting", "-i"},
        {"HOLDFAST_URL=" + url(), "PS1=ready> ", "TERM=xterm", "h=" + program_path(), "HISTFILE="}};
    terminal.expect("ready> ");
    terminal.type("$h run job -- echo mine $((1 + 1)) &\n");
    terminal.expect("ready> ");
    await_waiter();
    terminal.type("read -t 3; echo still $((3 + 4))\n"); // longer than it takes to draw
    EXPECT_THAT(terminal.expect("still 7"), Not(HasSubstr("waiting for")));
    terminal.type("fg\n");
    terminal.expect("waiting for lock 'job'");
    holder.close_stdin();
    terminal.expect("mine 2");
}

TEST_P(Words, LatchWaitSetEndsWhenTheLatchIsSet) {
    EXPECT_EQ(run({"latch", "wait", "--set", "-w", "0", "gate"}, url()).status, 1);
    program waiter{{"latch", "wait", "--set", "--json", "gate"}, url()};
    EXPECT_EQ(run({"latch", "set", "gate", "2"}, url()).status, 0);
    const ended told = waiter.end();
    EXPECT_EQ(told.status, 0);
    const boost::json::value whole = boost::json::parse(told.out);
    EXPECT_TRUE(whole.at("set").as_bool());
    EXPECT_EQ(whole.at("count").as_int64(), 2);
    EXPECT_EQ(run({"latch", "wait", "--set", "gate"}, url()).status, 0) << "it is set still";
}

} // namespace
} // namespace holdfast::cli_test
