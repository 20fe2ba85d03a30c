// SPDX-License-Identifier: Apache-2.0
// Several servers, of which one has the locks.
#include "database_on_server.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DatabaseFailover : public database_on_server {
protected:
    DatabaseFailover()
        : database_on_server{support::mariadb_server::options{}} {}

    void SetUp() override {
        database_on_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        other_.emplace(support::mariadb());
        how_.unix_socket.clear();
        how_.servers = {{"127.0.0.1", server().port()}, {"127.0.0.1", other_->port()}};
        how_.backoff_max = 100ms;
    }
    support::mariadb_server& other() { return *other_; }

    std::string port() { return connection_of(ask("SELECT @@port")); }
    bool is_at(support::mariadb_server& which) { return port() == std::to_string(which.port()); }

    std::optional<support::mariadb_server> other_;
};

TEST_F(DatabaseFailover, TheFirstThatTakesWritesIsUsed) {
    EXPECT_TRUE(is_at(server()));
    forget_database();
    server().sql("SET GLOBAL read_only = ON");
    EXPECT_TRUE(is_at(other()));
    EXPECT_EQ(told_.count(event_kind::moved), 0u) << "it was never elsewhere";
}

TEST_F(DatabaseFailover, AServerThatDiesIsReplacedAndAllHoldsAreInDoubt) {
    ASSERT_TRUE(is_at(server()));
    holds_ = true;
    server().stop();
    ASSERT_TRUE(run_until([&] { return told_.count(event_kind::reconnected) == 1; }));
    EXPECT_TRUE(is_at(other()));
    EXPECT_THAT(doubts_, ElementsAre(true));
    ASSERT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_THAT(told_.last(event_kind::moved)->name, HasSubstr(std::to_string(other().port())));
}

TEST_F(DatabaseFailover, OneThatTurnsReadOnlyIsLeftAtItsFirstAnswer) {
    server().sql("CREATE TABLE t (k INT PRIMARY KEY) ENGINE=InnoDB");
    ASSERT_TRUE(is_at(server()));
    server().sql("SET GLOBAL read_only = ON");
    EXPECT_EQ(ask("INSERT INTO t VALUES (1)")->code, make_error_code(store_errc::read_only));
    EXPECT_TRUE(is_at(other()));
    EXPECT_THAT(doubts_, ElementsAre(true));
}

TEST_F(DatabaseFailover, WhereNoneTakesWritesTheTextTellsOfEach) {
    server().sql("SET GLOBAL read_only = ON");
    other().stop();
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, errc::unreachable);
    EXPECT_THAT(call->text,
                AllOf(HasSubstr("read-only"), HasSubstr(std::to_string(other().port()))));
    other().start();
    EXPECT_TRUE(run_until([&] { return is_at(other()); }));
}

/// It would grant, and its primary would not know of that.
TEST_F(DatabaseFailover, AReplicaIsNotAsked) {
    other().shut_down();
    server().restart({"--log-bin", "--server-id=1"});
    other().restart({"--server-id=2"});
    other().sql("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=" +
                std::to_string(server().port()) + ", MASTER_USER='nobody', MASTER_PASSWORD='x'");
    server().sql("CREATE USER copier@'%' IDENTIFIED BY 'x'");
    server().sql("GRANT REPLICATION SLAVE ON *.* TO copier@'%'");
    other().sql("CHANGE MASTER TO MASTER_USER='copier', MASTER_USE_GTID=slave_pos");
    other().sql("START SLAVE");
    support::until("the replica runs",
                   [&] { return other().value("SHOW STATUS LIKE 'Slave_running'") != ""; });
    how_.servers = {{"127.0.0.1", other().port()}};
    ASSERT_TRUE(run_until(
        [&] { return other().sql("SHOW STATUS LIKE 'Slave_running'").at(0).at(1) == "ON"; }));
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::read_only)) << call->text;
    EXPECT_THAT(call->text, HasSubstr("replica"));
}

/// A name that leads to several servers, or a proxy: one client does not ask two for one lock.
TEST_F(DatabaseFailover, AConnectionThatMeetsAnotherServerTakesAllOthersAlong) {
    how_.connections_max = 2;
    const std::uint16_t port = server().port();
    how_.servers = {{"127.0.0.1", port}};
    ASSERT_TRUE(is_at(server()));
    // The old connection lives on, and the address leads elsewhere.
    const asked busy = begin({"SELECT SLEEP(60)"});
    ASSERT_TRUE(run_until([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "state = 'User sleep'") == "1";
    }));
    server().sql("SET GLOBAL server_id = 77"); // as another server looks
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, error_code{}) << call->text;
    ASSERT_TRUE(run_until([&] { return busy->done; }));
    EXPECT_EQ(busy->code, errc::outcome_unknown) << busy->text;
    EXPECT_THAT(busy->text, HasSubstr("another server"));
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_THAT(doubts_, ElementsAre(true));
}

} // namespace
} // namespace holdfast
