// SPDX-License-Identifier: Apache-2.0
// A server that turns read-only after it has let an attempt in, and before that is committed:
// nothing was granted, and the client is told why.
#include "mysql/store_fixture.hpp"
#include "support/thrown.hpp"

#include <functional>
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

    /// It fails at once where the server takes no writes.
    client impatient() { return make_client({.unavailable_patience = 0ms}); }
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
    client home = make_client({.release_patience = 200ms});
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
        session nail{server()};
        nail.run("START TRANSACTION");
        nail.run("SELECT 1 FROM " + in_schema.locks + " WHERE name=" + hex(name_.text) +
                 " FOR UPDATE");
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
        nail.run("ROLLBACK");
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

} // namespace
} // namespace holdfast::mysql
