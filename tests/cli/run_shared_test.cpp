// SPDX-License-Identifier: Apache-2.0
// `holdfast run -s` and `-x`: many at once, or one alone.
#include "cli/server_test.hpp"
#include "support/lock_keys.hpp"

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SharedRun : public on_server {
protected:
    std::string mode() { return server().command({"HGET", name, "mode"}).text; }

    /// Who waits for a lock of this kind has asked in vain, and listens.
    void await_shared_waiter() {
        ASSERT_TRUE(eventually([&] {
            const std::string channel = "redisson_rwlock:{" + name + "}";
            return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
        })) << "nobody waits for the lock";
    }

    int tries(const char* option) { return run(shell("true", {"-n", option}), url()).status; }
};
HOLDFAST_ON_EACH_SERVER(SharedRun);

TEST_P(SharedRun, ManyAtOnceAndNobodyElse) {
    program one{until_closed({"-s"}), url()}, another{until_closed({"--shared"}), url()};
    ASSERT_EQ(one.line(), "held");
    ASSERT_EQ(another.line(), "held");
    EXPECT_EQ(mode(), "read");
    EXPECT_EQ(tries("-s"), 0);
    EXPECT_EQ(tries("-x"), 1);
    one.close_stdin();
    EXPECT_EQ(one.end().status, 0);
    EXPECT_EQ(tries("-x"), 1) << "the other one goes on";
    another.close_stdin();
    EXPECT_EQ(another.end().status, 0);
    EXPECT_EQ(tries("-x"), 0);
    EXPECT_THAT(support::lock_keys(server()), IsEmpty());
}

TEST_P(SharedRun, OneAloneExcludesBothSides) {
    program alone{until_closed({"--exclusive"}), url()};
    ASSERT_EQ(alone.line(), "held");
    EXPECT_EQ(mode(), "write");
    EXPECT_EQ(tries("-x"), 1);
    EXPECT_EQ(tries("-s"), 1);
    alone.close_stdin();
    EXPECT_EQ(alone.end().status, 0);
    EXPECT_FALSE(is_locked());
}

TEST_P(SharedRun, WhoWaitsIsWoken) {
    program alone{until_closed({"-x"}), url() + "?poll_bound=1h"};
    ASSERT_EQ(alone.line(), "held");
    program reader{until_closed({"-s"}), url() + "?poll_bound=1h"};
    await_shared_waiter();
    alone.close_stdin();
    ASSERT_EQ(reader.line(), "held");
    program writer{shell("echo mine", {"-x"}), url() + "?poll_bound=1h"};
    await_shared_waiter();
    reader.close_stdin();
    EXPECT_EQ(writer.line(), "mine");
    EXPECT_EQ(writer.end().status, 0);
}

TEST_P(SharedRun, AWriterThatWaitsKeepsNewReadersAway) {
    program reader{until_closed({"-s"}), url()};
    ASSERT_EQ(reader.line(), "held");
    program writer{shell("echo mine", {"-x"}), url()};
    await_shared_waiter();
    EXPECT_EQ(tries("-s"), 1);
    reader.close_stdin();
    EXPECT_EQ(writer.line(), "mine");
}

TEST_P(SharedRun, ALockOfAnotherKindIsRefusedAtOnce) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    for (const char* const option : {"-s", "-x"}) {
        const ended refused = run(shell("true", {option}), url());
        EXPECT_EQ(refused.status, 65) << option;
        EXPECT_THAT(refused.err,
                    AllOf(HasSubstr("WRONGTYPE"), HasSubstr("need a name of their own")));
    }
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
    program reader{until_closed({"-s"}), url()};
    ASSERT_EQ(reader.line(), "held");
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{"-n"}, {}, {"--fair"}, {"--fenced", "-w", "1m"}}) {
        const ended refused = run(shell("echo ran", options), url());
        EXPECT_EQ(refused.status, 65);
        EXPECT_EQ(refused.out, "");
        EXPECT_THAT(refused.err, HasSubstr("the key is a hash (a read-write lock), and a "));
    }
    reader.close_stdin();
    EXPECT_EQ(reader.end().status, 0);
    server().command({"SET", name, "somebody's data"});
    const ended none = run(shell("true", {"-s"}), url());
    EXPECT_EQ(none.status, 65);
    EXPECT_THAT(none.err, HasSubstr("WRONGTYPE"));
}

} // namespace
} // namespace holdfast::cli_test
