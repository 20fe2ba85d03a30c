// SPDX-License-Identifier: Apache-2.0
// Locks without a server of the user's: one is started, found by all, and ended.
#include "cli/private_server.hpp"
#include "support/redis_connection.hpp"

#include <fstream>
#include <memory>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::cli_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class PrivateServer : public with_private_server {};
HOLDFAST_ON_EACH_SERVER(PrivateServer);

TEST_P(PrivateServer, IsStartedWhenItIsNeededAndFoundByTheNext) {
    EXPECT_FALSE(runs());
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(runs());
    EXPECT_EQ(run({"run", "-n", "job", "--", "true"}).status, 1) << "a second server?";
    EXPECT_EQ(run({"run", "-n", "other", "--", "true"}).status, 0);
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
}

TEST_P(PrivateServer, IsOneForTwentyThatStartAtOnce) {
    constexpr std::int64_t many = 20;
    std::vector<std::unique_ptr<program>> all;
    for (std::int64_t i = 0; i < many; ++i)
        all.push_back(std::make_unique<program>(holding("job" + std::to_string(i))));
    for (const auto& each : all)
        ASSERT_EQ(each->line(), "held");
    // All of them hold now, and one server has them all.
    EXPECT_GE(status().at("keys").as_int64(), many);
    EXPECT_GE(status().at("connections").as_int64(), many);
}

TEST_P(PrivateServer, EndsWhenNobodyUsesItAndLeavesNoProcess) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    observed_process keeper{supervisor()};
    holder.close_stdin();
    holder.end();
    EXPECT_TRUE(server.ended_within(far_too_long));
    EXPECT_TRUE(keeper.ended_within(far_too_long));
    EXPECT_FALSE(fs::exists(folder / "holdfast" / "socket"));
}

TEST_P(PrivateServer, EndsAlthoughItHasGivenFencingTokensAndTheNextOnesAreGreater) {
    const auto token = [this] {
        return std::stoull(run({"run", "--fenced", "job", "printenv", "HOLDFAST_TOKEN"}).out);
    };
    program holder{holding("other")};
    ASSERT_EQ(holder.line(), "held");
    const std::uint64_t first = token();
    observed_process server{process()};
    holder.close_stdin();
    holder.end();
    EXPECT_TRUE(server.ended_within(far_too_long)) << "for its counter";
    EXPECT_GT(token(), first);
}

TEST_P(PrivateServer, EndsAlthoughAKilledWaiterHasLeftAPlaceInAQueue) {
    program holder{holding("job", {"--fair"})};
    ASSERT_EQ(holder.line(), "held");
    program waiter{holding("job", {"--fair"})};
    {
        support::redis_connection look{folder / "holdfast" / "socket"};
        ASSERT_TRUE(eventually([&] {
            return look.command({"LLEN", "redisson_lock_queue:{job}"}).integer == 1;
        }));
    }
    waiter.signal(SIGKILL);
    waiter.end();
    observed_process server{process()};
    holder.close_stdin();
    holder.end();
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServer, LingersForTheNextCommandOfAScript) {
    EXPECT_EQ(run({"run", "job", "--", "true"}, {"HOLDFAST_SERVER_LINGER=1h"}).status, 0);
    const pid_t first = process();
    EXPECT_EQ(run({"run", "job", "--", "true"}).status, 0);
    EXPECT_EQ(process(), first);
}

TEST_P(PrivateServer, StaysAsLongAsAKilledHoldersLeaseRuns) {
    program holder{holding("job", {"--lease", "1500ms"})};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    holder.signal(SIGKILL);
    holder.end();
    EXPECT_EQ(run({"run", "-n", "job", "--", "true"}).status, 1) << "the lock was forgotten";
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServer, DoesNotStayBecauseAKilledHolderIsKnown) {
    program holder{holding("job", {"--lease", "1500ms"})};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    std::string known;
    {
        support::redis_connection look{folder / "holdfast" / "socket"};
        ASSERT_TRUE(eventually([&] {
            const redis::reply all = look.command({"KEYS", "holdfast_client:*"});
            return !all.items.empty() && !(known = all.items.front().text).empty();
        }));
        ASSERT_GT(look.command({"PTTL", known}).integer, duration{far_too_long}.count());
    }
    EXPECT_EQ(status().at("keys").as_int64(), 1) << "the lock alone";
    holder.signal(SIGKILL);
    holder.end();
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServer, IsLookedAtByAllVerbs) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"ls", "--names"}).out, "job\n");
    EXPECT_EQ(run({"inspect", "job"}).status, 0);
    EXPECT_EQ(run({"wait", "-w", "0", "job"}).status, 1);
    EXPECT_EQ(run({"unlock", "--force", "--yes", "job"}).status, 0);
    EXPECT_EQ(run({"wait", "-w", "0", "job"}).status, 0);
}

TEST_P(PrivateServer, OutlivesWhoStartedIt) {
    program starter{holding("one")};
    ASSERT_EQ(starter.line(), "held");
    program other{holding("two")};
    ASSERT_EQ(other.line(), "held");
    const pid_t before = process();
    starter.signal(SIGKILL);
    starter.end();
    EXPECT_EQ(process(), before);
    EXPECT_EQ(run({"run", "-n", "two", "--", "true"}).status, 1);
    other.close_stdin();
    EXPECT_EQ(other.end().status, 0);
}

