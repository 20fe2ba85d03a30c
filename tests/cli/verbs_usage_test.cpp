// SPDX-License-Identifier: Apache-2.0
// What each verb tells of itself; mistakes with those that look. None of these needs a server.
#include "cli/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
        slip{{"inspct"}, "no verb inspct: did you mean inspect? See 'holdfast --help'"},
        slip{{"--versoin"}, "unknown option --versoin: did you mean --version?"},
        slip{{"xyzzy"}, "no verb xyzzy; see 'holdfast --help'"},
        slip{{"serve"}, "no verb serve: did you mean server?"},
        slip{{"run", "--verbos"}, "did you mean --verbose? See 'holdfast run --help'"},
        slip{{"ls", "--jsno"}, "--jsno: did you mean --json? See 'holdfast ls --help'"},
        slip{{"ls", "--ulr=redis://x"}, "unknown option --ulr: did you mean --url?"},
        slip{{"ls", "--frobnicate"}, "unknown option --frobnicate; see 'holdfast ls --help'"},
        slip{{"ls", "a", "b"}, "'b' is one word too many; see 'holdfast ls --help'"},
        slip{{"ls", "--json", "-1"}, "exclude each other"}, slip{{"ls", "--limit", "0"}, "--limit"},
        slip{{"inspect"}, "NAME is missing"}, slip{{"inspect", ""}, "must not be empty"},
        slip{{"wait"}, "NAME is missing"},
        slip{{"wait", "-w", "soon", "job"}, "-w: 'soon' is no length of time"},
        slip{{"wait", "-w", "job"}, "-w: 'job' is no length of time"},
        slip{{"unlock"}, "NAME is missing"},
        slip{{"unlock", "job"}, "only its holder can release a lock"},
        slip{{"unlock", "--force", "job"}, "give --yes"},
        slip{{"bench", "-t", "0"}, "more than nothing"},
        slip{{"bench", "--threads", "1"}, "--threads"},
        slip{{"doctor", "--jsn"}, "did you mean --json?"},
        slip{{"ls", ""}, "no lock has an empty name; see 'holdfast ls --help'"},
        slip{{"doctor", ""}, "no lock has an empty name; see 'holdfast doctor --help'"},
        slip{{"wait", "job", "--", "make"}, "'make' is one word too many"},
        slip{{"inspect", "--"}, "NAME is missing"},
        slip{{"inspect", "--url"}, "--url needs a value; see 'holdfast inspect --help'"},
        slip{{"wait", "-w", "1", "-w", "2", "job"}, "--wait is given more than once; see"},
        slip{{"bench", "job"}, "'job' is one word too many; see 'holdfast bench --help'"},
        slip{{"lock", "job"}, "no verb lock: did you mean run?"},
        slip{{"list"}, "no verb list: did you mean ls?"},
        slip{{"help", "inspct"}, "no verb inspct: did you mean inspect?"},
        slip{{"inspect", "--type", "seat", "job"}, "'seat' is no type; it can be semaphore"},
        slip{{"inspect", "a{}b"}, "an empty '{}'"}));

INSTANTIATE_TEST_SUITE_P(
    OfLatches, Slips,
    ::testing::Values(
        slip{{"latch"}, "set, down, wait, count or erase; see 'holdfast latch --help'"},
        slip{{"latch", "st", "gate"},
             "'st' is nothing that can be done with a latch: did you mean "
             "set? See 'holdfast latch --help'"},
        slip{{"latch", "wait"}, "which latch? Its NAME is missing"},
        slip{{"latch", "set", "gate"}, "'holdfast latch set NAME NUMBER'"},
        slip{{"latch", "set", "gate", "0"}, "'0' is no whole number from 1 to 2147483647"},
        slip{{"latch", "set", "gate", "2147483648"}, "'2147483648' is no whole number"},
        slip{{"latch", "down", "gate", "1.5"}, "'1.5' is no whole number"},
        slip{{"latch", "down", "gate", "1", "2"}, "'2' is one word too many"},
        slip{{"latch", "wait", "gate", "1"}, "'1' is one word too many"},
        slip{{"latch", "count", "-w", "1", "gate"}, "-w is for 'holdfast latch wait'"},
        slip{{"latch", "wait", "-w", "gate"}, "-w: 'gate' is no length of time"},
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
             "--with is for locks, and not for --slots"},
        slip{{"run", "--rate", "10", "job", "true"}, "'10' is no rate; it is a whole number"},
        slip{{"run", "--rate", "0/1m", "job", "true"}, "'0/1m' is no rate"},
        slip{{"run", "--rate", "1.5/1m", "job", "true"}, "'1.5/1m' is no rate"},
        slip{{"run", "--rate", "2147483648/1m", "job", "true"}, "from 1 to 2147483647"},
        slip{{"run", "--rate", "1/soon", "job", "true"}, "--rate: 'soon' is no length of time"},
        slip{{"run", "--rate", "1/0", "job", "true"}, "the time after the slash is from 1ms"},
        slip{{"run", "--rate", "1/5000d", "job", "true"}, "to ten years"},
        slip{{"run", "--rate", "1/1m", "--lease", "5s", "job", "true"},
             "--lease is for what is held; with --rate nothing is held"},
        slip{{"run", "--rate", "1/1m", "--hold-for", "5s", "job", "true"}, "--hold-for is for"},
        slip{{"run", "--slots", "2", "--url", "unix:///a unix:///b unix:///c", "job", "true"},
             "--slots and --rate are not for a quorum"},
        slip{{"ls", "--type", "seat"},
             "'seat' is no type; it can be semaphore, permits, latch or "},
        slip{{"unlock", "--force", "--yes", "--type", "seat", "job"},
             "'seat' is no type; it can be token, semaphore, permits, latch or rate"}));

class Helps : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(OfVerbs, Helps,
                         ::testing::Values("run", "ls", "inspect", "wait", "unlock", "latch",
                                           "bench", "demo", "doctor", "server"));

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
                                           "doctor"));

TEST_P(LookingHelps, TellAnExampleAndWhatIsForPrograms) {
    EXPECT_THAT(run({GetParam(), "--help"}).out,
                AllOf(HasSubstr("Example"), HasSubstr("--url URL"), HasSubstr("--json")));
}

} // namespace
} // namespace holdfast::cli_test
