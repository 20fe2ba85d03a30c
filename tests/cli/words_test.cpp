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

TEST_P(Words, WaitAndLatchWaitShowALineWhileTheyWait) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    terminal_session terminal{{program_path(), "wait", "job"},
                              {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    terminal.expect("waiting for the release of lock 'job', 1.");
    holder.close_stdin();
    terminal.expect("\r\x1b[K");
    EXPECT_EQ(terminal.end(), 0);
    ASSERT_EQ(run({"latch", "set", "gate", "1"}, url()).status, 0);
    terminal_session waiter{{program_path(), "latch", "wait", "gate"},
                            {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    waiter.expect("waiting for latch 'gate', 1.");
    EXPECT_EQ(run({"latch", "down", "gate"}, url()).status, 0);
    waiter.expect("\r\x1b[K");
    EXPECT_EQ(waiter.end(), 0);
    terminal_session setter{{program_path(), "latch", "wait", "--set", "-w", "1.5", "gate"},
                            {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    setter.expect("waiting for the setting of latch 'gate', 1.");
    EXPECT_EQ(setter.end(), 1);
}

TEST_P(Words, CtrlDAtTheQuestionOfUnlockEndsTheLine) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    terminal_session terminal{{program_path(), "unlock", "--force", "job"},
                              {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    terminal.expect("[y/N] ");
    terminal.type("\x04");
    EXPECT_THAT(terminal.expect("left alone"), HasSubstr("\r\nholdfast: "));
    EXPECT_EQ(terminal.end(), 1);
}

/// Returns the number of columns of a line that has ASCII letters and Chinese characters.
std::size_t columns_of(const std::string& line) {
    std::size_t columns = 0;
    for (const char each : line)
        columns += (each & 0x80) == 0 ? (each >= ' ' ? 1 : 0) : ((each & 0xc0) == 0xc0 ? 2 : 0);
    return columns;
}

std::string wide_letters(int count) {
    std::string all;
    for (int i = 0; i < count; ++i)
        all += "\xe6\xbc\xa2"; // U+6F22
    return all;
}

TEST_P(Words, NamesInWideLettersFitTheTerminalAndKeepTheirEnds) {
    for (const std::string end : {"1", "2"})
        server().command(
            {"HSET", wide_letters(60) + end, "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    terminal_session terminal{{"sh", "-c", program_path() + " ls; echo over"},
                              {"HOLDFAST_URL=" + url(), "TERM=dumb"}};
    const std::string shown = terminal.expect("over");
    EXPECT_THAT(shown, HasSubstr(wide_letters(1) + "1 "));
    EXPECT_THAT(shown, HasSubstr(wide_letters(1) + "2 "));
    std::istringstream lines{shown};
    std::vector<std::size_t> at;
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(columns_of(line), 80U) << line;
        const std::size_t kind = line.find("lock  ");
        if (kind != line.npos)
            at.push_back(columns_of(line.substr(0, kind)));
        else if (line.find("KIND") != line.npos)
            at.push_back(columns_of(line.substr(0, line.find("KIND"))));
    }
    ASSERT_EQ(at.size(), 3U) << shown;
    EXPECT_TRUE(at[0] == at[1] && at[1] == at[2]) << shown;
}

TEST_P(Words, WaitForANameInWideLettersStaysOnOneLine) {
    const std::string wide = wide_letters(39);
    server().command({"HSET", wide, "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    server().command({"PEXPIRE", wide, "60000"});
    terminal_session terminal{{program_path(), "run", wide, "true"},
                              {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    terminal.expect("\r");
    EXPECT_LT(columns_of(terminal.expect("\x1b[K")), 80U);
    terminal.expect("\r");
    EXPECT_LT(columns_of(terminal.expect("\x1b[K")), 80U);
}

TEST_P(Words, LongNameIsNotCutInsideACharacter) {
    std::string wide = "a";
    for (int i = 0; i < 100; ++i)
        wide += "\xc3\xa9"; // U+00E9
    const ended told = run({"inspect", wide}, url());
    EXPECT_EQ(told.status, 1);
    EXPECT_THAT(told.out, Not(HasSubstr("?")));
    EXPECT_THAT(told.out, HasSubstr("\xc3\xa9...' is free"));
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
