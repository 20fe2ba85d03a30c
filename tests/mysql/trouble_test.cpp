// SPDX-License-Identifier: Apache-2.0
// A server becomes read-only after an attempt has begun and before its commit: nothing is granted,
// and the client gets the reason.
#include "mysql/store_fixture.hpp"
#include "support/cut_lock.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using ::testing::HasSubstr;

class MysqlReadOnly : public on_store {
protected:
    void TearDown() override {
        if (!IsSkipped())
            server().sql("SET GLOBAL read_only=0");
    }

    bool waits_for_a_backup_lock(const std::string& user) {
        return support::eventually([&] {
            return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                                  "STATE='Waiting for backup lock' AND USER='" +
                                  user + "'") != "0";
        });
    }

    /// What the call is told. The server has seen that its first statement may write, and turns
    /// read-only before it does.
    support::thrown told_when_it_turns(const std::function<void()>& call) {
        support::sql_connection by = server().connect();
        by.run("FLUSH TABLES WITH READ LOCK");
        auto told = meanwhile([&] { return support::thrown_by(call); });
        EXPECT_TRUE(waits_for_a_backup_lock(support::mariadb_server::user));
        by.run("SET GLOBAL read_only=1");
        by.run("UNLOCK TABLES");
        return support::soon(std::move(told));
    }

    void expect_nothing_granted(const support::thrown& told) {
        EXPECT_EQ(told.code, make_error_code(store_errc::read_only)) << told.text;
        EXPECT_EQ(told.code, errc::unreachable) << "nothing is held, and the caller knows that";
        EXPECT_THAT(told.text, HasSubstr("read-only"));
        EXPECT_FALSE(is_held());
        EXPECT_EQ(server().value("SELECT COUNT(*) FROM " + in_schema.holds + " WHERE name=" +
                                 hex(name_.text) + " AND expires>UTC_TIMESTAMP(6)"),
                  "0");
    }

    /// It fails at once where the server takes no writes. It knows its rights already, so the first
    /// statement of the test is an attempt.
    client impatient() {
        client made = make_client({.unavailable_timeout = 0ms});
        shared_mutex lock{made, name_.text + "-first"};
        lock.lock_shared();
        lock.unlock_shared();
        return made;
    }
};

TEST_F(MysqlReadOnly, BeforeTheCommitOfOneStatementGrantsNothing) {
    client home = impatient();
    mutex lock{home, name_};
    expect_nothing_granted(told_when_it_turns([&] { (void)lock.try_lock(); }));
}

TEST_F(MysqlReadOnly, BeforeTheCommitLetsNoReaderIn) {
    client home = impatient();
    shared_mutex lock{home, name_};
    expect_nothing_granted(told_when_it_turns([&] { (void)lock.try_lock_shared(); }));
}

TEST_F(MysqlReadOnly, BeforeTheCommitLetsNoWriterIn) {
    client home = impatient();
    shared_mutex lock{home, name_};
    expect_nothing_granted(told_when_it_turns([&] { (void)lock.try_lock(); }));
}

TEST_F(MysqlReadOnly, BeforeTheCommitGrantsNoTurn) {
    client home = impatient();
    fair_mutex lock{home, name_};
    expect_nothing_granted(told_when_it_turns([&] { (void)lock.try_lock(); }));
}

TEST_F(MysqlReadOnly, BeforeTheCommitGrantsNoPermits) {
    client home = impatient();
    leased_semaphore seats{home, name_};
    seats.set_permits(3);
    expect_nothing_granted(told_when_it_turns([&] { (void)seats.try_acquire(2); }));
    server().sql("SET GLOBAL read_only=0");
    client other = make_client();
    EXPECT_EQ((leased_semaphore{other, name_}.available_permits()), 3);
}

