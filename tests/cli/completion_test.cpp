// SPDX-License-Identifier: Apache-2.0
// What the shells offer behind `holdfast`, asked of the shells themselves; and the manual pages.
#include "cli/server_test.hpp"
#include "support/source_tree.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using word_list = std::vector<std::string>;

const word_list listed_verbs{"run",   "ls",   "inspect", "wait",   "unlock",
                             "bench", "demo", "doctor",  "server", "latch"};

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
                              "--fenced", "--shared", "--exclusive"}));
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

} // namespace
} // namespace holdfast::cli_test