TEST_P(PrivateServer, HoldsNobodysOutputOpen) {
    const std::string piped = "'" + program_path() + "' run job -- echo done | cat";
    const program::exactly script = [&] {
        program::exactly words = holdfast({}, {"HOLDFAST_SERVER_LINGER=1h"});
        words.command.back() = "sh"; // in the place of the program
        words.command.insert(words.command.end(), {"-c", piped});
        return words;
    }();
    EXPECT_EQ(program{script}.end().out, "done\n");
    EXPECT_TRUE(runs());
}

TEST_P(PrivateServer, IsOnNoNetwork) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    std::set<std::string> sockets;
    for (const auto& each : fs::directory_iterator{"/proc/" + std::to_string(process()) + "/fd"})
        if (const std::string what = fs::read_symlink(each).string(); what.starts_with("socket:["))
            sockets.insert(what.substr(8, what.size() - 9));
    EXPECT_FALSE(sockets.empty());
    for (const char* const kind : {"tcp", "tcp6", "udp", "udp6"}) {
        std::ifstream table{std::string{"/proc/net/"} + kind};
        for (std::string line; std::getline(table, line);) {
            std::istringstream words{line};
            for (std::string word; words >> word;)
                EXPECT_FALSE(word.size() > 3 && sockets.contains(word)) << kind << ": " << line;
        }
    }
}

TEST_P(PrivateServer, IsReplacedWhenItWasKilled) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process keeper{supervisor()};
    ::kill(process(), SIGKILL);
    EXPECT_EQ(run({"run", "other", "--", "echo", "fine"}).out, "fine\n");
    EXPECT_TRUE(keeper.ended_within(far_too_long));
}

TEST_P(PrivateServer, EndsWithItsSupervisorAndIsReplaced) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    ::kill(supervisor(), SIGKILL);
    EXPECT_TRUE(server.ended_within(far_too_long));
    EXPECT_EQ(run({"run", "other", "--", "echo", "fine"}).out, "fine\n");
}

TEST_P(PrivateServer, EndsWhenItsFolderIsGoneBecauseTheNextOneWouldKnowNothingOfItsLocks) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    observed_process server{process()};
    fs::remove_all(folder / "holdfast");
    EXPECT_TRUE(server.ended_within(far_too_long));
}

TEST_P(PrivateServer, DoesNotMindStrangeNames) {
    folder /= "a b%20?#";
    fs::create_directory(folder);
    EXPECT_EQ(run({"run", "job", "--", "echo", "fine"}).out, "fine\n");
}

TEST_P(PrivateServer, IsToldNoPasswordWhichIsForAnotherServer) {
    EXPECT_EQ(run({"run", "job", "--", "echo", "fine"}, {"HOLDFAST_PASSWORD=secret"}).out,
              "fine\n");
}

TEST_P(PrivateServer, StopsWhenItIsToldUnlessItIsInUse) {
    EXPECT_EQ(run({"server", "stop"}).status, 0) << "there is none";
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    const ended refused = run({"server", "stop"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("is in use"));
    EXPECT_TRUE(runs());

    observed_process server{process()};
    EXPECT_EQ(run({"server", "stop", "--force"}).status, 0);
    EXPECT_TRUE(server.ended_within(duration::zero()));
    EXPECT_EQ(run({"server", "status"}).status, 1);
}

TEST_P(PrivateServer, IsNamedToPeople) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"run", "-n", "job", "true"}).err,
              "holdfast: lock 'job' is busy on this machine's private server\n");
    EXPECT_THAT(run({"run", "-v", "other", "true"}).err,
                HasSubstr("asking this machine's private server for lock 'other'\n"));
}

TEST_P(PrivateServer, ThatDoesNotRunHasNothingKnown) {
    const boost::json::object told = status();
    EXPECT_FALSE(told.at("running").as_bool());
    for (const char* const each :
         {"url", "program", "process", "uptime_seconds", "connections", "keys"})
        EXPECT_TRUE(told.at(each).is_null()) << each;
}

TEST_P(PrivateServer, ThatIsStoppedIsAnErrorWithinTenSeconds) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    ::kill(process(), SIGSTOP);
    const time_point start = boot_clock::now();
    const ended silent = run({"run", "other", "true"});
    EXPECT_LT(boot_clock::now() - start, std::chrono::seconds{10});
    EXPECT_EQ(silent.status, 69);
    EXPECT_THAT(silent.err, HasSubstr("does not answer; 'holdfast server stop --force' ends it"));
}

TEST_P(PrivateServer, ThatIsStuckCanBeEnded) {
    program holder{holding("job")};
    ASSERT_EQ(holder.line(), "held");
    ::kill(process(), SIGSTOP);
    const ended silent = run({"server", "status"});
    EXPECT_EQ(silent.status, 69);
    EXPECT_THAT(silent.err, HasSubstr("server stop --force"));
    EXPECT_EQ(run({"server", "stop", "--force"}).status, 0);
    EXPECT_EQ(run({"run", "job", "--", "echo", "fine"}).out, "fine\n");
}

} // namespace
} // namespace holdfast::cli_test
