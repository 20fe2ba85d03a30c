// SPDX-License-Identifier: Apache-2.0
// `holdfast ask`, and `holdfast run --on-ask`.
#include "cli/server_test.hpp"

#include <boost/json.hpp>

#include <utility>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// End of a script that waits for a signal with a trap.
const std::string wait_for_signals = "while :; do sleep 0.1; done";

class Ask : public on_server {
protected:
    /// The lease is long, so that no renewal happens during the test.
    std::vector<std::string> holder(const std::string& script, std::vector<std::string> options) {
        options.insert(options.begin(), {"--lease", "1h"});
        return shell(script, std::move(options));
    }
};
HOLDFAST_ON_EACH_SERVER(Ask);

TEST_P(Ask, HolderThatEndsOnTheSignalFreesTheLock) {
    program asked{holder("trap 'echo leaving; exit 0' USR1; echo held; " + wait_for_signals,
                         {"--on-ask", "USR1"}),
                  url()};
    ASSERT_EQ(asked.line(), "held");
    const ended told =
        run({"ask", "--reason", "deploy \x1b[31m", "-w", "1m", "--json", name}, url());
    EXPECT_EQ(told.status, 0) << told.err;
    const boost::json::value all = boost::json::parse(told.out);
    EXPECT_EQ(all.at("name").as_string(), name);
    EXPECT_TRUE(all.at("free").as_bool());
    EXPECT_EQ(all.at("asked").as_array().size(), 1u);
    EXPECT_EQ(asked.line(), "leaving");
    const ended left = asked.end();
    EXPECT_EQ(left.status, 0);
    EXPECT_THAT(left.err, HasSubstr(" asks for lock 'job': deploy "));
    EXPECT_EQ(left.err.find('\x1b'), std::string::npos);
    EXPECT_FALSE(is_locked());
}

TEST_P(Ask, HolderThatGoesOnKeepsTheLock) {
    program asked{
        holder("trap 'echo signal' USR1; echo held; read nothing; read nothing; echo done",
               {"--on-ask", "USR1"}),
        url()};
    ASSERT_EQ(asked.line(), "held");
    const ended told = run({"ask", name}, url());
    EXPECT_EQ(told.status, 1);
    EXPECT_THAT(told.err, HasSubstr("asked the holder of 'job': "));
    ASSERT_TRUE(eventually([&] {
        return server().command({"EXISTS", "holdfast_asked:{job}"}).integer == 1;
    }));
    EXPECT_EQ(run({"ask", "-w", "0.2", "--json", name}, url()).status, 1);
    EXPECT_TRUE(is_locked());
}

TEST_P(Ask, HolderThatIgnoresTheSignalIsKilledAfterTheGrace) {
    program asked{
        holder("trap '' TERM; echo held; " + wait_for_signals, {"--on-ask", "TERM:100ms"}), url()};
    ASSERT_EQ(asked.line(), "held");
    EXPECT_EQ(run({"ask", "-w", "1m", name}, url()).status, 0);
    const ended killed = asked.end();
    EXPECT_EQ(killed.status, 128 + 9);
    EXPECT_THAT(killed.err, HasSubstr("the command did not stop: killing it"));
}

TEST_P(Ask, LockThatTheNextProgramTakesCountsAsReleased) {
    program asked{holder("trap 'exit 0' TERM; echo held; " + wait_for_signals,
                         {"--fair", "--on-ask", "TERM"}),
                  url()};
    ASSERT_EQ(asked.line(), "held");
    program next{until_closed({"--fair", "--lease", "1h"}), url()};
    ASSERT_TRUE(eventually([&] {
        return server().command({"LLEN", "redisson_lock_queue:{job}"}).integer == 1;
    }));
    const ended told = run({"ask", "-w", "1m", "--json", name}, url());
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_EQ(next.line(), "held");
    EXPECT_TRUE(is_locked());
}

TEST_P(Ask, HoldForEndsEarly) {
    program asked{holder("echo held", {"--on-ask", "USR1", "--hold-for", "1h"}), url()};
    ASSERT_EQ(asked.line(), "held");
    EXPECT_EQ(run({"ask", "-w", "1m", name}, url()).status, 0);
    EXPECT_EQ(asked.end().status, 0);
}

TEST_P(Ask, FreeLockHasNobodyToAsk) {
    const ended told = run({"ask", "-w", "1m", name}, url());
    EXPECT_EQ(told.status, 0);
    EXPECT_EQ(told.err, "holdfast: 'job' is free: nobody was asked\n");
}

TEST_P(Ask, HolderThatIsNotHoldfastIsNamed) {
    server().command({"HSET", name, "8743c9c0-0795-4907-87fd-6c719a6b4586:49", "1"});
    const ended told = run({"ask", name}, url());
    EXPECT_EQ(told.status, 1);
    EXPECT_THAT(told.err, AllOf(HasSubstr("thread 49"), HasSubstr("does not use holdfast")));
}

TEST_P(Ask, NameOfSomethingElseIsRefused) {
    server().command({"RPUSH", name, "x"});
    EXPECT_EQ(run({"ask", name}, url()).status, 65);
}

TEST_P(Ask, StoreThatHasNoWishesIsRefused) {
    for (const std::string other : {"zk://127.0.0.1", "mysql://127.0.0.1/locks"}) {
        const ended asks = run({"ask", name}, other);
        EXPECT_EQ(asks.status, 64);
        EXPECT_THAT(asks.err, HasSubstr("Redis and Valkey can"));
        const ended runs = run({"run", "--on-ask", "TERM", name, "true"}, other);
        EXPECT_EQ(runs.status, 64);
        EXPECT_THAT(runs.err, HasSubstr("Redis and Valkey do"));
    }
}

TEST_P(Ask, ReasonThatIsTooLongIsRefused) {
    EXPECT_EQ(run({"ask", "--reason", std::string(1000, 'x'), name}, url()).status, 0);
    const ended refused = run({"ask", "--reason", std::string(1001, 'x'), name}, url());
    EXPECT_EQ(refused.status, 64);
    EXPECT_THAT(refused.err, HasSubstr("--reason has 1001 bytes; the limit is 1000"));
}

} // namespace
} // namespace holdfast::cli_test
