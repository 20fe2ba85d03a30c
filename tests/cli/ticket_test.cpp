// SPDX-License-Identifier: Apache-2.0
// `holdfast take`, `holdfast renew` and `holdfast give`.
#include "cli/server_test.hpp"

#include <boost/json.hpp>

#include <csignal>

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Ticket : public on_server {
protected:
    std::string taken(std::vector<std::string> options = {}) {
        options.insert(options.begin(), "take");
        options.push_back(name);
        const ended told = run(options, url());
        EXPECT_EQ(told.status, 0) << told.err;
        EXPECT_THAT(told.out, StartsWith("holdfast1:"));
        return told.out.substr(0, told.out.find('\n'));
    }
    std::int64_t lease_left() { return server().command({"PTTL", name}).integer; }
};
HOLDFAST_ON_EACH_SERVER(Ticket);

TEST_P(Ticket, KeepsTheLockUntilItIsGivenBack) {
    const std::string text = taken();
    EXPECT_TRUE(is_locked());
    EXPECT_GT(lease_left(), 9 * 60'000);
    const ended other = run({"take", "-w", "0", name}, url());
    EXPECT_EQ(other.status, 1);
    EXPECT_EQ(other.out, "");
    EXPECT_EQ(other.err, "holdfast: 'job' is busy\n");
    EXPECT_EQ(run({"renew", "--lease", "1h", text}, url()).status, 0);
    EXPECT_GT(lease_left(), 50 * 60'000);
    EXPECT_EQ(run({"give", text}, url()).status, 0);
    EXPECT_FALSE(is_locked());
    for (const char* verb : {"give", "renew"}) {
        const ended late = run({verb, text}, url());
        EXPECT_EQ(late.status, 75) << verb;
        EXPECT_THAT(late.err, HasSubstr("is no longer held by this ticket"));
    }
}

TEST_P(Ticket, GiveWakesTheProgramThatWaits) {
    const std::string text = taken();
    program waiter{shell("echo mine"), url() + "?poll_bound=10m"};
    await_waiter();
    EXPECT_EQ(run({"give", text}, url()).status, 0);
    EXPECT_EQ(waiter.line(), "mine");
}

TEST_P(Ticket, IsReadFromStandardInput) {
    const std::string text = taken();
    program giver{
        program::exactly{{"sh", "-c", "echo \" $1 \" | \"$0\" give -", program_path(), text}},
        url()};
    EXPECT_EQ(giver.end().status, 0);
    EXPECT_FALSE(is_locked());
}

TEST_P(Ticket, ThatIsWrongIs64) {
    const std::string text = taken();
    for (const std::string& wrong :
         {std::string{"nonsense"}, text + "0", text.substr(0, text.size() - 1)}) {
        for (const char* verb : {"give", "renew"}) {
            const ended told = run({verb, wrong}, url());
            EXPECT_EQ(told.status, 64) << verb << ' ' << wrong;
            EXPECT_THAT(told.err, StartsWith("holdfast: ticket: "));
        }
    }
    EXPECT_TRUE(is_locked());
}

TEST_P(Ticket, JsonHasTheTokenOfAFencedLock) {
    const ended told = run({"take", "--json", "--fenced", "--lease", "20s", name}, url());
    const boost::json::value all = boost::json::parse(told.out);
    EXPECT_EQ(all.at("name").as_string(), name);
    EXPECT_EQ(all.at("token").to_number<std::int64_t>(), 1);
    EXPECT_EQ(all.at("lease_ms").as_int64(), 20'000);
    const std::string text{all.at("ticket").as_string()};
    const ended busy = run({"take", "--json", "-w", "0", name}, url());
    EXPECT_EQ(busy.status, 1);
    EXPECT_TRUE(boost::json::parse(busy.out).at("ticket").is_null());
    const ended renewed = run({"renew", "--json", "--lease", "30s", text}, url());
    EXPECT_TRUE(boost::json::parse(renewed.out).at("renewed").as_bool());
    const ended given = run({"give", "--json", text}, url());
    EXPECT_TRUE(boost::json::parse(given.out).at("released").as_bool());
}

TEST_P(Ticket, ReasonIsShownByInspect) {
    const std::string text = taken({"--reason", "release 4.2, ask Ann"});
    await_known_client();
    EXPECT_THAT(run({"inspect", name}, url()).out, HasSubstr("release 4.2, ask Ann"));
    EXPECT_EQ(run({"give", text}, url()).status, 0);
}

TEST_P(Ticket, WhileProcessLivesTheLockIsRenewed) {
    program other{program::exactly{{"cat"}}};
    const std::string text = taken({"--lease", "300ms", "--while", std::to_string(other.id())});
    // A renewal makes the TTL longer, so a TTL that grows shows a renewal.
    std::int64_t before = lease_left();
    ASSERT_TRUE(eventually([&] {
        const std::int64_t now = lease_left();
        return std::exchange(before, now) < now;
    })) << "the lock was not renewed";
    other.close_stdin();
    EXPECT_EQ(other.end().status, 0);
    ASSERT_TRUE(eventually([&] { return !is_locked(); }));
    EXPECT_EQ(run({"give", text}, url()).status, 75);
}

TEST_P(Ticket, WhileOfAProcessThatDoesNotExistIs64) {
    const ended told = run({"take", "--while", "2147483647", name}, url());
    EXPECT_EQ(told.status, 64);
    EXPECT_THAT(told.err, HasSubstr("there is no process 2147483647"));
    EXPECT_FALSE(is_locked());
}

TEST(TicketServer, MustBeNamedAndKeepLeases) {
    const ended unnamed = run({"take", "job"});
    EXPECT_EQ(unnamed.status, 64);
    EXPECT_THAT(unnamed.err, HasSubstr("--url or HOLDFAST_URL"));
    const ended sessions = run({"take", "job"}, "zk://127.0.0.1:1");
    EXPECT_EQ(sessions.status, 64);
    EXPECT_THAT(sessions.err, HasSubstr("on ZooKeeper a lock ends with the program"));
}

} // namespace
} // namespace holdfast::cli_test
