// SPDX-License-Identifier: Apache-2.0
// `holdfast unlock --force`, `holdfast wait` and `holdfast bench`.
#include "cli/server_test.hpp"
#include "cli/terminal_session.hpp"
#include "support/redis_server.hpp"

#include <boost/json.hpp>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Unlock : public on_server {
protected:
    void await_listeners(std::int64_t count) {
        ASSERT_TRUE(eventually([&] {
            const ended told = run({"inspect", "--json", name}, url());
            return boost::json::parse(told.out).at("listeners").as_int64() == count;
        })) << "nobody waits for the lock";
    }

    /// Runs `holdfast unlock --force` on a terminal, and types the given letters.
    ended typed(const std::string& letters) {
        const std::string command = program_path() + " unlock --force " + name;
        program asked{
            program::exactly{
                {"sh", "-c", "echo '" + letters + "' | script -qec '" + command + "' /dev/null"}},
            url()};
        return asked.end();
    }
};
HOLDFAST_ON_EACH_SERVER(Unlock);

TEST_P(Unlock, TakesALockAwayAndSaysWhose) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    const ended told = run({"unlock", "--force", "--yes", "--json", name}, url());
    EXPECT_EQ(told.status, 0) << told.err;
    const boost::json::value all = boost::json::parse(told.out);
    EXPECT_TRUE(all.at("released").as_bool());
    EXPECT_EQ(all.at("was").at("name").as_string(), name);
    EXPECT_FALSE(is_locked());
    const ended again = run({"unlock", "--force", "--yes", name}, url());
    EXPECT_EQ(again.status, 1);
    EXPECT_EQ(again.err, "holdfast: 'job' was free\n");
}

TEST_P(Unlock, WakesWhoWaits) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    program waiter{shell("echo mine"), url()};
    await_waiter();
    EXPECT_EQ(run({"unlock", "--force", "-y", name}, url()).status, 0);
    EXPECT_EQ(waiter.line(), "mine");
}

TEST_P(Unlock, WakesTheNextInTheQueueOfAFairLock) {
    const std::string patient = url() + "?poll_bound=10s&lease_time=1h";
    program holder{until_closed({"--fair"}), patient};
    ASSERT_EQ(holder.line(), "held");
    program waiter{shell("echo mine", {"--fair"}), patient};
    await_listeners(1);
    const time_point before = boot_clock::now();
    EXPECT_EQ(run({"unlock", "--force", "-y", name}, url()).status, 0);
    EXPECT_EQ(waiter.line(), "mine");
    EXPECT_LT(boot_clock::now() - before, std::chrono::seconds{6}) << "it has looked by itself";
}

TEST_P(Unlock, TakesASharedLockFromAllItsReadersAndWakesWhoWaits) {
    const std::string patient = url() + "?poll_bound=1h&lease_time=1h";
    program one{until_closed({"-s"}), patient}, two{until_closed({"-s"}), patient};
    ASSERT_EQ(one.line(), "held");
    ASSERT_EQ(two.line(), "held");
    program waiter{until_closed({"-x"}), patient};
    await_listeners(1);
    EXPECT_EQ(run({"unlock", "--force", "-y", name}, url()).status, 0);
    ASSERT_EQ(waiter.line(), "held");
    program reader{shell("echo mine", {"-s"}), patient};
    await_listeners(1);
    EXPECT_EQ(run({"unlock", "--force", "-y", name}, url()).status, 0);
    EXPECT_EQ(reader.line(), "mine");
}

TEST_P(Unlock, TakesASharedLockFromTheReadersThatItHasShown) {
    const std::string first = "8743c9c0-0795-4907-87fd-6c719a6b4586:49";
    server().command({"HSET", name, "mode", "read", first, "1", first + "0", "1"});
    terminal_session asked{{program_path(), "unlock", "--force", "--url", url(), name},
                           {"TERM=xterm"}};
    (void)asked.expect("[y/N]");
    server().command({"HDEL", name, first, first + "0"});
    server().command({"HSET", name, "mode", "read", first + "1", "1"});
    asked.type("y\n");
    (void)asked.expect("was released meanwhile: those holders do not have it any more");
    EXPECT_EQ(asked.end(), 1);
    EXPECT_TRUE(is_locked());
    server().command({"HSET", name, first + "0", "1"});
    EXPECT_EQ(run({"unlock", "--force", "-y", name}, url()).status, 0);
    EXPECT_FALSE(is_locked());
}

