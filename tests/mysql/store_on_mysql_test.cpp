// SPDX-License-Identifier: Apache-2.0
// The store on a server of MySQL: behaviour that depends on how the server executes statements. All
// other tests of the store use MariaDB only.
#include "database_on_server.hpp"
#include "mysql/store_fixture.hpp"
#include "support/galera_nodes.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"

#include <holdfast/mysql/transaction_guard.hpp>

#include <iterator>
#include <memory>
#include <mutex>

namespace holdfast::mysql {
namespace {

class AttemptsOnMySQL9 : public ::testing::Test {
protected:
    void SetUp() override {
        if (support::newer_mysql().empty())
            GTEST_SKIP() << "HOLDFAST_NEWER_MYSQL names no server";
        support::make_or_skip([] { server(); });
        name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    }

    static support::mariadb_server& server() {
        static support::mariadb_server one{support::newer_mysql().front()};
        static const bool made = [] {
            for (const std::string& each : making(in_schema))
                one.sql(each);
            return true;
        }();
        (void)made;
        return one;
    }
    static client make_client(holdfast::options more = {}) {
        return client_of(reaching(server()), std::move(more));
    }
    std::string of_row(const std::string& column) {
        return server().value("SELECT " + column + " FROM " + in_schema.locks +
                              " WHERE name=" + hex(name_));
    }
    template <typename Work>
    static auto meanwhile(Work work) {
        return std::async(std::launch::async, std::move(work));
    }
    static bool somebody_waits_for_bell() {
        return support::eventually([] {
            return server().value("SELECT COUNT(*) FROM information_schema.processlist "
                                  "WHERE INFO LIKE 'SELECT GET_LOCK%'") != "0";
        });
    }

