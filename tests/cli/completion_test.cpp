// SPDX-License-Identifier: Apache-2.0
// Completions of the shells for `holdfast`, the manual pages, and the program's output on a
// terminal.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"
#include "support/source_tree.hpp"

#include <boost/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace holdfast::cli_test {
namespace {

// Completions after `holdfast`, as the shells themselves report them, and the manual pages.

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using word_list = std::vector<std::string>;

const word_list listed_verbs{"run",  "ls",   "inspect", "wait",  "unlock", "bench",  "demo", "ask",
                             "give", "take", "renew",   "latch", "doctor", "server", "top"};

/// Sources and asks the completion of one shell: $1 is its file, the rest is the command line.
struct shell_kind {
    std::string name, file, question;
};

void PrintTo(const shell_kind& one, std::ostream* out) {
    *out << one.name;
}

const std::vector<shell_kind> shells{
    {"bash", "cli/completion/holdfast.bash",
     "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _holdfast; "
     "printf '%s\\n' \"${COMPREPLY[@]}\""},
    // The function's own name for its answer is replaced: there is no line editor to tell it to.
    {"zsh", "cli/completion/_holdfast",
     "file=$1; shift; words=(\"$@\"); CURRENT=$#; "
     "compadd() { shift; for each in \"$@\"; do [[ $each == $words[-1]* ]] && print -r -- $each; "
     "done }; _normal() { print -r -- normal $words $CURRENT }; source $file"},
    {"fish", "cli/completion/holdfast.fish",
     "source $argv[1]; complete -C (string join ' ' -- $argv[2..]) | string replace -r '\\t.*' ''"},
};

bool is_there(const std::string& tool) {
    return std::system(("command -v " + tool + " >/dev/null").c_str()) == 0; // NOLINT
}

class OfShell : public ::testing::TestWithParam<shell_kind> {
protected:
    void SetUp() override {
        if (!is_there(GetParam().name))
            GTEST_SKIP() << "there is no " << GetParam().name;
        try {
            server_.emplace(support::servers().front());
        } catch (const support::server_unavailable& why) {
            GTEST_SKIP() << why.what();
        }
    }

    word_list offered(const word_list& line) {
        const std::filesystem::path folder = std::filesystem::path{program_path()}.parent_path();
        word_list command{"env", "PATH=" + folder.string() + ":/usr/bin:/bin", GetParam().name,
                          "-c", GetParam().question};
        if (GetParam().name != "fish")
            command.push_back(GetParam().name); // its $0
        command.push_back(support::source_file(GetParam().file).string());
        command.insert(command.end(), line.begin(), line.end());
        program shell{program::exactly{std::move(command)}, server_->url()};
        const ended told = shell.end();
        EXPECT_EQ(told.err, "");
        word_list all;
        std::istringstream lines{told.out};
        for (std::string one; std::getline(lines, one);)
            if (!one.empty())
                all.push_back(one);
        return all;
    }

    ended set_latch(const std::string& latch) {
        return run({"latch", "set", latch, "1"}, server_->url());
    }