/// A release that is not committed is none, and is asked for again.
TEST_F(MysqlReadOnly, BeforeTheCommitOfAReleaseItIsReleasedLater) {
    client home = make_client({.release_timeout = 200ms});
    leased_semaphore seats{home, name_};
    seats.set_permits(2);
    lease held = seats.acquire(2);
    told_when_it_turns([&] {
        error_code failed;
        held.unlock(failed);
    });
    EXPECT_FALSE(held.owns_lock());
    client other = make_client();
    server().sql("SET GLOBAL read_only=0");
    leased_semaphore same{other, name_};
    EXPECT_TRUE(same.try_acquire_for(support::far_too_long / 2, 2));
}

/// The server itself waits for an attempt that waits, and then refuses what stands behind it.
class MysqlTurning : public MysqlReadOnly {
protected:
    /// Whether it was granted, and what it was told: it waits behind a row lock when an operator
    /// tells the server to be read-only.
    std::pair<bool, support::thrown> behind_a_row_lock(std::function<bool()> call) {
        session transaction_guard{server()};
        transaction_guard.run("START TRANSACTION");
        transaction_guard.run("SELECT 1 FROM " + in_schema.locks +
                              " WHERE name=" + hex(name_.text) + " FOR UPDATE");
        bool granted = false;
        auto told = meanwhile([&] { return support::thrown_by([&] { granted = call(); }); });
        EXPECT_TRUE(support::eventually(
            [&] { return server().counted("Innodb_row_lock_current_waits") > 0; }));
        auto turned = meanwhile([this] {
            support::sql_connection by = server().connect();
            by.run("SET GLOBAL read_only=1");
            return true;
        });
        EXPECT_TRUE(waits_for_a_backup_lock("root"));
        transaction_guard.run("ROLLBACK");
        const support::thrown what = support::soon(std::move(told));
        EXPECT_TRUE(support::soon(std::move(turned)));
        return {granted, what};
    }
};

TEST_F(MysqlTurning, ReadOnlyGrantsNothingToAReaderThatWaitedBehindARowLock) {
    client home = impatient();
    shared_mutex lock{home, name_};
    const auto [granted, told] = behind_a_row_lock([&] { return lock.try_lock_shared(); });
    EXPECT_FALSE(granted);
    expect_nothing_granted(told);
}

/// It was committed before.
TEST_F(MysqlTurning, ReadOnlyKeepsWhatOneStatementGrantedThatWaitedBehindARowLock) {
    client home = impatient();
    mutex lock{home, name_};
    const auto [granted, told] = behind_a_row_lock([&] { return lock.try_lock(); });
    EXPECT_FALSE(told.code) << told.text;
    EXPECT_TRUE(granted);
    EXPECT_TRUE(is_held());
}

// A server that has no room for what is to be written.

using support::eventually;

/// It answers writes of one table as a full one does. The locks' table has a trigger that does so
/// at will: nothing else is full.
class MysqlFullTable : public on_store {
protected:
    void SetUp() override {
        on_store::SetUp();
        if (!IsSkipped())
            relieve();
    }
    void TearDown() override {
        if (!IsSkipped())
            relieve();
    }

    void fill(const std::string& what = "UPDATE ON holdfast_lock", unsigned error = 1114,
              const std::string& words = "The table ''holdfast_lock'' is full") {
        server().sql("CREATE OR REPLACE TRIGGER full BEFORE " + what +
                     " FOR EACH ROW SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO=" +
                     std::to_string(error) + ",MESSAGE_TEXT='" + words + "'");
    }
    void relieve() { server().sql("DROP TRIGGER IF EXISTS full"); }

    client impatient() { return make_client({.unavailable_timeout = 0ms}); }

    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};

