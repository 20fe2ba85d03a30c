// SPDX-License-Identifier: Apache-2.0
// `holdfast run --with`: several locks as one.
#include "cli/server_test.hpp"

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;

class With : public on_server {
protected:
    const std::string h = "'" + program_path() + "' ";
};
HOLDFAST_ON_EACH_SERVER(With);

TEST_P(With, AllAreHeldWhileTheCommandRunsAndFreeBehindIt) {
    const ended told =
        run(shell(h + "ls --names | sort | xargs", {"--with", "a", "--with", "b"}), url());
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_EQ(told.out, "a b job\n");
    EXPECT_EQ(run({"ls", "--names"}, url()).out, "");
}

TEST_P(With, OneThatIsBusyIsEnoughToBeBusyAndNothingIsKept) {
    program holder{{"run", "b", "sh", "-c", "echo held; read nothing"}, url()};
    ASSERT_EQ(holder.line(), "held");
    const ended busy = run(shell("true", {"-n", "--with", "a", "--with", "b"}), url());
    EXPECT_EQ(busy.status, 1);
    EXPECT_EQ(busy.err, "holdfast: lock 'job + a + b' is busy on " + url() + "\n");
    EXPECT_FALSE(is_locked());
}

TEST_P(With, TheLossOfOneIsTheLossOfAll) {
    program holder{shell("echo held; sleep 60", {"--lease", "1", "--with", "a"}), url()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"unlock", "--force", "--yes", "a"}, url()).status, 0);
    EXPECT_EQ(holder.end().status, 75);
    EXPECT_FALSE(is_locked());
}

TEST_P(With, TheCommandKnowsThemAll) {
    const ended told =
        run(shell("printenv HOLDFAST_LOCK HOLDFAST_LOCKS", {"--with", "a", "--with", "b"}), url());
    EXPECT_EQ(told.out, "job\na\nb\njob\n");
}

TEST_P(With, OneThatIsHeldAroundIsToldAsSuch) {
    const ended busy = run(shell(h + "run -n --with a other true", {"--with", "a"}), url());
    EXPECT_EQ(busy.status, 1);
    EXPECT_THAT(busy.err, HasSubstr("a 'holdfast run' around this command holds it"));
}

TEST_P(With, EachHasAToken) {
    const ended told =
        run(shell("printenv HOLDFAST_TOKEN HOLDFAST_TOKENS", {"--fenced", "--with", "a"}), url());
    EXPECT_EQ(told.out, "1\n1\n1\n");
    const ended one = run(shell("printenv HOLDFAST_TOKENS", {"--fenced"}), url());
    EXPECT_EQ(one.status, 1);
}

TEST_P(With, SeveralAreSharedByManyAtOnce) {
    program reader{until_closed({"-s", "--with", "a"}), url()};
    ASSERT_EQ(reader.line(), "held");
    EXPECT_EQ(run(shell("true", {"-n", "-s", "--with", "a"}), url()).status, 0);
    EXPECT_EQ(run(shell("true", {"-n", "-x", "--with", "a"}), url()).status, 1);
}

} // namespace
} // namespace holdfast::cli_test