    void let_somebody_hold(const std::string& lock) {
        server_->command({"HSET", lock, "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    }

private:
    std::optional<support::redis_server> server_;
};
INSTANTIATE_TEST_SUITE_P(Shells, OfShell, ::testing::ValuesIn(shells),
                         [](const auto& one) { return one.param.name; });

TEST_P(OfShell, AVerbIsOffered) {
    EXPECT_THAT(offered({"holdfast", "in"}), ElementsAre("inspect"));
    EXPECT_THAT(offered({"holdfast", ""}), IsSupersetOf(listed_verbs));
}

TEST_P(OfShell, AnOptionOfTheVerbIsOffered) {
    EXPECT_THAT(offered({"holdfast", "unlock", "--f"}), ElementsAre("--force"));
    EXPECT_THAT(offered({"holdfast", "run", "--"}),
                IsSupersetOf({"--wait", "--lease", "--url", "--verbose", "--hold-for", "--on-loss",
                              "--fenced", "--shared", "--exclusive", "--metrics-textfile"}));
    EXPECT_THAT(offered({"holdfast", "ls", "--"}), Not(Contains("--lease")));
}

TEST_P(OfShell, AWordThatTheVerbKnowsIsOffered) {
    EXPECT_THAT(offered({"holdfast", "server", "st"}), UnorderedElementsAre("status", "stop"));
    EXPECT_THAT(offered({"holdfast", "latch", "s"}), ElementsAre("set"));
    EXPECT_THAT(offered({"holdfast", "latch", "set", "s"}), IsEmpty()) << "no latch has that name";
    EXPECT_THAT(offered({"holdfast", "server", "--f"}), ElementsAre("--force"));
}

TEST_P(OfShell, ALockThatIsHeldIsOffered) {
    let_somebody_hold("nightly");
    let_somebody_hold("deploy");
    EXPECT_THAT(offered({"holdfast", "inspect", "n"}), ElementsAre("nightly"));
    EXPECT_THAT(offered({"holdfast", "run", ""}), IsSupersetOf({"deploy", "nightly"}));
    let_somebody_hold("--url=redis://elsewhere");
    let_somebody_hold("-f");
    for (const std::string verb : {"inspect", "run", "unlock"})
        EXPECT_THAT(offered({"holdfast", verb, ""}),
                    AllOf(Contains("nightly"), Not(Contains(StartsWith("-")))));
    EXPECT_THAT(offered({"holdfast", "wait", "-w", ""}), IsEmpty()) << "that is a time";
    EXPECT_THAT(offered({"holdfast", "bench", ""}), IsEmpty());
}

TEST_P(OfShell, ValuesOfTypeAndOnLossAreOffered) {
    EXPECT_THAT(offered({"holdfast", "inspect", "--type", ""}),
                UnorderedElementsAre("semaphore", "permits", "latch", "rate"));
    EXPECT_THAT(offered({"holdfast", "unlock", "--type", "t"}), ElementsAre("token"));
    EXPECT_THAT(offered({"holdfast", "ls", "--type", "p"}), ElementsAre("permits"));
    EXPECT_THAT(offered({"holdfast", "top", "--sort", "h"}), ElementsAre("held"));
    EXPECT_THAT(offered({"holdfast", "run", "--on-loss", "U"}),
                UnorderedElementsAre("USR1", "USR2"));
}

TEST_P(OfShell, NameOfALatchIsOffered) {
    ASSERT_EQ(set_latch("migrated").status, 0);
    for (const std::string word : {"down", "wait", "count", "erase"})
        EXPECT_THAT(offered({"holdfast", "latch", word, "m"}), ElementsAre("migrated"));
}

TEST_P(OfShell, EachOptionOfTheHelpIsOffered) {
    for (const std::string& verb : listed_verbs) {
        SCOPED_TRACE(verb);
        std::istringstream help{run({verb, "--help"}).out};
        word_list options;
        for (std::string line; std::getline(help, line);) {
            const std::size_t text = line.find_first_not_of(' ');
            const std::size_t at = line.find("--");
            if (text == line.npos || text < 2 || text > 6 || line[text] != '-' || at == line.npos ||
                at > text + 4)
                continue;
            const std::size_t letter = line.find_first_not_of("-abcdefghijklmnopqrstuvwxyz", at);
            options.push_back(line.substr(at, letter - at));
        }
        EXPECT_THAT(offered({"holdfast", verb, "--"}), IsSupersetOf(options));
    }
}

TEST(Fish, EachOptionHasADescriptionThatIsComplete) {
    if (!is_there("fish"))
        GTEST_SKIP() << "there is no fish";
    const std::filesystem::path folder = std::filesystem::path{program_path()}.parent_path();
    for (const std::string& verb : listed_verbs) {
        SCOPED_TRACE(verb);
        program shell{program::exactly{
            {"env", "PATH=" + folder.string() + ":/usr/bin:/bin", "fish", "-c",
             "source $argv[1]; complete -C \"holdfast $argv[2] --\"",
             support::source_file("cli/completion/holdfast.fish").string(), verb}}};
        std::istringstream lines{shell.end().out};
        int seen = 0;
        for (std::string line; std::getline(lines, line); ++seen) {
            const std::size_t tab = line.find('\t');
            ASSERT_NE(tab, line.npos) << line;
            EXPECT_GT(line.size(), tab + 3) << line;
            for (const char* const end :
                 {" a", " the", " of", " that", " if", " and", " or", " in"})
                EXPECT_FALSE(line.ends_with(end)) << line;
        }
        EXPECT_GT(seen, 0);
    }
}

TEST_P(OfShell, BehindTheDashesTheCommandIsAnotherPrograms) {
    const word_list all = offered({"holdfast", "run", "job", "--", "flo"});
    if (GetParam().name == "zsh")
        EXPECT_THAT(all, ElementsAre("normal flo 1"));
    else
        EXPECT_THAT(all, Contains("flock"));
}

TEST_P(OfShell, TheSecondWordIsTheCommandToo) {
    for (const word_list& before :
         {word_list{"job"}, word_list{"-v", "job"}, word_list{"--fenced", "job"},
          word_list{"-s", "job"}, word_list{"--hold-for", "1m", "job"},
          word_list{"--replicas", "1", "job"}}) {
        word_list line{"holdfast", "run"};
        line.insert(line.end(), before.begin(), before.end());
        line.push_back("flo");
        const word_list all = offered(line);
        if (GetParam().name == "zsh")
            EXPECT_THAT(all, ElementsAre("normal flo 1"));
        else
            EXPECT_THAT(all, Contains("flock"));
    }
    EXPECT_THAT(offered({"holdfast", "run", "--lease", ""}), IsEmpty()) << "that is a time";
    EXPECT_THAT(offered({"holdfast", "run", "job", "--hold"}), ElementsAre("--hold-for"));
}

TEST(ManualPages, AreWellFormedAndThereIsOneForEachVerb) {
    if (!is_there("mandoc"))
        GTEST_SKIP() << "there is no mandoc";
    const std::string folder = std::filesystem::path{program_path()}.parent_path() / "man";
    program lint{program::exactly{
        {"sh", "-c", "mandoc -Tlint -W warning \"$0\"/*.1 && groff -mdoc -ww -z \"$0\"/*.1",
         folder}}};
    const ended told = lint.end();
    EXPECT_EQ(told.status, 0);
    EXPECT_EQ(told.out + told.err, "");
    for (const std::string& verb : listed_verbs)
        EXPECT_TRUE(std::filesystem::exists(folder + "/holdfast-" + verb + ".1")) << verb;
    program shown{
        program::exactly{{"sh", "-c", "mandoc -Tascii \"$0\"/holdfast-ls.1 | col -b", folder}}};
    EXPECT_THAT(shown.end().out,
                ::testing::AllOf(::testing::HasSubstr("holdfast ls [OPTIONS] [PATTERN]"),
                                 ::testing::HasSubstr("-1, --names"),
                                 ::testing::HasSubstr("EXIT STATUS")));
}

// The program's output on a terminal, and completions of a shell.

using ::testing::HasSubstr;

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
    terminal.expect("waiting for the release of lock 'job', ");
    holder.close_stdin();
    terminal.expect("\r\x1b[K");
    EXPECT_EQ(terminal.end(), 0);
    ASSERT_EQ(run({"latch", "set", "gate", "1"}, url()).status, 0);
    terminal_session waiter{{program_path(), "latch", "wait", "gate"},
                            {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    waiter.expect("waiting for latch 'gate', ");
    EXPECT_EQ(run({"latch", "down", "gate"}, url()).status, 0);
    waiter.expect("\r\x1b[K");
    EXPECT_EQ(waiter.end(), 0);
    terminal_session setter{{program_path(), "latch", "wait", "--set", "-w", "6", "gate"},
                            {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    setter.expect("waiting for the setting of latch 'gate', ");
    EXPECT_EQ(setter.end(), 1);
}

TEST_P(Words, CtrlDAtTheQuestionOfUnlockEndsTheLine) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    terminal_session terminal{{program_path(), "unlock", "--force", "job"},
                              {"HOLDFAST_URL=" + url(), "TERM=xterm"}};
    terminal.expect("[y/N] ");
    terminal.type("\x04");
    EXPECT_THAT(terminal.expect("nothing was changed"), HasSubstr("\r\nholdfast: "));
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
                              {"HOLDFAST_URL=" + url(), "NO_COLOR=1"}};
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