TEST_F(MysqlFullTable, GrantsNothingAndTheServersWordsAreTold) {
    struct answer_of_server {
        unsigned error;
        const char* words;
    };
    const answer_of_server all[] = {
        {1114, "The table ''holdfast_lock'' is full"},
        {1021, "Disk full (/data/holdfast_lock.ibd); waiting for someone to free some space"},
        {1030, "Got error 28 \"No space left on device\" from storage engine InnoDB"},
        {1026, "Error writing file ''binlog'' (Errcode: 28 \"No space left on device\")"}};
    client home = impatient();
    mutex lock{home, name_};
    for (const auto& [error, words] : all) {
        fill("UPDATE ON holdfast_lock", error, words);
        const support::thrown told = support::thrown_by([&] { (void)lock.try_lock(); });
        EXPECT_EQ(told.code, make_error_code(store_errc::disk_trouble)) << told.text;
        EXPECT_EQ(told.code, errc::unreachable);
        EXPECT_THAT(told.text, HasSubstr("error " + std::to_string(error) + ": "));
        EXPECT_FALSE(is_held());
    }
    relieve();
    ASSERT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_F(MysqlFullTable, LetsNoReaderIn) {
    client home = impatient(), other = make_client();
    shared_mutex lock{home, name_}, same{other, name_};
    fill("INSERT ON " + in_schema.holds);
    const support::thrown told = support::thrown_by([&] { (void)lock.try_lock_shared(); });
    EXPECT_TRUE(told.code);
    EXPECT_THAT(told.text, HasSubstr("error 1114: The table 'holdfast_lock' is full"));
    relieve();
    ASSERT_TRUE(same.try_lock()) << "there is no reader";
    same.unlock();
}

TEST_F(MysqlFullTable, GrantsNoPermits) {
    client home = impatient(), other = make_client();
    leased_semaphore seats{home, name_}, same{other, name_};
    seats.set_permits(2);
    fill("INSERT ON " + in_schema.holds);
    const support::thrown told = support::thrown_by([&] { (void)seats.try_acquire(2); });
    EXPECT_TRUE(told.code);
    EXPECT_THAT(told.text, HasSubstr("error 1114: The table 'holdfast_lock' is full"));
    relieve();
    EXPECT_EQ(same.available_permits(), 2);
}

TEST_F(MysqlFullTable, ARenewalThatFailsIsNoLoss) {
    client home = make_client({.lease_time = 15s, .observer = told_});
    fenced_mutex lock{home, name_};
    const lease held = lease_of(lock);
    fill();
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::renewal_failed) > 0; }));
    EXPECT_TRUE(held.owns_lock());
    const support::told what = *told_->last(event_kind::renewal_failed);
    EXPECT_THAT(what.text, HasSubstr("error 1114: The table 'holdfast_lock' is full"));
    EXPECT_GT(what.length, 0ms) << "of its term";
    relieve();
    const std::string end = of_row("expires");
    EXPECT_TRUE(eventually([&] { return of_row("expires") > end; }));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(told_->count(event_kind::lost), 0U);
}

TEST_F(MysqlFullTable, AHoldEndsWithItsTermIfThereIsNoRoomUntilThen) {
    client home = make_client({.lease_time = 1s, .observer = told_}), other = make_client();
    fenced_mutex lock{home, name_}, same{other, name_};
    const lease held = lease_of(lock);
    fill();
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    // The lost token compares the validity with the clock. The observer is notified a moment later.
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::lost) > 0; }));
    EXPECT_EQ(told_->last(event_kind::lost)->cause, event_cause::term_ended);
    relieve();
    EXPECT_TRUE(same.try_lock_for(support::far_too_long / 2));
    EXPECT_GT(same.fencing_token(), held.fencing_token());
    same.unlock();
}

TEST_F(MysqlFullTable, AReleaseThatFailsIsRepeated) {
    client home = make_client({.release_timeout = 100ms}), other = make_client();
    fenced_mutex lock{home, name_}, same{other, name_};
    lease held = lease_of(lock);
    fill();
    error_code failed;
    held.unlock(failed);
    EXPECT_EQ(failed, errc::unreachable) << failed.message();
    EXPECT_TRUE(is_held());
    relieve();
    ASSERT_TRUE(same.try_lock_for(support::far_too_long / 2)) << "the lease is as long";
    same.unlock();
}

