// SPDX-License-Identifier: Apache-2.0
// `holdfast run` inside of `holdfast run`: what the inner one knows of the outer one.
#include "cli/server_test.hpp"

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Nested : public on_server {
protected:
    const std::string h = "'" + program_path() + "' ";
    const std::string around = "is held by a 'holdfast run' around this command (HOLDFAST_LOCKS)";
};
HOLDFAST_ON_EACH_SERVER(Nested);

TEST_P(Nested, TheSameLockIsAWaitWithoutEndWhichIsTold) {
    program outer{shell(h + "run job true"), url()};
    EXPECT_TRUE(eventually([&] { return outer.said("holdfast: lock 'job' " + around); }));
    outer.signal(SIGTERM);
    EXPECT_EQ(outer.end().status, 128 + SIGTERM);
}

TEST_P(Nested, TheSameLockIsSeenBehindAnotherOne) {
    program outer{shell(h + "run other " + h + "run job true"), url()};
    EXPECT_TRUE(eventually([&] { return outer.said("holdfast: lock 'job' " + around); }));
    const ended busy =
        run(shell(h + "run other " + h + "run -n job true", {"-n", "-E", "9"}), url());
    EXPECT_EQ(busy.status, 9);
}

TEST_P(Nested, ABusyLockThatIsHeldAroundIsToldAsSuch) {
    const ended busy = run(shell(h + "run -n job true"), url());
    EXPECT_EQ(busy.status, 1);
    EXPECT_EQ(busy.err, "holdfast: lock 'job' is busy on " + url() +
                            ": a 'holdfast run' around this command holds it\n");
}

TEST_P(Nested, AnotherLockIsGivenWithoutAWord) {
    const ended fine = run(shell(h + "run other printenv HOLDFAST_LOCK HOLDFAST_LOCKS"), url());
    EXPECT_EQ(fine.status, 0);
    EXPECT_EQ(fine.out, "other\njob\nother\n");
    EXPECT_EQ(fine.err, "");
}

TEST_P(Nested, ANameMayHaveAnyByte) {
    const std::string odd = "a%\nb";
    const ended told =
        run({"run", odd, "sh", "-c", h + "run other printenv HOLDFAST_LOCKS"}, url());
    EXPECT_EQ(told.out, "a%25%0Ab\nother\n");
    const ended busy = run({"run", odd, "sh", "-c", h + "run -n \"$HOLDFAST_LOCK\" true"}, url());
    EXPECT_THAT(busy.err, HasSubstr("around this command holds it"));
}

TEST_P(Nested, LocksOfAnotherServerDoNotCount) {
    support::redis_server other;
    const ended fine =
        run(shell(h + "run --url " + other.url() + " job printenv HOLDFAST_LOCKS"), url());
    EXPECT_EQ(fine.out, "job\n");
    EXPECT_EQ(fine.err, "");
}

TEST_P(Nested, AScriptCanLockItself) {
    const std::string script = "[ \"$HOLDFAST_LOCK\" = job ] || exec " + h +
                               "run job -- sh -c \"$0\" \"$0\"; echo \"in $HOLDFAST_LOCK\"";
    const ended once = program{program::exactly{{"sh", "-c", script, script}}, url()}.end();
    EXPECT_EQ(once.out, "in job\n") << once.err;
}

} // namespace
} // namespace holdfast::cli_test
