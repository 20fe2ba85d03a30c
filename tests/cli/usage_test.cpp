// SPDX-License-Identifier: Apache-2.0
// Mistakes in command lines, and what each verb says about itself. None of these tests needs a
// server.
#include "cli/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {
namespace {

// Mistakes in command lines, and the messages for them. None of these tests needs a server.

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string nobody = "unix:///no/such/folder/redis.sock";

struct mistake {
    std::vector<std::string> arguments;
    std::string told;
    std::string url = nobody;
};

void PrintTo(const mistake& one, std::ostream* out) {
    for (const std::string& word : one.arguments)
        *out << "'" << word << "' ";
}

class Mistakes : public ::testing::TestWithParam<mistake> {};

TEST_P(Mistakes, EndWith64AndAreExplained) {
    const ended wrong = run(GetParam().arguments, GetParam().url);
    EXPECT_EQ(wrong.status, 64);
    EXPECT_EQ(wrong.out, "");
    EXPECT_THAT(wrong.err, StartsWith("holdfast: "));
    EXPECT_THAT(wrong.err, HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    OfTheCommandLine, Mistakes,
    ::testing::Values(
        mistake{{"frobnicate"}, "unknown verb frobnicate; see 'holdfast --help'"},
        mistake{{"--frobnicate"}, "unknown option --frobnicate"},
        mistake{{"run"}, "the NAME of the lock is missing"},
        mistake{{"run", "--", "true"}, "the NAME of the lock is missing"},
        mistake{{"run", "", "--", "true"}, "the NAME of a lock must not be empty"},
        mistake{{"inspect", ""}, "the NAME of a lock must not be empty"},
        mistake{{"latch", "wait", ""}, "the NAME of a latch must not be empty"},
        mistake{{"ls", "--json=maybe"}, "--json takes no value"},
        mistake{{"ls", "--json="}, "--json takes no value; see 'holdfast ls --help'"},
        mistake{{"ls", "-1=true"}, "-1 takes no value"},
        mistake{{"server", "stop", "--force=1"}, "--force takes no value"},
        mistake{{"server", "stop", "--force=false"}, "--force takes no value"},
        mistake{{"unlock", "--force", "--yes=1", "job"}, "--yes takes no value"},
        mistake{{"run", "-nv=1", "job", "--", "true"}, "-v takes no value; see 'holdfast run"},
        mistake{{"run", "--url=", "job", "true"}, "--url has no value after the =; see"},
        mistake{{"run", "--wait=", "job", "true"}, "--wait has no value after the ="},
        mistake{{"run", "--with=", "job", "true"}, "--with has no value after the ="},
        mistake{{"run", "--fenced=", "job", "true"}, "--fenced has no value after the ="},
        mistake{{"inspect", "--type=", "job"}, "--type has no value after the ="},
        mistake{{"latch", "wait", "--set=on", "gate"}, "--set takes no value"},
        mistake{{"run", "--fair=1", "job", "--", "true"}, "--fair takes no value"},
        mistake{{"demo", "--help=1"}, "--help takes no value"},
        mistake{{"ls", "--limit", "0"}, "--limit: '0' is not a whole number from 1 to 1000000"},
        mistake{{"bench", "--threads", "1"}, "--threads: '1' is not a whole number from 2 to 1000"},
        mistake{{"latch", "set", "--set", "gate", "1"},
                "--set works only with 'holdfast latch wait'"},
        mistake{{"run", "job"}, "the COMMAND is missing"},
        mistake{{"run", "job", "--"}, "the COMMAND is missing"},
        mistake{{"run", "--frobnicate", "job", "--", "true"}, "unknown option --frobnicate"},
        mistake{{"run", "-X", "job", "--", "true"}, "unknown option -X"},
        mistake{{"demo", "--frobnicate"}, "unknown option --frobnicate; see"},
        mistake{{"demo", "twice"}, "'twice' is an unexpected argument; see 'holdfast demo --help'"},
        mistake{{"rnu", "job"}, "unknown verb rnu: did you mean run? See 'holdfast --help'"},
        mistake{{"--verison"}, "unknown option --verison: did you mean --version?"},
        mistake{{"run", "--laese", "5s", "job", "--", "true"},
                "unknown option --laese: did you mean --lease? See 'holdfast run --help'"},
        mistake{{"demo", "--ulr=redis://h"}, "option --ulr: did you mean --url?"},
        mistake{{"run", "job", "--lease", "--", "true"}, "--lease needs a value"},
        mistake{{"run", "-w", "job", "--", "true"}, "-w: 'job' is not a duration"},
        mistake{{"run", "--hold-for", "job", "--", "true"}, "--hold-for: 'job' is not a duration"},
        mistake{{"server"}, "holdfast server status [--json]"},
        mistake{{"server", "start"}, "holdfast server status [--json]"},
        mistake{{"server", "status", "--force"}, "server stop [--force]"},
        mistake{{"server", "status", "now"}, "'now' is an unexpected argument"},
        mistake{{"private-server"}, "for holdfast's own use"}));

INSTANTIATE_TEST_SUITE_P(
    OfSeveral, Mistakes,
    ::testing::Values(
        mistake{{"run", "--with", "a", "a", "true"}, "--with: lock 'a' is given twice"},
        mistake{{"run", "--with", "b", "--with", "b", "a", "true"}, "'b' is given twice"},
        mistake{{"run", "--with", "", "a", "true"}, "the name of a lock must not be empty"},
        mistake{{"run", "--url", "unix:///a", "--url", "unix:///b", "a", "true"},
                "2 URLs are given, but a quorum needs an odd number of servers"},
        mistake{{"run", "a", "true"}, "2 URLs are given", "unix:///a unix:///b"},
        mistake{{"run", "a", "true"}, "URLs 1 and 3 are the same", "unix:///a unix:///b unix:///a"},
        mistake{{"run", "-s", "a", "true"},
                "cannot be used with a quorum",
                "unix:///a unix:///b unix:///c"},
        mistake{{"run", "--fair", "a", "true"},
                "cannot be used with a quorum",
                "unix:///a unix:///b unix:///c"},
        mistake{{"run", "--fenced", "a", "true"}, "cannot count", "unix:///a unix:///b unix:///c"},
        mistake{{"run", "--with", "b", "a", "true"},
                "its own majority",
                "unix:///a unix:///b unix:///c"},
        mistake{{"run", "--longest-lease", "1m", "a", "true"},
                "--longest-lease works only with a quorum: give --url 3 to 15 times"},
        mistake{{"run", "--nodes-remember", "a", "true"},
                "--nodes-remember works only with a quorum"},
        mistake{{"run", "--metrics-textfile", "", "a", "true"}, "name of the FILE is empty"},
        mistake{{"run", "--longest-lease", "1m", "--nodes-remember", "a", "true"},
                "cannot be used together",
                "unix:///a unix:///b unix:///c"},
        mistake{{"run", "--longest-lease", "1s", "--lease", "2s", "a", "true"},
                "--longest-lease is shorter than --lease",
                "unix:///a unix:///b unix:///c"},
        mistake{{"run", "a", "true"},
                "different values of lease_time",
                "unix:///a unix:///b unix:///c?lease_time=5s"},
        mistake{{"bench"}, "asks one server", "unix:///a unix:///b unix:///c"}));

INSTANTIATE_TEST_SUITE_P(
    OfNumbers, Mistakes,
    ::testing::Values(
        mistake{{"run", "-w", "soon", "job", "--", "true"}, "-w: 'soon' is not a duration"},
        mistake{{"run", "-w", "-1", "job", "--", "true"}, "-w: '-1' is not a duration"},
        mistake{{"run", "-w", "nan", "job", "--", "true"}, "-w: 'nan' is not a duration"},
        mistake{{"run", "-w", "5 s", "job", "--", "true"}, "-w: '5 s' is not a duration"},
        mistake{{"run", "-w", "", "job", "--", "true"}, "-w: '' is not a duration"},
        mistake{{"run", "-n", "-w", "5", "job", "--", "true"}, "cannot be used together"},
        mistake{{"run", "--fair", "--fenced", "job", "--", "true"}, "choose one"},
        mistake{{"run", "-s", "-x", "job", "--", "true"},
                "--shared and --exclusive are locks of different kinds: choose one"},
        mistake{{"run", "--fair", "--shared", "job", "--", "true"}, "--shared and --fair are"},
        mistake{{"run", "--fair", "--spin", "job", "--", "true"}, "--fair and --spin are"},
        mistake{{"run", "-x", "--fenced", "job", "--", "true"}, "--exclusive and --fenced are"},
        mistake{{"run", "--replicas", "101", "job", "--", "true"},
                "--replicas: '101' is not a whole number from 0 to 100"},
        mistake{{"run", "--replicas", "all", "job", "--", "true"},
                "--replicas: 'all' is not a whole number"},
        mistake{{"run", "--slots", "0", "job", "--", "true"},
                "--slots: '0' is not a whole number from 1 to 1000000"},
        mistake{{"run", "--slots", "99999999999999999999", "job", "--", "true"},
                "is not a whole number from 1 to 1000000"},
        mistake{{"run", "--slots", "", "job", "--", "true"}, "--slots: '' is not a whole number"},
        mistake{{"latch", "wait", "--replicas", "1", "job"},
                "--replicas works only with the commands that change a latch: set, down and erase"},
        mistake{{"run", "-E", "256", "job", "--", "true"},
                "-E: '256' is not a whole number from 0 to 255"},
        mistake{{"run", "-E", "-1", "job", "--", "true"}, "-E: '-1' is not a whole number"},
        mistake{{"run", "-E", "busy", "job", "--", "true"}, "-E: 'busy' is not a whole number"},
        mistake{{"run", "--lease", "1ms", "job", "--", "true"},
                "--lease is too short: give 100ms or more"},
        mistake{{"take", "--lease", "99ms", "job"}, "--lease is too short: give 100ms or more"},
        mistake{{"renew", "--lease", "1ms", "-"}, "--lease is too short: give 100ms or more"},
        mistake{{"run", "--lease", "30x", "job", "--", "true"}, "--lease: '30x' is not a duration"},
        mistake{{"run", "-w", "30x", "job", "--", "true"}, "30s, 2m, 1h, 1d"},
        mistake{{"run", "--hold-for", "-1", "job", "true"}, "--hold-for: '-1' is not a duration"},
        mistake{{"run", "--on-loss", "STOP", "job", "true"},
                "--on-loss: 'STOP' is not a signal that can be used here; give one of TERM, INT, "
                "HUP, QUIT, USR1, "
                "USR2, ABRT, KILL"},
        mistake{{"run", "--on-loss", "99", "job", "true"}, "--on-loss: '99' is not a signal"},
        mistake{{"run", "--on-loss", "", "job", "true"}, "--on-loss: '' is not a signal"},
        mistake{{"run", "--on-ask", "STOP", "job", "true"}, "--on-ask: 'STOP' is not a signal"},
        mistake{{"run", "--on-ask", "TERM:soon", "job", "true"},
                "--on-ask: 'soon' is not a duration"},
        mistake{{"run", "--slots", "2", "--on-ask", "TERM", "job", "true"},
                "--on-ask cannot be used with --slots"},
        mistake{{"run", "--rate", "2/1s", "--on-ask", "TERM", "job", "true"},
                "--on-ask cannot be used with --rate, because --rate holds no lock"},
        mistake{{"run", "--fenced=yes", "job", "true"},
                "--fenced: 'yes' is not allowed; give --fenced or --fenced=dated"},
        mistake{{"run", "--fenced", "job"}, "the COMMAND is missing"},
        mistake{{"run", "--fence", "job", "true"}, "did you mean --fenced?"},
        mistake{{"run", "--on-loss", "TERM:", "job", "true"}, "--on-loss: '' is not a duration"},
        mistake{{"run", "--on-loss", "TERM:soon", "job", "true"},
                "--on-loss: 'soon' is not a duration"},
        mistake{{"run", "--lease", "0", "job", "--", "true"}, "lease"},
        mistake{{"run", "--lease", "99999999h", "job", "--", "true"}, "lease"}));

INSTANTIATE_TEST_SUITE_P(OfTheServersAddress, Mistakes,
                         ::testing::Values(mistake{{"run", "--url", "", "job", "--", "true"},
                                                   "--url is empty"}));

/// With more in the environment, `NAME=value`.
ended run_with(const std::vector<std::string>& variables, std::vector<std::string> arguments,
               std::string url = {}) {
    std::vector<std::string> words{"env"};
    words.insert(words.end(), variables.begin(), variables.end());
    words.push_back(program_path());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return program{program::exactly{std::move(words)}, std::move(url)}.end();
}

TEST(NoUrl, IsNotTheSameAsAnEmptyOne) {
    for (const std::vector<std::string>& verb : asking_verbs()) {
        SCOPED_TRACE(verb.front());
        const ended wrong = run_with({"HOLDFAST_URL="}, verb);
        EXPECT_EQ(wrong.status, 64);
        EXPECT_EQ(wrong.out, "");
        EXPECT_THAT(wrong.err, StartsWith("holdfast: HOLDFAST_URL is set, but empty; give "
                                          "redis://HOST:PORT or unix:///PATH, or unset it"));
    }
    std::vector<std::string> option{"run", "--url", nobody, "-n", "job", "--", "true"};
    EXPECT_EQ(run_with({"HOLDFAST_URL="}, option).status, 69) << "--url wins";
}

TEST(NoUrl, IsRefusedWhereAServerIsRequired) {
    for (const std::vector<std::string>& verb : asking_verbs()) {
        SCOPED_TRACE(verb.front());
        const ended refused = run_with({"HOLDFAST_REQUIRE_SERVER=1"}, verb);
        EXPECT_EQ(refused.status, 64);
        EXPECT_EQ(refused.out, "");
        EXPECT_THAT(refused.err, HasSubstr("no server is given, and HOLDFAST_REQUIRE_SERVER=1"));
        EXPECT_EQ(run_with({"HOLDFAST_REQUIRE_SERVER=1"}, verb, nobody).status, 69);
    }
    for (const char* const typo : {"yes", "", "2"}) {
        const ended wrong = run_with({std::string{"HOLDFAST_REQUIRE_SERVER="} + typo},
                                     {"run", "-n", "job", "true"}, nobody);
        EXPECT_EQ(wrong.status, 64);
        EXPECT_THAT(wrong.err, HasSubstr("is not allowed; give 1 "));
    }
    EXPECT_EQ(run_with({"HOLDFAST_REQUIRE_SERVER=0"}, {"run", "-n", "job", "true"}).status, 0);
}

TEST(Usage, WithoutArgumentsIsExplainedOnStderr) {
    const ended alone = run({});
    EXPECT_EQ(alone.status, 64);
    EXPECT_EQ(alone.out, "");
    EXPECT_THAT(alone.err, HasSubstr("Usage: holdfast VERB"));
}

TEST(Usage, HelpTellsTheVerbsAndWhatElseIsThere) {
    const ended help = run({"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.err, "");
    EXPECT_THAT(help.out, HasSubstr("Usage: holdfast VERB"));
    std::istringstream lines{help.out};
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 80U) << line;
}

TEST(Usage, HelpAfterDashesIsTheCommands) {
    EXPECT_EQ(run({"run", "job", "--", "true", "--help"}, "gopher://hole").status, 64);
}

TEST(Usage, TheVersionIsTold) {
    EXPECT_THAT(run({"--version"}).out, StartsWith("holdfast 0."));
}

TEST(Usage, ControlCharactersDoNotReachTheTerminal) {
    EXPECT_THAT(run({"\x1b[2J"}).err, HasSubstr("?[2J"));
}

TEST(Unreachable, Is69AndNamesTheServerButNotThePassword) {
    const ended nowhere = run({"run", "-n", "job", "--", "true"}, nobody);
    EXPECT_EQ(nowhere.status, 69);
    EXPECT_THAT(nowhere.err, StartsWith("holdfast: cannot reach unix:///no/such/folder"));
    EXPECT_THAT(nowhere.err, HasSubstr("No such file or directory"));

    const ended hidden = run({"run", "-n", "job", "--", "true"}, "redis://me:secret@127.0.0.1:1");
    EXPECT_EQ(hidden.status, 69);
    EXPECT_THAT(hidden.err, HasSubstr("cannot reach redis://me:***@127.0.0.1:1: "));
    EXPECT_THAT(hidden.err, ::testing::Not(HasSubstr("secret")));
}

TEST(Unreachable, DoesNotShowALoneUserWhichMayBeAPassword) {
    for (const char* url : {"redis://secret@127.0.0.1:1", "rediss://secret@127.0.0.1:1",
                            "REDIS://secret@127.0.0.1:1", "redis+sentinel://secret@127.0.0.1:1/s",
                            "redis+cluster://secret@127.0.0.1:1", "REDISS://secret@127.0.0.1:1"}) {
        const ended hidden = run({"run", "-n", "job", "--", "true"}, url);
        EXPECT_EQ(hidden.status, 69);
        EXPECT_THAT(hidden.err, HasSubstr("***@127.0.0.1:1"));
        EXPECT_THAT(hidden.err, ::testing::Not(HasSubstr("secret")));
    }
}

TEST(Unreachable, DoesNotShowALoneUserOfAUnixSocket) {
    for (const std::string scheme : {"unix", "redis+unix", "UNIX"}) {
        const ended hidden =
            run({"run", "-n", "job", "--", "true"}, scheme + "://secret@/no/such/folder");
        EXPECT_EQ(hidden.status, 69);
        EXPECT_THAT(hidden.err, HasSubstr("://***@/no/such/folder"));
        EXPECT_THAT(hidden.err, ::testing::Not(HasSubstr("secret")));
    }
}

TEST(Unreachable, ShowsNothingOfAUrlWithAnAtSignBehindItsHost) {
    for (const char* url : {"mysql://me:1/secret@127.0.0.1:1", "zk://me:1/secret@127.0.0.1:1",
                            "mysql://127.0.0.1:1/shop?unavailable_timeout=0s&PASSword=secret"}) {
        const ended hidden = run({"run", "-n", "job", "--", "true"}, url);
        EXPECT_NE(hidden.status, 0);
        EXPECT_THAT(hidden.err, ::testing::Not(HasSubstr("secret")));
    }
}

TEST(Unreachable, NamesNoPasswordOfSentinelsEither) {
    const ended hidden = run({"run", "-n", "job", "--", "true"},
                             "redis+sentinel://me:secret@127.0.0.1:1/s?sentinel_password=secret&"
                             "sentinel_p%61ssword=secret&label=x");
    EXPECT_EQ(hidden.status, 64); // it is given twice
    EXPECT_THAT(hidden.err, ::testing::Not(HasSubstr("secret")));
    const ended nowhere =
        run({"run", "-n", "job", "--", "true"},
            "redis+sentinel://me:secret@127.0.0.1:1/s?sentinel_p%61ssword=secret&label=x&"
            "unavailable_timeout=0s");
    EXPECT_EQ(nowhere.status, 69);
    EXPECT_THAT(nowhere.err, HasSubstr("cannot reach redis+sentinel://me:***@127.0.0.1:1/s?"
                                       "sentinel_p%61ssword=***&label=x&"));
    EXPECT_THAT(nowhere.err, ::testing::Not(HasSubstr("secret")));
}

TEST(Usage, TheVariableMayHaveUrlsOfEachForm) {
    EXPECT_THAT(
        run({"ls"}, "redis+unix:///a redis+cluster://a rediss+sentinel://b,c/s redis://d").err,
        HasSubstr("4 URLs are given, but a quorum needs an odd number"));
}

TEST(Unreachable, TheOptionWinsOverTheEnvironment) {
    const ended option = run({"run", "-n", "--url", nobody, "job", "--", "true"}, "gopher://hole");
    EXPECT_EQ(option.status, 69);
}

TEST(Unreachable, IsWhatAWaitIsToldOfMeanwhile) {
    program curious{{"run", "-v", "job", "--", "true"}, nobody + "?unavailable_timeout=1h"};
    EXPECT_TRUE(eventually(
        [&] { return curious.said("waiting for lock 'job', the server cannot be reached"); }));
}

// Help texts of all verbs, and mistakes with the verbs that inspect locks. None of these tests
// needs a server.

using ::testing::AllOf;

const std::string dead_end = "unix:///no/such/folder/redis.sock";

struct slip {
    std::vector<std::string> arguments;
    std::string told;
};

void PrintTo(const slip& one, std::ostream* out) {
    for (const std::string& word : one.arguments)
        *out << "'" << word << "' ";
}

class Slips : public ::testing::TestWithParam<slip> {};

TEST_P(Slips, EndWith64AndAreExplained) {
    const ended wrong = run(GetParam().arguments, dead_end);
    EXPECT_EQ(wrong.status, 64);
    EXPECT_EQ(wrong.out, "");
    EXPECT_THAT(wrong.err, AllOf(StartsWith("holdfast: "), HasSubstr(GetParam().told)));
}

INSTANTIATE_TEST_SUITE_P(
    OfLookingVerbs, Slips,
    ::testing::Values(
        slip{{"inspct"}, "unknown verb inspct: did you mean inspect? See 'holdfast --help'"},
        slip{{"--versoin"}, "unknown option --versoin: did you mean --version?"},
        slip{{"xyzzy"}, "unknown verb xyzzy; see 'holdfast --help'"},
        slip{{"serve"}, "unknown verb serve: did you mean server?"},
        slip{{"run", "--verbos"}, "did you mean --verbose? See 'holdfast run --help'"},
        slip{{"ls", "--jsno"}, "--jsno: did you mean --json? See 'holdfast ls --help'"},
        slip{{"ls", "--ulr=redis://x"}, "unknown option --ulr: did you mean --url?"},
        slip{{"ls", "--frobnicate"}, "unknown option --frobnicate; see 'holdfast ls --help'"},
        slip{{"ls", "a", "b"}, "'b' is an unexpected argument; see 'holdfast ls --help'"},
        slip{{"ls", "--json", "-1"}, "cannot be used together"},
        slip{{"ls", "--limit", "0"}, "--limit"},
        slip{{"inspect"}, "the NAME of the lock is missing"},
        slip{{"inspect", ""}, "must not be empty"},
        slip{{"wait"}, "the NAME of the lock is missing"},
        slip{{"wait", "-w", "soon", "job"}, "-w: 'soon' is not a duration"},
        slip{{"wait", "-w", "job"}, "-w: 'job' is not a duration"},
        slip{{"unlock"}, "the NAME of the lock is missing"},
        slip{{"unlock", "job"}, "only its holder can release a lock"},
        slip{{"unlock", "--force", "job"}, "give --yes"}, slip{{"bench", "-t", "0"}, "more than 0"},
        slip{{"bench", "--threads", "1"}, "--threads"},
        slip{{"doctor", "--jsn"}, "did you mean --json?"},
        slip{{"ls", ""}, "the name of a lock must not be empty; see 'holdfast ls --help'"},
        slip{{"doctor", ""}, "the name of a lock must not be empty; see 'holdfast doctor --help'"},
        slip{{"wait", "job", "--", "make"}, "'make' is an unexpected argument"},
        slip{{"inspect", "--"}, "the NAME of the lock is missing"},
        slip{{"inspect", "--url"}, "--url needs a value; see 'holdfast inspect --help'"},
        slip{{"wait", "-w", "1", "-w", "2", "job"}, "--wait is given more than once; see"},
        slip{{"bench", "job"}, "'job' is an unexpected argument; see 'holdfast bench --help'"},
        slip{{"lock", "job"}, "unknown verb lock: did you mean run?"},
        slip{{"list"}, "unknown verb list: did you mean ls?"},
        slip{{"help", "inspct"}, "unknown verb inspct: did you mean inspect?"},
        slip{{"inspect", "--type", "seat", "job"}, "'seat' is not a type; give semaphore"},
        slip{{"inspect", "a{}b"}, "an empty '{}'"}));

INSTANTIATE_TEST_SUITE_P(
    OfLatches, Slips,
    ::testing::Values(
        slip{{"latch"}, "set, down, wait, count or erase; see 'holdfast latch --help'"},
        slip{{"latch", "st", "gate"},
             "'st' is not a command for a latch: did you mean "
             "set? See 'holdfast latch --help'"},
        slip{{"latch", "wait"}, "the NAME of the latch is missing"},
        slip{{"latch", "set", "gate"}, "'holdfast latch set NAME NUMBER'"},
        slip{{"latch", "set", "gate", "0"}, "'0' is not a whole number from 1 to 2147483647"},
        slip{{"latch", "set", "gate", "2147483648"}, "'2147483648' is not a whole number"},
        slip{{"latch", "down", "gate", "1.5"}, "'1.5' is not a whole number"},
        slip{{"latch", "down", "gate", "1", "2"}, "'2' is an unexpected argument"},
        slip{{"latch", "wait", "gate", "1"}, "'1' is an unexpected argument"},
        slip{{"latch", "count", "-w", "1", "gate"}, "-w works only with 'holdfast latch wait'"},
        slip{{"latch", "wait", "-w", "gate"}, "-w: 'gate' is not a duration"},
        slip{{"latch", "wait", "a{}b"}, "an empty '{}'"},
        slip{{"latch", "wait", "--url", "unix:///a unix:///b unix:///c", "gate"},
             "this verb asks one server"}));

INSTANTIATE_TEST_SUITE_P(
    OfCounters, Slips,
    ::testing::Values(
        slip{{"run", "--slots", "0", "job", "true"}, "--slots"},
        slip{{"run", "--slots", "some", "job", "true"}, "--slots"},
        slip{{"run", "--slots", "2", "--fair", "job", "true"},
             "--fair and --slots are locks of different kinds: choose one"},
        slip{{"run", "--slots", "2", "--rate", "1/1m", "job", "true"}, "--slots and --rate are"},
        slip{{"run", "--slots", "2", "--with", "other", "job", "true"},
             "--with cannot be used with --slots"},
        slip{{"run", "--rate", "10", "job", "true"}, "'10' is not a rate; give a whole number"},
        slip{{"run", "--rate", "0/1m", "job", "true"}, "'0/1m' is not a rate"},
        slip{{"run", "--rate", "1.5/1m", "job", "true"}, "'1.5/1m' is not a rate"},
        slip{{"run", "--rate", "2147483648/1m", "job", "true"}, "from 1 to 2147483647"},
        slip{{"run", "--rate", "1/soon", "job", "true"}, "--rate: 'soon' is not a duration"},
        slip{{"run", "--rate", "1/0", "job", "true"}, "the time after the slash must be from 1ms"},
        slip{{"run", "--rate", "1/5000d", "job", "true"}, "to ten years"},
        slip{{"run", "--rate", "1/1m", "--lease", "5s", "job", "true"},
             "--lease cannot be used with --rate, because --rate holds no lock"},
        slip{{"run", "--rate", "1/1m", "--hold-for", "5s", "job", "true"},
             "--hold-for cannot be used"},
        slip{{"run", "--slots", "2", "--url", "unix:///a unix:///b unix:///c", "job", "true"},
             "--slots and --rate cannot be used with a quorum"},
        slip{{"ls", "--type", "seat"}, "'seat' is not a type; give semaphore, permits, latch or "},
        slip{{"top", "--sort", "age"}, "'age' is not a sort key; give wait, held or name"},
        slip{{"top", "--count", "3"}, "--count works only with --json"},
        slip{{"unlock", "--force", "--yes", "--type", "seat", "job"},
             "'seat' is not a type; give token, semaphore, permits, latch or rate"}));

class Helps : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(OfVerbs, Helps,
                         ::testing::Values("run", "ls", "inspect", "wait", "unlock", "latch",
                                           "bench", "demo", "doctor", "server", "top", "ask",
                                           "take", "renew", "give"));

TEST_P(Helps, TellUsageAndStatuses) {
    const ended told = run({GetParam(), "--help"});
    EXPECT_EQ(told.status, 0);
    EXPECT_EQ(told.err, "");
    EXPECT_THAT(told.out,
                AllOf(HasSubstr("Usage: holdfast " + GetParam()), HasSubstr("Exit status:")));
    EXPECT_EQ(run({GetParam(), "-h"}).out, told.out);
    EXPECT_EQ(run({"help", GetParam()}).out, told.out);
}

TEST_P(Helps, KeepWithinALine) {
    std::istringstream lines{run({GetParam(), "--help"}).out};
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 80U) << line;
}

class LookingHelps : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(OfLookingVerbs, LookingHelps,
                         ::testing::Values("ls", "inspect", "wait", "unlock", "latch", "bench",
                                           "doctor", "top"));

TEST_P(LookingHelps, TellAnExampleAndWhatIsForPrograms) {
    EXPECT_THAT(run({GetParam(), "--help"}).out,
                AllOf(HasSubstr("Example"), HasSubstr("--url URL"), HasSubstr("--json")));
}

} // namespace
} // namespace holdfast::cli_test