    std::string name_;
};

TEST_F(AttemptsOnMySQL9, GrantOnceAndTokensGrow) {
    std::atomic<bool> over = false;
    std::vector<std::future<claims>> all;
    for (int i = 0; i < 4; ++i)
        all.push_back(meanwhile([&] {
            client home = make_client({.hand_off = {.times_max = 0}});
            fenced_mutex lock{home, name_};
            return take_and_release(
                over, [&] { return lock.async_try_lock_for(500ms, boost::asio::use_future); });
        }));
    for (int grants = 0; grants < 20; ++grants) {
        const std::string before = of_row("token");
        EXPECT_TRUE(support::eventually([&] { return of_row("token") != before; }));
    }
    over = true;
    claims together;
    for (auto& each : all)
        std::ranges::move(support::soon(std::move(each)), std::back_inserter(together));
    EXPECT_GT(together.size(), 5U);
    expect_no_overlap(together);
    expect_tokens_grow(together);
}

TEST_F(AttemptsOnMySQL9, WaitersAreCalledByTheBell) {
    constexpr auto hardly_ever = std::chrono::hours{1};
    client home = make_client(), other = make_client({.poll_bound = hardly_ever});
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    auto waited = meanwhile([&] {
        const std::scoped_lock inside{theirs};
        return true;
    });
    EXPECT_TRUE(somebody_waits_for_bell());
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

TEST_F(AttemptsOnMySQL9, AreServedInTheirTurn) {
    client home = make_client(), second = make_client(), third = make_client();
    fair_mutex ours{home, name_}, next{second, name_}, last{third, name_};
    ours.lock();
    const auto queue = [&](std::size_t many) {
        return support::eventually([&] { return home.inspect(name_)->waiters.size() == many; });
    };
    std::atomic<int> came = 0;
    auto first = meanwhile([&] {
        const std::scoped_lock inside{next};
        return ++came;
    });
    ASSERT_TRUE(queue(1));
    auto after = meanwhile([&] {
        const std::scoped_lock inside{last};
        return ++came;
    });
    ASSERT_TRUE(queue(2));
    ours.unlock();
    EXPECT_EQ(support::soon(std::move(first)), 1);
    EXPECT_EQ(support::soon(std::move(after)), 2);
    EXPECT_FALSE(home.inspect(name_));
}

TEST_F(AttemptsOnMySQL9, LetReadersInTogetherAndAWriterAlone) {
    client home = make_client(), other = make_client();
    shared_mutex one{home, name_}, two{other, name_};
    one.lock_shared();
    EXPECT_TRUE(two.try_lock_shared());
    two.unlock_shared();
    EXPECT_FALSE(two.try_lock());
    one.unlock_shared();
    EXPECT_TRUE(two.try_lock());
    EXPECT_FALSE(one.try_lock_shared());
    two.unlock();
}

TEST_F(AttemptsOnMySQL9, ARenewalPassesByARowThatIsLocked) {
    client home = make_client({.lease_time = 9s});
    mutex free{home, name_}, kept{home, name_ + " of another"};
    lease held = free.async_lock(boost::asio::use_future).get();
    lease nailed = kept.async_lock(boost::asio::use_future).get();
    session user{server()};
    user.run("START TRANSACTION");
    user.run(transaction_guard(nailed));
    ASSERT_EQ(user.changed(), 1U);
    const std::string end = of_row("expires");
    EXPECT_TRUE(support::eventually([&] { return of_row("expires") > end; }));
    EXPECT_TRUE(held.owns_lock());
    user.run("COMMIT");
}

TEST_F(AttemptsOnMySQL9, WaitBehindALongTransactionGuard) {
    client home = make_client(), other = make_client({.unavailable_timeout = 100ms});
    mutex ours{home, name_}, theirs{other, name_};
    lease held = ours.async_lock(lease_time{5s}, boost::asio::use_future).get();
    session user{server()};
    user.run("START TRANSACTION");
    user.run(transaction_guard(held));
    ASSERT_EQ(user.changed(), 1U);
    std::atomic<bool> committed = false;
    auto waited = meanwhile([&] {
        const std::scoped_lock inside{theirs};
        return committed.load();
    });
    EXPECT_TRUE(
        support::eventually([] { return server().counted("Innodb_row_lock_current_waits") > 0; }));
    wait_longer_than_a_request();
    committed = true;
    user.run("COMMIT");
    EXPECT_TRUE(support::soon(std::move(waited))) << "granted before the transaction ended";
}

} // namespace
} // namespace holdfast::mysql

namespace holdfast {
namespace {

// MySQL's own server, where it differs from MariaDB: how it logs us in, what its variables are
// called, and what it says when it hangs up.

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DatabaseOnMysql : public database_on_server {
protected:
    DatabaseOnMysql()
        : database_on_server{support::mariadb_server::options{}} {}

    void SetUp() override {
        if (support::newer_mysql().empty())
            GTEST_SKIP() << "HOLDFAST_NEWER_MYSQL names no server";
        database_on_server::SetUp();
    }
    std::optional<support::server_binary> which() const override {
        return support::newer_mysql().front();
    }
};

TEST_F(DatabaseOnMysql, AnswersByBothWaysIn) {
    const asked here = ask("SELECT VERSION()");
    ASSERT_EQ(here->code, error_code{}) << here->text;
    forget_database();
    use_tcp();
    const asked there = ask_all({"SELECT nothing_at_all", "SELECT 1"});
    EXPECT_EQ(there->code, make_error_code(store_errc::not_set_up)) << there->text;
    EXPECT_EQ(ask("SELECT VERSION()")->value(), here->value());
}

TEST_F(DatabaseOnMysql, TellsWhatItIs) {
    const asked call = ask("SELECT CONCAT(@@sql_mode, @@time_zone, @@autocommit, "
                           "@@completion_type, @@transaction_isolation)");
    EXPECT_EQ(call->value(), "STRICT_ALL_TABLES+00:001NO_CHAINREAD-COMMITTED") << call->text;
    const auto facts = database().facts();
    ASSERT_TRUE(facts);
    EXPECT_FALSE(facts->is_mariadb);
    EXPECT_FALSE(facts->read_only || facts->is_replica || facts->sysdate_is_now);
    EXPECT_EQ(facts->binlog_format, "ROW");
    EXPECT_TRUE(database().has_bells());
    EXPECT_TRUE(call->got.clock->known());
}

TEST_F(DatabaseOnMysql, ATransactionIsEndedWhereItWasBegun) {
    server().sql("CREATE TABLE t (k INT PRIMARY KEY, v BIGINT UNSIGNED) ENGINE=InnoDB");
    server().sql("INSERT INTO t VALUES (1, 10)");
    mysql::call_options options;
    options.leaves_open = true;
    const asked begun =
        ask_all({"START TRANSACTION", "SELECT v FROM t FOR UPDATE SKIP LOCKED"}, options);
    ASSERT_EQ(begun->code, error_code{}) << begun->text;
    EXPECT_EQ(begun->value(), "10");
    mysql::call_options second;
    second.on = begun->got.by;
    const asked ended =
        ask_all({"UPDATE t SET v = LAST_INSERT_ID(9223372036854775810)", "COMMIT"}, second);
    ASSERT_EQ(ended->code, error_code{}) << ended->text;
    EXPECT_EQ(ended->got.of.at(0).insert_id, 9223372036854775810ull);
    EXPECT_EQ(ended->got.of.at(0).matched, 1u);
}

TEST_F(DatabaseOnMysql, AnIdleConnectionThatItClosesCostsNobodyAnything) {
    const std::string id = ask("SELECT CONNECTION_ID()")->value();
    ask("SET wait_timeout = 1");
    ASSERT_TRUE(run_until([&] { return told_.count(event_kind::disconnected) == 1; }));
    const asked after = ask("SELECT CONNECTION_ID()");
    EXPECT_EQ(after->code, error_code{}) << after->text;
    EXPECT_NE(after->value(), id);
}

TEST_F(DatabaseOnMysql, AReadOnlyServerIsLeft) {
    server().sql("CREATE TABLE t (k INT PRIMARY KEY) ENGINE=InnoDB");
    ASSERT_EQ(ask("SELECT 1")->value(), "1");
    server().sql("SET GLOBAL super_read_only = ON");
    const asked call = ask("INSERT INTO t VALUES (1)");
    EXPECT_EQ(call->code, make_error_code(store_errc::read_only)) << call->text;
    server().sql("SET GLOBAL super_read_only = OFF");
    server().sql("SET GLOBAL read_only = OFF");
    EXPECT_TRUE(run_until([&] { return ask("SELECT 1")->value() == "1"; }));
}

TEST_F(DatabaseOnMysql, APinnedConnectionThatIsGivenBackHasNoUserLocks) {
    auto on = connection_to_wait_on();
    ASSERT_TRUE(on);
    mysql::call_options options;
    options.on = on;
    asked took = ask("SELECT GET_LOCK('left behind', 0)", options);
    EXPECT_EQ(took->value(), "1") << took->text;
    took.reset();
    options.on.reset();
    on.reset();
    EXPECT_TRUE(
        run_until([&] { return server().value("SELECT IS_FREE_LOCK('left behind')") == "1"; }));
}

} // namespace
} // namespace holdfast

namespace holdfast::mysql {
namespace {

// Another server takes the place of the one that granted: what it does not have is lost at once,
// and nobody holds it beside another for longer.

using support::eventually;

/// Two servers that do not know of each other: one takes the place of the other, and misses what it
/// granted last.
class MysqlFailover : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] {
            first_ = std::make_unique<support::mariadb_server>();
            second_ = std::make_unique<support::mariadb_server>();
            make_tables_at(*first_);
            make_tables_at(*second_);
        });
    }
    client make_client() const {
        options how = reaching(*first_);
        how.unix_socket.clear();
        how.servers = {{"127.0.0.1", first_->port()}, {"127.0.0.1", second_->port()}};
        how.backoff_max = 100ms;
        return client_of(how, {.lease_time = long_lease, .observer = told_});
    }

    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
    std::unique_ptr<support::mariadb_server> first_, second_;
};