TEST_P(Unlock, AsksOnATerminal) {
    server().command({"HSET", name, "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    const ended no = typed("n");
    EXPECT_EQ(no.status, 1);
    EXPECT_THAT(no.out, AllOf(HasSubstr("thread 49"), HasSubstr("Take the lock away? [y/N]"),
                              HasSubstr("nothing was changed")));
    EXPECT_TRUE(is_locked());
    EXPECT_EQ(typed("y").status, 0);
    EXPECT_FALSE(is_locked());
}

TEST_P(Unlock, TakesNothingFromAHolderThatItDidNotShow) {
    server().command({"HSET", name, "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    terminal_session asked{{program_path(), "unlock", "--force", "--url", url(), name},
                           {"TERM=xterm"}};
    (void)asked.expect("[y/N]");
    server().command({"DEL", name});
    server().command({"HSET", name, "8743c9c0-0795-4907-87fd-6c719a6b4586:50", "1"});
    asked.type("y\n");
    (void)asked.expect("was released meanwhile");
    EXPECT_EQ(asked.end(), 1);
    EXPECT_TRUE(is_locked());
}

TEST_P(Unlock, TouchesNothingThatIsNoLock) {
    server().command({"SET", name, "x"});
    const ended told = run({"unlock", "--force", "--yes", name}, url());
    EXPECT_EQ(told.status, 65);
    EXPECT_THAT(told.err, HasSubstr("is not a lock but a string"));
    EXPECT_TRUE(is_locked());
}

class Wait : public on_server {};
HOLDFAST_ON_EACH_SERVER(Wait);

TEST_P(Wait, ReturnsAtOnceForAFreeLock) {
    const ended free = run({"wait", name}, url());
    EXPECT_EQ(free.status, 0);
    EXPECT_EQ(free.out + free.err, "");
}

TEST_P(Wait, IsWokenByTheReleaseAndTakesNothing) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    program waiter{{"wait", "--json", name}, url()};
    await_waiter();
    holder.close_stdin();
    const ended told = waiter.end();
    EXPECT_EQ(told.status, 0);
    const boost::json::value all = boost::json::parse(told.out);
    EXPECT_TRUE(all.at("free").as_bool());
    EXPECT_GE(all.at("waited_ms").as_int64(), 0);
    EXPECT_EQ(holder.end().status, 0);
    EXPECT_THAT(support::lock_keys(server()), IsEmpty());
}

TEST_P(Wait, IsWokenByTheLastReaderAndByAWriter) {
    for (const char* const option : {"-s", "-x"}) {
        program holder{until_closed({option}), url()};
        ASSERT_EQ(holder.line(), "held");
        program waiter{{"wait", name}, url() + "?poll_bound=1h"};
        ASSERT_TRUE(eventually([&] {
            const std::string channel = "redisson_rwlock:{" + name + "}";
            return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
        }));
        holder.close_stdin();
        EXPECT_EQ(waiter.end().status, 0) << option;
    }
}

TEST_P(Wait, SeesTheReleaseOfAFairLockSoon) {
    program holder{until_closed({"--fair"}), url() + "?lease_time=1h"};
    ASSERT_EQ(holder.line(), "held");
    // A fair lock tells only the next in its queue, so the waiter polls, however long the lease is.
    program waiter{{"wait", name}, url()};
    await_waiter();
    holder.close_stdin();
    EXPECT_EQ(waiter.end().status, 0);
}

TEST_P(Wait, GivesUpWhenTimeoutIsOver) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_EQ(run({"wait", "-w", "0", name}, url()).status, 1);
    const ended late = run({"wait", "-w", "50ms", "--json", name}, url());
    EXPECT_EQ(late.status, 1);
    EXPECT_THAT(late.out, HasSubstr("\"free\":false"));
    EXPECT_TRUE(is_locked());
}

TEST_P(Wait, SaysWhatIsNoLock) {
    server().command({"SET", name, "somebody's data"});
    const ended told = run({"wait", name}, url());
    EXPECT_EQ(told.status, 65);
    EXPECT_EQ(told.err, "holdfast: 'job' is not a lock but a string\n");
}

class Bench : public on_server {};
HOLDFAST_ON_EACH_SERVER(Bench);

TEST_P(Bench, MeasuresAndLeavesNothingBehind) {
    const ended told = run({"bench", "-t", "50ms", "--threads", "4", "--json"}, url());
    EXPECT_EQ(told.status, 0) << told.err;
    const boost::json::array all = boost::json::parse(told.out).at("measurements").as_array();
    ASSERT_EQ(all.size(), 3u);
    for (const boost::json::value& each : all) {
        EXPECT_GT(each.at("pairs").as_int64(), 0);
        EXPECT_LE(each.at("p50_us").as_double(), each.at("p99_us").as_double());
    }
    EXPECT_EQ(all[2].at("threads").as_int64(), 4);
    EXPECT_EQ(all[2].at("locks").as_int64(), 1);
    EXPECT_EQ(server().command({"DBSIZE"}).integer, 0);
    EXPECT_THAT(run({"bench", "-t", "10ms"}, url()).out,
                AllOf(HasSubstr("PAIRS/S"),
                      HasSubstr("8 threads, one lock (hand-off inside this process)")));
}

TEST_P(Bench, SaysThatReplicasAreMissing) {
    const ended told =
        run({"bench", "-t", "10ms", "--replicas", "1"}, url() + "?unavailable_timeout=200ms");
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.err,
                HasSubstr(" replied, but its replicas did not confirm: 0 of 1 replicas confirmed"));
}

TEST_P(Bench, NeedsNoRightThatALockDoesNotNeed) {
    server().command({"ACL", "SETUSER", "default", "-type", "-pubsub", "-hgetall"});
    const ended told = run({"bench", "-t", "10ms"}, url());
    EXPECT_EQ(told.status, 0) << told.err;
}

TEST_P(Bench, SaysThatNobodyIsThere) {
    server().stop();
    EXPECT_EQ(run({"bench", "-t", "10ms"}, url()).status, 69);
}

} // namespace
} // namespace holdfast::cli_test
