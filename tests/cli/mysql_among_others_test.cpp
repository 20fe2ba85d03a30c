// SPDX-License-Identifier: Apache-2.0
// The program on Redis, MariaDB and ZooKeeper at once: a quorum whose nodes are of different kinds.
#include "cli/program.hpp"
#include "support/mariadb_server.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_server.hpp"
#include "support/zookeeper_server.hpp"

#include <boost/json.hpp>

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class QuorumOfStores : public ::testing::Test {
protected:
    struct three {
        three() { (void)run({"doctor", "--create-tables"}, database.url()); }
        support::redis_server redis{};
        support::mariadb_server database{};
        support::zookeeper_server keeper{};
    };

    const std::string name =
        std::string{"job-"} + ::testing::UnitTest::GetInstance()->current_test_info()->name();

    static void TearDownTestSuite() { nodes().reset(); }
    void SetUp() override {
        support::make_or_skip([] {
            if (!nodes())
                nodes() = std::make_unique<three>();
        });
    }
    static three& node() { return *nodes(); }

    static std::vector<std::string> with_urls(std::vector<std::string> words) {
        for (const std::string& each :
             {node().redis.url(), node().database.url(), node().keeper.url()})
            words.insert(words.begin() + 1, {"--url", each});
        return words;
    }
    /// Redis votes at once: it was started just now, and has forgotten nothing.
    std::vector<std::string> until_closed() const {
        return with_urls({"run", "--lease", "6", "--nodes-remember", name, "--", "sh", "-c",
                          "echo held; read nothing; echo done"});
    }
    std::vector<std::string> waiting_for(const std::string& seconds) const {
        return with_urls(
            {"run", "-w", seconds, "--lease", "6", "--nodes-remember", name, "--", "true"});
    }
    boost::json::value inspected() const {
        return boost::json::parse(run(with_urls({"inspect", "--json", name})).out);
    }
    static std::size_t held_at(const boost::json::value& told) {
        std::size_t count = 0;
        for (const boost::json::value& each : told.at("nodes").as_array())
            count += each.at("held").as_bool() ? 1 : 0;
        return count;
    }
    bool is_held_by(std::size_t wanted) const {
        return eventually([&] { return held_at(inspected()) == wanted; });
    }

private:
    /// Of all tests here.
    static std::unique_ptr<three>& nodes() {
        static std::unique_ptr<three> all;
        return all;
    }
};

TEST_F(QuorumOfStores, ACommandRunsWithTheLockOnAllOfThem) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_held_by(3));
    EXPECT_TRUE(inspected().at("held").as_bool());
    EXPECT_EQ(run(waiting_for("0")).status, 1);
    holder.close_stdin();
    const ended told = holder.end();
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_TRUE(is_held_by(0));
    EXPECT_EQ(run(waiting_for("20")).status, 0);
}

TEST_F(QuorumOfStores, AStoreThatIsAwayIsNotNeeded) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_held_by(3));
    node().database.stop();
    const boost::json::value told = inspected();
    EXPECT_TRUE(told.at("held").as_bool()) << told;
    EXPECT_EQ(held_at(told), 2U) << told;
    EXPECT_EQ(run(waiting_for("0.5")).status, 1);
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0) << "it was not lost";
    const ended fine = run(waiting_for("20"));
    EXPECT_EQ(fine.status, 0) << fine.err;
    node().database.restart();
    EXPECT_TRUE(is_held_by(0)) << "what the database had has ended with its lease";
}

TEST_F(QuorumOfStores, ATakenMajorityStopsTheCommand) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_held_by(3));
    EXPECT_EQ(run(with_urls({"unlock", "--force", "--yes", name})).status, 0);
    EXPECT_EQ(holder.end().status, 75);
}

TEST_F(QuorumOfStores, LsAndTheDoctorTellOfEach) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_held_by(3));
    const std::string all =
        node().redis.url() + ' ' + node().database.url() + ' ' + node().keeper.url();
    const boost::json::value list = boost::json::parse(run({"ls", "--json", name}, all).out);
    ASSERT_EQ(list.at("locks").as_array().size(), 1U) << list;
    EXPECT_EQ(list.at("locks").at(0).at("nodes").as_array().size(), 3U) << list;
    const ended told = run(with_urls({"doctor", "--json"}));
    const boost::json::value found = boost::json::parse(told.out);
    ASSERT_EQ(found.at("nodes").as_array().size(), 3U) << found;
    for (const boost::json::value& each : found.at("nodes").as_array())
        EXPECT_NE(each.at("worst").as_string(), "danger") << each;
    EXPECT_THAT(told.out, AllOf(HasSubstr("innodb_flush_log_at_trx_commit"), HasSubstr("session"),
                                Not(HasSubstr(support::mariadb_server::password))));
}

} // namespace
} // namespace holdfast::cli_test
