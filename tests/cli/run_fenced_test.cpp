// SPDX-License-Identifier: Apache-2.0
// `holdfast run --fenced`: the command knows its lock's fencing token.
#include "cli/server_test.hpp"

#include <cstdint>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class FencedRun : public on_server {
protected:
    std::string counter() { return server().command({"GET", "redisson_lock_token:{job}"}).text; }
    ended token_with(std::vector<std::string> options) {
        return run(shell("echo ${HOLDFAST_TOKEN-none}", std::move(options)), url());
    }
    const std::string h = "'" + program_path() + "' ";
};
HOLDFAST_ON_EACH_SERVER(FencedRun);

TEST_P(FencedRun, GivesTheCommandATokenThatGrows) {
    EXPECT_EQ(token_with({"--fenced"}).out, "1\n");
    EXPECT_EQ(token_with({"--fenced=counted"}).out, "2\n");
    server().command({"INCR", "redisson_lock_token:{job}"}); // as a JVM does
    EXPECT_EQ(token_with({"--fenced", "--lease", "10s", "-w", "5"}).out, "4\n");
    EXPECT_EQ(counter(), "4");
    EXPECT_FALSE(is_locked());
}

TEST_P(FencedRun, GivesDatedTokensThatOutliveTheServersData) {
    const std::uint64_t before = std::stoull(token_with({"--fenced=dated"}).out);
    EXPECT_GT(before, 1'600'000'000'000'000U);
    EXPECT_EQ(counter(), std::to_string(before));
    server().command({"FLUSHALL"});
    EXPECT_GT(std::stoull(token_with({"--fenced=dated"}).out), before);
}

TEST_P(FencedRun, WithoutItThereIsNoTokenAndNoCounter) {
    EXPECT_EQ(token_with({}).out, "none\n");
    EXPECT_EQ(server().command({"EXISTS", "redisson_lock_token:{job}"}).integer, 0);
}

TEST_P(FencedRun, ATokenIsAlwaysThatOfTheInnermostLock) {
    const std::string inside = "echo $HOLDFAST_LOCK ${HOLDFAST_TOKEN-none}";
    token_with({"--fenced"});
    EXPECT_EQ(
        run(shell(h + "run --fenced other sh -c '" + inside + "'; " + inside, {"--fenced"}), url())
            .out,
        "other 1\njob 2\n");
    EXPECT_EQ(run(shell(h + "run other sh -c '" + inside + "'", {"--fenced"}), url()).out,
              "other none\n");
}

TEST_P(FencedRun, ExcludesWhoRunsWithoutIt) {
    program holder{until_closed({"--fenced"}), url()};
    EXPECT_EQ(holder.line(), "held");
    EXPECT_EQ(run(shell("true", {"-n"}), url()).status, 1);
    EXPECT_EQ(token_with({"-n", "--fenced"}).status, 1);
    EXPECT_EQ(counter(), "1") << "who is busy takes no token";
}

TEST_P(FencedRun, TellsTheTokenWhereMoreIsWanted) {
    EXPECT_THAT(token_with({"-v", "--fenced"}).err,
                AllOf(HasSubstr("has lock 'job' after "), HasSubstr(", with the token 1\n")));
    EXPECT_THAT(token_with({"-v"}).err, Not(HasSubstr("token")));
}

TEST_P(FencedRun, ACounterThatIsNoNumberIsTold) {
    server().command({"SET", "redisson_lock_token:{job}", "seven"});
    const ended refused = token_with({"--fenced"});
    EXPECT_EQ(refused.status, 69);
    EXPECT_THAT(refused.err, HasSubstr("not an integer"));
    EXPECT_FALSE(is_locked());
}

TEST_P(FencedRun, TheRightThatIsMissingIsTold) {
    server().command({"ACL", "SETUSER", "default", "-incrby"});
    const ended refused = token_with({"--fenced"});
    EXPECT_EQ(refused.status, 69);
    EXPECT_THAT(refused.err, HasSubstr("granted: +incrby"));
    EXPECT_FALSE(is_locked());
}

} // namespace
} // namespace holdfast::cli_test