TEST_F(MysqlFullTable, AReleaseThatFailsToTheLastEndsWithTheLease) {
    client home = make_client({.lease_time = 6s, .release_timeout = 100ms, .observer = told_}),
           other = make_client();
    fenced_mutex lock{home, name_}, same{other, name_};
    lease held = lease_of(lock);
    fill();
    error_code failed;
    held.unlock(failed);
    ASSERT_TRUE(eventually([&] { return told_->count(event_kind::release_failed) > 0; }));
    EXPECT_THAT(told_->last(event_kind::release_failed)->text, HasSubstr("error 1114"));
    ASSERT_TRUE(eventually([&] { return !is_held(); })) << "nothing prolongs it";
    relieve();
    ASSERT_TRUE(same.try_lock_for(support::far_too_long / 2));
    same.unlock();
}

/// A server whose tables are in files that do not grow, and are full. A full server may end by
/// itself while the test fills it. The test then begins again with a new server.
class MysqlFullDisk : public ::testing::Test {
protected:
    void SetUp() override {
        constexpr int servers_max = 4;
        for (int made = 0; made < servers_max; ++made) {
            support::make_or_skip([this] { server_.emplace(); });
            if (!server_ || has_filled())
                return;
        }
        FAIL() << "each of " << servers_max << " servers ended before it was full";
    }
    std::optional<support::mariadb_server> server_;

private:
    /// Returns false if the server ended before it was full.
    bool has_filled() {
        server_->shut_down();
        const auto first = std::filesystem::file_size(server_->data_folder() / "ibdata1") >> 20;
        server_->restart(
            {"--innodb-file-per-table=OFF",
             "--innodb-data-file-path=ibdata1:" + std::to_string(first) + "M;ibdata2:32M"});
        make_tables_at(*server_);
        try {
            fill();
        } catch (const support::sql_error& why) {
            if (!why.is_of_connection())
                throw;
            return false;
        }
        return true;
    }
    void fill() {
        server_->sql("CREATE TABLE filler (bytes LONGBLOB) ENGINE=InnoDB");
        for (const char* each : {"100000", "7000", "100"})
            while (has_room_for(each)) {
            }
    }
    bool has_room_for(const std::string& bytes) {
        constexpr unsigned full = 1114;
        try {
            server_->sql("INSERT INTO filler VALUES(REPEAT('x'," + bytes + "))");
        } catch (const support::sql_error& why) {
            if (why.code != full)
                throw;
            return false;
        }
        return true;
    }
};

TEST_F(MysqlFullDisk, GrantsNothingAndSaysSo) {
    client home = client_of(reaching(*server_), {.unavailable_timeout = 0ms});
    constexpr int rows_of_some_pages = 1000;
    const std::string long_name(200, 'x');
    support::thrown told;
    for (int i = 0; i < rows_of_some_pages && !told.code; ++i) {
        fenced_mutex lock{home, long_name + std::to_string(i)};
        told = support::thrown_by([&] {
            (void)lock.try_lock();
            lock.unlock();
        });
    }
    EXPECT_EQ(told.code, make_error_code(store_errc::disk_trouble)) << told.text;
    EXPECT_THAT(told.text, HasSubstr("error 1114: The table 'holdfast_lock' is full"));
}

// Changes by an operator to the tables and to the meaning of statements.

class MysqlTables : public on_store {
protected:
    void drop(const std::string& table) {
        for (const char* each : {"", "_hold", "_counter", "_request", "_identity"})
            server().sql("DROP TABLE " + table + each);
    }
};

/// An operator creates the tables anew, so the holds are gone.
TEST_F(MysqlTables, WhatIsHeldInOnesThatWereMadeAnewIsLost) {
    options how = reaching(server());
    how.table = "made_anew";
    client home = client_of(how, {.lease_time = 9s}), other = client_of(how);
    (void)home.set_up();
    fenced_mutex lock{home, name_}, same{other, name_};
    const lease held = lease_of(lock);
    drop("made_anew");
    EXPECT_THROW((void)same.try_lock(), boost::system::system_error);
    (void)other.set_up();
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_GT(lease_of(same).fencing_token(), held.fencing_token());
}