TEST_F(MysqlFailover, AGrantThatTheNextServerMissesIsLostAtOnce) {
    client home = make_client(), other = make_client();
    fenced_mutex lock{home, "stock"}, same{other, "stock"};
    const lease held = lease_of(lock);
    first_->stop();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::lost) == 1; }));
    EXPECT_EQ(told_->last(event_kind::lost)->cause, event_cause::refused);
    EXPECT_GT(lease_of(same).fencing_token(), held.fencing_token())
        << "tokens grow over a server that knows nothing of the last one";
}

TEST_F(MysqlFailover, AGrantThatTheNextServerHasIsKept) {
    client home = make_client(), other = make_client();
    fenced_mutex lock{home, "stock"}, same{other, "stock"};
    const lease held = lease_of(lock);
    const auto row = first_->sql("SELECT HEX(owner),token FROM " + in_schema.locks).at(0);
    second_->sql("INSERT INTO " + in_schema.locks +
                 " (name,owner,expires,token) VALUES('stock',UNHEX('" + row.at(0).value() +
                 "'),UTC_TIMESTAMP(6)+INTERVAL 1 HOUR," + row.at(1).value() + ")");
    first_->stop();
    EXPECT_TRUE(eventually([&] { return told_->count(event_kind::moved) > 0; }));
    EXPECT_FALSE(same.try_lock_for(1s));
    EXPECT_TRUE(held.owns_lock());
}

class AGaleraNode : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] { nodes_ = std::make_unique<support::galera_nodes>(); });
        if (nodes_)
            make_tables_at((*nodes_)[0]);
    }
    client make_client() const {
        options how = reaching((*nodes_)[0]);
        how.unix_socket.clear();
        how.servers = {{"127.0.0.1", (*nodes_)[0].port()}, {"127.0.0.1", (*nodes_)[1].port()}};
        how.backoff_max = 100ms;
        return client_of(how, {.lease_time = long_lease, .observer = told_});
    }

    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
    std::unique_ptr<support::galera_nodes> nodes_;
};

TEST_F(AGaleraNode, ThatLeavesTakesNoLockAlong) {
    client home = make_client();
    fenced_mutex lock{home, "stock"};
    const lease held = lease_of(lock);
    nodes_->leave(0);
    client other = make_client();
    fenced_mutex same{other, "stock"};
    EXPECT_TRUE(eventually([&] { return told_->count(event_kind::reconnected) > 0; }));
    EXPECT_FALSE(same.try_lock_for(1s));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(told_->count(event_kind::lost), 0U);
}

} // namespace
} // namespace holdfast::mysql