/// An operator drops the tables by mistake. They are created again when somebody notices.
TEST_F(MysqlTables, ThatAreDroppedAreToldToWhoHoldsAndWhoWaits) {
    options how = reaching(server());
    how.table = "dropped";
    const auto told = std::make_shared<support::recorder>();
    client home = client_of(how, {.lease_time = 9s, .observer = told}), other = client_of(how);
    (void)home.set_up();
    fenced_mutex lock{home, name_}, same{other, name_};
    const lease held = lease_of(lock);
    auto waited = meanwhile([&] { return support::thrown_by([&] { same.lock(); }); });
    ASSERT_TRUE(eventually([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "STATE='User lock'") != "0";
    }));
    drop("dropped");
    const support::thrown why = support::soon(std::move(waited));
    EXPECT_EQ(why.code, make_error_code(store_errc::not_set_up)) << why.text;
    EXPECT_THAT(why.text, HasSubstr("CREATE TABLE IF NOT EXISTS `dropped`"));
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_FALSE(held.owns_lock());
    ASSERT_GT(told->count(event_kind::renewal_failed), 0U);
    EXPECT_THAT(told->last(event_kind::renewal_failed)->text, HasSubstr("dropped' doesn't exist"));
    // The lost token compares the validity with the clock. The observer is notified a moment later.
    EXPECT_TRUE(eventually([&] { return told->count(event_kind::lost) == 1; }));
    (void)other.set_up();
    EXPECT_GT(lease_of(same).fencing_token(), held.fencing_token());
}

/// And somebody waits, who has it then.
TEST_F(MysqlTables, ThatAreMadeAnewAreNoticedByWhoWaits) {
    options how = reaching(server());
    how.table = "emptied";
    client home = client_of(how, {.lease_time = 9s}), other = client_of(how);
    (void)home.set_up();
    fenced_mutex lock{home, name_}, same{other, name_};
    const lease held = lease_of(lock);
    auto waited = meanwhile([&] { return lease_of(same); });
    ASSERT_TRUE(eventually([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "STATE='User lock'") != "0";
    }));
    server().sql("TRUNCATE TABLE emptied");
    const lease next = support::soon(std::move(waited));
    EXPECT_GT(next.fencing_token(), held.fencing_token());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_TRUE(next.owns_lock());
}

TEST_F(MysqlTables, AnSqlModeOfTheServerThatAssignsAllAtOnceDoesNotMatter) {
    server().sql("SET GLOBAL sql_mode='SIMULTANEOUS_ASSIGNMENT'");
    client home = make_client(), other = make_client();
    server().sql("SET GLOBAL sql_mode=DEFAULT");
    fenced_mutex lock{home, name_}, same{other, name_};
    lock.lock();
    EXPECT_FALSE(same.try_lock());
    EXPECT_TRUE(is_held());
    EXPECT_EQ(of_row("token"), std::to_string(lock.fencing_token()));
    lock.unlock();
    EXPECT_TRUE(same.try_lock());
    same.unlock();
}

using support::way;

class MysqlCut : public on_store, protected support::cut_lock {
protected:
    MysqlCut()
        : cut_lock{5s} {} // a lease is much longer

    void SetUp() override {
        on_store::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        proxy_.emplace(server().socket_path());
        options through = reaching(server());
        through.unix_socket = proxy_->socket_path();
        through.connections_max = 1;
        through.backoff_max = 50ms;
        use(client_of(through, {.observer = told_}), make_client(), name_);
    }
};

TEST_F(MysqlCut, ALockThatIsAskedForIsTakenOnce) {
    cut_everywhere(89, [this](std::size_t bytes) { return lock_cut(way::requests, bytes); });
}
TEST_F(MysqlCut, ALockThatIsGrantedIsTakenOnce) {
    cut_everywhere(11, [this](std::size_t bytes) { return lock_cut(way::answers, bytes); });
}
TEST_F(MysqlCut, AReleaseThatIsAskedForIsDone) {
    cut_everywhere(29, [this](std::size_t bytes) { return unlock_cut(way::requests, bytes); });
}
TEST_F(MysqlCut, AReleaseThatIsAcknowledgedIsDone) {
    cut_everywhere(7, [this](std::size_t bytes) { return unlock_cut(way::answers, bytes); });
}

} // namespace
} // namespace holdfast::mysql
