// SPDX-License-Identifier: Apache-2.0
#include "mysql/store_fixture.hpp"
#include "store/mysql/counters.hpp"
#include "support/recorder.hpp"

#include <deque>
#include <future>
#include <thread>

namespace holdfast::mysql {
namespace {

class MysqlStore : public on_store {};

TEST_F(MysqlStore, ALockIsTakenAndReleased) {
    client home = make_client();
    mutex lock{home, name_};
    lock.lock();
    EXPECT_TRUE(is_held());
    lock.unlock();
    EXPECT_FALSE(is_held());
}

TEST_F(MysqlStore, WhoWaitsHasItWhenItIsReleased) {
    client home = make_client(), other = make_client();
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    auto waited = meanwhile([&] {
        theirs.lock();
        theirs.unlock();
        return true;
    });
    EXPECT_FALSE(theirs.try_lock());
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

TEST_F(MysqlStore, AReadOnlyServerGrantsNothing) {
    client home = make_client({.unavailable_timeout = 100ms});
    mutex lock{home, name_};
    lock.lock();
    lock.unlock();
    server().sql("SET GLOBAL read_only=1");
    try {
        (void)lock.try_lock();
        ADD_FAILURE() << "it was granted, or found busy";
    } catch (const boost::system::system_error& why) {
        EXPECT_EQ(why.code(), errc::unreachable);
    }
    server().sql("SET GLOBAL read_only=0");
    EXPECT_FALSE(is_held());
    ASSERT_TRUE(support::eventually([&] {
        try {
            return lock.try_lock();
        } catch (const boost::system::system_error&) {
            return false;
        }
    }));
    lock.unlock();
}

TEST_F(MysqlStore, NonStrictModeDoesNotMergeTwoNames) {
    server().sql("SET GLOBAL sql_mode=''");
    client home = make_client();
    const std::string longest(255, 'x');
    mutex fits{home, longest};
    fits.lock();
    EXPECT_THROW((mutex{home, longest + "y"}), boost::system::system_error);
    fits.unlock();
    server().sql("SET GLOBAL sql_mode=DEFAULT");
}

TEST_F(MysqlStore, DaylightSavingDoesNotMatter) {
    client home = make_client();
    mutex lock{home, name_};
    lock.lock();
    server().sql("SET GLOBAL time_zone='+01:00'");
    client other = make_client();
    mutex theirs{other, name_};
    EXPECT_FALSE(theirs.try_lock());
    server().sql("SET GLOBAL time_zone='SYSTEM'");
    lock.unlock();
    EXPECT_TRUE(theirs.try_lock());
    theirs.unlock();
}

TEST_F(MysqlStore, TokensGrowOverClientsAndRestarts) {
    client home = make_client(), other = make_client();
    fenced_mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    const std::uint64_t first = ours.fencing_token();
    ours.unlock();
    theirs.lock();
    EXPECT_GT(theirs.fencing_token(), first);
    theirs.unlock();
}

TEST_F(MysqlStore, WithoutTablesTheErrorHasTheStatementsThatMakeThem) {
    options how = reaching(server());
    how.table = "not_there";
    client home = client_of(how);
    mutex lock{home, name_};
    try {
        lock.lock();
        ADD_FAILURE() << "there is no such table";
    } catch (const boost::system::system_error& why) {
        EXPECT_EQ(why.code(), store_errc::not_set_up);
        EXPECT_NE(std::string{why.what()}.find("CREATE TABLE IF NOT EXISTS `not_there_hold`"),
                  std::string::npos);
    }
}

TEST_F(MysqlStore, WithoutTablesReadersAndPermitsAreToldToo) {
    options how = reaching(server());
    how.table = "not_there";
    client home = client_of(how, {.unavailable_timeout = 0ms});
    shared_mutex lock{home, name_};
    fair_mutex line{home, name_};
    leased_semaphore seats{home, name_};
    EXPECT_EQ(support::code_of([&] { (void)lock.try_lock_shared(); }), store_errc::not_set_up);
    EXPECT_EQ(support::code_of([&] { (void)line.try_lock(); }), store_errc::not_set_up);
    EXPECT_EQ(support::code_of([&] { (void)seats.try_acquire(); }), store_errc::not_set_up);
}

TEST_F(MysqlStore, IsSetUpOnce) {
    options how = reaching(server());
    how.table = "set_up_here";
    client home = client_of(how);
    EXPECT_NE(home.set_up().findings.at(0).what.find("5 of 5 tables"), std::string::npos);
    EXPECT_NE(home.set_up().findings.at(0).what.find("exist already"), std::string::npos);
    mutex lock{home, name_};
    lock.lock();
    lock.unlock();
}

TEST_F(MysqlStore, WhoMayNotMakeAllTablesMakesNone) {
    options how = reaching(server());
    how.table = "made_by_some";
    how.user = "maker";
    const std::string maker = how.user + "@'%'", in_schema = " ON " + how.schema + ".* ";
    server().sql("CREATE USER " + maker + " IDENTIFIED BY 'secret'");
    const auto grant = [&](const std::string& rights) {
        server().sql("GRANT " + rights + in_schema + "TO " + maker);
    };
    for (const char* too_few : {"CREATE, INSERT", "CREATE, SELECT", "SELECT, INSERT"}) {
        grant(too_few);
        client home = client_of(how);
        const support::thrown no = support::thrown_by([&] { home.set_up(); });
        EXPECT_EQ(no.code, store_errc::no_permission) << too_few;
        EXPECT_NE(no.text.find("needs the rights CREATE, SELECT and INSERT in"), std::string::npos)
            << no.text;
        EXPECT_EQ(no.text.find("; grant"), std::string::npos) << "which are those of a lock";
        EXPECT_EQ(server().value("SELECT COUNT(*) FROM information_schema.tables WHERE table_name "
                                 "LIKE 'made_by_some%'"),
                  "0")
            << too_few;
        server().sql("REVOKE " + std::string{too_few} + in_schema + "FROM " + maker);
    }
    grant("CREATE, SELECT, INSERT");
    client home = client_of(how);
    EXPECT_NE(home.set_up().findings.at(0).what.find("5 of 5 tables"), std::string::npos);
    server().sql("DROP USER " + maker);
}

TEST_F(MysqlStore, TheDoctorFindsNothingDangerous) {
    client home = make_client();
    const diagnosis told = home.doctor({"doctor"});
    for (const finding& each : told.findings)
        EXPECT_NE(each.how_bad, severity::danger) << each.topic << ": " << each.what;
    const auto says = [&](const char* what) {
        return std::ranges::any_of(told.findings, [&](const finding& each) {
            return each.what.find(what) != std::string::npos;
        });
    };
    EXPECT_TRUE(says("took, renewed and released the lock"));
    EXPECT_TRUE(says("wake waiting clients"));
    EXPECT_TRUE(says("innodb_flush_log_at_trx_commit is 2"));
}

TEST_F(MysqlStore, SaysWhoHoldsIt) {
    client home = make_client({.label = "till 3"});
    mutex lock{home, name_};
    lock.lock();
    const std::optional<lock_state> told = home.inspect(name_);
    ASSERT_TRUE(told);
    ASSERT_EQ(told->owners.size(), 1U);
    ASSERT_TRUE(told->owners[0].client);
    EXPECT_EQ(told->owners[0].client->label, "till 3");
    EXPECT_TRUE(told->owners[0].is_holdfast);
    EXPECT_GT(told->token, 0U);
    lock.unlock();
}

// Single attempts on a real server: late attempts, repeated attempts, and the clock that counts.

using remote::verdict;

class Attempt : public on_rows {
protected:
    /// The row is locked while this lives.
    class row_lock {
    public:
        row_lock(support::mariadb_server& at, const lock_name& name)
            : by_{at} {
            by_.run("START TRANSACTION");
            by_.run("SELECT 1 FROM " + in_schema.locks + " WHERE name=" + hex(name.text) +
                    " FOR UPDATE");
        }
        void end() { by_.run("COMMIT"); }

    private:
        session by_;
    };

    std::future<packed_answer> attempted_meanwhile(session& by, const ask& want,
                                                   const std::string& late) {
        return std::async(std::launch::async, [&by, want, late] { return by.attempt(want, late); });
    }

    /// A statement waits for a row.
    bool somebody_waits() {
        return support::eventually(
            [&] { return server().counted("Innodb_row_lock_current_waits") > 0; });
    }
    void until_after(std::int64_t moment) {
        ASSERT_TRUE(support::eventually([&] { return operate().now() > moment; }));
    }
};

TEST_F(Attempt, IsGrantedAndTheRowSaysSo) {
    session alice{server()};
    const ask want = wanted(lock_kind::plain, 1);
    const packed_answer told = alice.attempt(want);
    EXPECT_EQ(told.said, verdict::granted);
    EXPECT_EQ(of_row("owner"), to_string(want.owner));
    EXPECT_EQ(of_row("token"), std::to_string(told.last_token));
}

TEST_F(Attempt, TheShortestOneTakesWhatIsFree) {
    session alice{server()}, bob{server()};
    ask want = wanted(lock_kind::fenced, 1);
    want.tokens = 3;
    const packed_answer told = alice.attempt_if_free(want);
    EXPECT_EQ(told.said, verdict::granted);
    EXPECT_FALSE(told.no_row);
    EXPECT_EQ(of_row("owner"), to_string(want.owner));
    EXPECT_EQ(of_row("token"), std::to_string(told.last_token));
    EXPECT_EQ(bob.attempt(wanted(lock_kind::plain, 1, 30s, 2)).said, verdict::busy);
    EXPECT_TRUE(alice.release(want));
    const packed_answer next = bob.attempt_if_free(wanted(lock_kind::fenced, 1, 30s, 2));
    EXPECT_GT(next.last_token, told.last_token);
}

TEST_F(Attempt, TheShortestOneSaysNothingElse) {
    session alice{server()}, bob{server()};
    const ask want = wanted(lock_kind::plain, 1);
    EXPECT_TRUE(alice.attempt_if_free(want, "0").no_row) << "late";
    EXPECT_FALSE(alice.attempt_if_free(want).no_row);
    const std::string before = of_row("CONCAT(owner,expires,token)");
    EXPECT_TRUE(alice.attempt_if_free(want).no_row) << "its own";
    EXPECT_TRUE(bob.attempt_if_free(wanted(lock_kind::plain, 1, 30s, 2)).no_row) << "busy";
    EXPECT_EQ(of_row("CONCAT(owner,expires,token)"), before);
}

TEST_F(Attempt, TheShortestOneThatWaitedBehindARowLockDoesNotGrantLate) {
    session alice{server()};
    row_lock transaction_guard{server(), name_};
    const std::int64_t late = operate().now() + 200'000;
    auto told = std::async(std::launch::async, [&] {
        return alice.attempt_if_free(wanted(lock_kind::plain, 1), std::to_string(late));
    });
    ASSERT_TRUE(somebody_waits());
    until_after(late);
    transaction_guard.end();
    EXPECT_TRUE(told.get().no_row);
    EXPECT_EQ(of_row("owner"), "");
}

TEST_F(Attempt, AnUpdateThatWaitedBehindARowLockDoesNotGrantLate) {
    session alice{server()};
    row_lock transaction_guard{server(), name_};
    const std::int64_t late = operate().now() + 200'000;
    auto told = attempted_meanwhile(alice, wanted(lock_kind::plain, 1), std::to_string(late));
    ASSERT_TRUE(somebody_waits());
    until_after(late);
    transaction_guard.end();
    EXPECT_EQ(told.get().said, verdict::late);
    EXPECT_EQ(of_row("owner"), "");
}

TEST_F(Attempt, AnUpdateThatWaitedBehindARowLockInTimeIsGranted) {
    session alice{server()};
    row_lock transaction_guard{server(), name_};
    auto told = attempted_meanwhile(alice, wanted(lock_kind::plain, 1), never_late);
    ASSERT_TRUE(somebody_waits());
    transaction_guard.end();
    EXPECT_EQ(told.get().said, verdict::granted);
}

TEST_F(Attempt, AStoppedServerDoesNotGrantLate) {
    session alice{server()};
    const std::int64_t late = operate().now() + 100'000;
    const auto over = std::chrono::steady_clock::now() + 200ms;
    server().pause();
    auto told = attempted_meanwhile(alice, wanted(lock_kind::plain, 1), std::to_string(late));
    EXPECT_TRUE(support::eventually([&] { return std::chrono::steady_clock::now() > over; }));
    server().resume();
    EXPECT_EQ(told.get().said, verdict::late);
    EXPECT_EQ(of_row("owner"), "");
}

TEST_F(Attempt, TheAnswerTellsTheServersClock) {
    session alice{server()};
    const std::int64_t before = operate().now();
    const packed_answer told = alice.attempt(wanted(lock_kind::plain, 1), "0");
    EXPECT_EQ(told.said, verdict::late);
    EXPECT_GE(told.server_now.count(), before / 1000 * 1000);
    EXPECT_LE(told.server_now.count(), operate().now());
}

TEST_F(Attempt, ABusyOneTellsWhatIsLeftAndChangesNothing) {
    session alice{server()}, bob{server()};
    alice.attempt(wanted(lock_kind::plain, 1, 30s));
    const std::string before = of_row("CONCAT(owner,expires,token)");
    const packed_answer told = bob.attempt(wanted(lock_kind::plain, 1, 30s, 2));
    EXPECT_EQ(told.said, verdict::busy);
    ASSERT_TRUE(told.left);
    EXPECT_LE(*told.left, 30s + 1ms);
    EXPECT_EQ(of_row("CONCAT(owner,expires,token)"), before);
}

TEST_F(Attempt, OfALongLeaseTheRestIsNotTold) {
    session alice{server()};
    alice.attempt(wanted(lock_kind::plain, 1, std::chrono::hours{3}));
    const packed_answer told = alice.attempt(wanted(lock_kind::plain, 2));
    EXPECT_EQ(told.said, verdict::busy);
    EXPECT_FALSE(told.left);
}

TEST_F(Attempt, ARepetitionHasTheSameTokens) {
    session alice{server()};
    ask want = wanted(lock_kind::fenced, 1);
    want.tokens = 7;
    const packed_answer first = alice.attempt(want), again = alice.attempt(want);
    EXPECT_EQ(again.said, verdict::granted);
    EXPECT_EQ(again.last_token, first.last_token);
}

TEST_F(Attempt, TokensOfABlockAreNobodyElses) {
    session alice{server()};
    // As if the clock stood still: so the block before is what the next one is counted from.
    operate().run("UPDATE " + in_schema.locks +
                  " SET token=9000000000000000 WHERE name=" + hex(name_.text));
    ask want = wanted(lock_kind::fenced, 1);
    want.tokens = 5;
    EXPECT_EQ(alice.attempt(want).last_token, 9'000'000'000'000'005U);
    EXPECT_TRUE(alice.release(want));
    want = wanted(lock_kind::fenced, 2);
    want.tokens = 3;
    EXPECT_EQ(alice.attempt(want).last_token, 9'000'000'000'000'008U);
}

// Its NOW is that of its begin: SET timestamp makes one that has begun long ago.
TEST_F(Attempt, ALateDuplicateDoesNotShortenTheLease) {
    session alice{server()}, delayed{server()};
    const ask want = wanted(lock_kind::plain, 1, 60s);
    alice.attempt(want);
    const std::string end = of_row("expires");
    delayed.run("SET timestamp=" + std::to_string(operate().now() / 1'000'000 - 20));
    EXPECT_EQ(delayed.attempt(want).said, verdict::granted);
    EXPECT_EQ(of_row("expires"), end);
}

TEST_F(Attempt, ALeaseThatIsOverIsNotTakenForALivingOne) {
    session alice{server()};
    const ask want = wanted(lock_kind::plain, 1);
    const packed_answer first = alice.attempt(want);
    operate().run("UPDATE " + in_schema.locks +
                  " SET expires=UTC_TIMESTAMP(6)-INTERVAL 1 SECOND "
                  "WHERE name=" +
                  hex(name_.text));
    EXPECT_FALSE(alice.release(want)) << "it was over";
    EXPECT_GT(alice.attempt(wanted(lock_kind::plain, 2)).last_token, first.last_token);
}

TEST_F(Attempt, TokensGrowThroughASweep) {
    session alice{server()};
    const ask want = wanted(lock_kind::fenced, 1);
    const packed_answer first = alice.attempt(want);
    operate().run("DELETE FROM " + in_schema.locks + " WHERE name=" + hex(name_.text));
    EXPECT_TRUE(alice.attempt(want).no_row);
    alice.run(lock_row(in_schema, name_));
    EXPECT_GT(alice.attempt(wanted(lock_kind::fenced, 2)).last_token, first.last_token);
}

TEST_F(Attempt, WhatIsReleasedIsSweptADayLaterAndNotBefore) {
    session alice{server()};
    alice.attempt(wanted(lock_kind::plain, 1));
    alice.release(wanted(lock_kind::plain, 1));
    EXPECT_EQ(of_row("expires>UTC_TIMESTAMP(6)-INTERVAL 1 DAY AND expires<UTC_TIMESTAMP(6)"), "1");
}

TEST_F(Attempt, OneMomentIsTheSameInEachTimeZone) {
    session alice{server()}, bob{server()};
    alice.attempt(wanted(lock_kind::plain, 1, 30s));
    server().sql("SET GLOBAL time_zone='-08:00'");
    session later{server()};
    EXPECT_EQ(later.attempt(wanted(lock_kind::plain, 1, 30s, 2)).said, verdict::busy);
    server().sql("SET GLOBAL time_zone='SYSTEM'");
    EXPECT_TRUE(alice.release(wanted(lock_kind::plain, 1)));
    EXPECT_EQ(bob.attempt(wanted(lock_kind::plain, 1, 30s, 2)).said, verdict::granted);
}

TEST_F(Attempt, ANameThatIsTooLongIsNotCut) {
    session alice{server()};
    const std::string longest(255, 'x');
    alice.run(lock_row(in_schema, {longest}));
    EXPECT_THROW(alice.run(lock_row(in_schema, {longest + 'y'})), support::sql_error);
    EXPECT_TRUE(alice.attempt(ask{lock_name{longest + 'y'}, owner_id{}, lock_kind::plain}).no_row);
}

// Readers, writers and permits, on a real server.

class Holds : public on_rows {
protected:
    std::size_t rows(hold_row kind) {
        return std::stoul(operate().value("SELECT COUNT(*) FROM " + in_schema.holds +
                                          " WHERE name=" + hex(name_.text) +
                                          " AND kind=" + std::to_string(static_cast<int>(kind)) +
                                          " AND expires>UTC_TIMESTAMP(6)"));
    }
    void make_permits(std::int64_t number) {
        operate().run("INSERT INTO " + in_schema.counters + " (name,kind,value) VALUES(" +
                      hex(name_.text) + ",1," + std::to_string(number) +
                      ") ON DUPLICATE KEY UPDATE value=VALUES(value)");
    }
    ask permits(std::uint64_t number, std::uint32_t how_many) {
        ask want = wanted(lock_kind::permit, number);
        want.permits = how_many;
        return want;
    }
};

TEST_F(Holds, ManyRead) {
    session alice{server()}, bob{server()};
    EXPECT_EQ(alice.read(wanted(lock_kind::read, 1), never_late, "a").said, verdict::granted);
    EXPECT_EQ(bob.read(wanted(lock_kind::read, 1, 30s, 2), never_late, "b").said, verdict::granted);
    EXPECT_EQ(rows(hold_row::reader), 2U);
}

// An insert id of zero would say that the lock has no row, and the writer would make one, for ever.
TEST_F(Holds, AWriterThatMeetsReadersIsBusy) {
    session alice{server()}, bob{server()};
    alice.read(wanted(lock_kind::read, 1));
    const packed_answer told = bob.attempt(wanted(lock_kind::write, 1, 30s, 2));
    EXPECT_FALSE(told.no_row);
    EXPECT_EQ(told.said, verdict::busy);
    ASSERT_TRUE(told.left);
    EXPECT_GT(*told.left, 20s);
}

TEST_F(Holds, AReaderThatMeetsAWriterIsBusy) {
    session alice{server()}, bob{server()};
    alice.attempt(wanted(lock_kind::write, 1));
    EXPECT_EQ(bob.read(wanted(lock_kind::read, 1, 30s, 2)).said, verdict::busy);
    EXPECT_EQ(rows(hold_row::reader), 0U);
}

TEST_F(Holds, WhatAReaderBeganBeforeAWriterCameIsWorthNothing) {
    session alice{server()}, bob{server()};
    const auto texts = read_attempt(in_schema, wanted(lock_kind::read, 1), {never_late, "", "old"});
    alice.run(texts[read_update_at]); // as if its transaction had not begun
    EXPECT_EQ(bob.attempt(wanted(lock_kind::write, 1, 30s, 2)).said, verdict::granted);
    alice.run(texts[read_insert_at]);
    EXPECT_EQ(alice.changed(), 0U);
    EXPECT_EQ(rows(hold_row::reader), 0U);
}

TEST_F(Holds, AReaderIsLateInItsSecondStatementToo) {
    session alice{server()};
    const std::string soon = std::to_string(operate().now() + 100'000);
    const auto texts = read_attempt(in_schema, wanted(lock_kind::read, 1), {soon, "", "m"});
    alice.run(texts[0]);
    alice.run(texts[read_update_at]);
    ASSERT_TRUE(support::eventually([&] { return operate().now() > std::stoll(soon); }));
    alice.run(texts[read_insert_at]);
    EXPECT_EQ(alice.changed(), 0U);
    alice.run("COMMIT");
}

TEST_F(Holds, AReaderIsLetInOnceHoweverOftenItAsks) {
    session alice{server()};
    const ask want = wanted(lock_kind::read, 1);
    alice.read(want, never_late, "1");
    EXPECT_EQ(alice.read(want, never_late, "2").said, verdict::granted);
    EXPECT_EQ(rows(hold_row::reader), 1U);
}

TEST_F(Holds, AWriterThatWaitsHoldsNewReadersBack) {
    session alice{server()}, bob{server()};
    const ask reads = wanted(lock_kind::read, 1);
    alice.read(reads);
    ask writes = wanted(lock_kind::write, 1, 30s, 2);
    writes.outlasts = 30s;
    writes.head_start = 20s;
    bob.attempt(writes);
    for (const std::string& each : marks_after_attempt(in_schema, writes))
        bob.run(each);
    EXPECT_EQ(rows(hold_row::mark), 1U);
    EXPECT_EQ(alice.read(wanted(lock_kind::read, 2), never_late, "n").said, verdict::busy);
    for (const std::string& each : read_release(in_schema, reads))
        alice.run(each);
    EXPECT_EQ(bob.attempt(writes).said, verdict::granted);
    for (const std::string& each : marks_after_attempt(in_schema, writes))
        bob.run(each);
    EXPECT_EQ(rows(hold_row::mark), 0U);
}

TEST_F(Holds, ADeadWritersMarkLastsForItsHeadStartWhenNobodyReads) {
    session alice{server()}, bob{server()};
    const ask reads = wanted(lock_kind::read, 1);
    alice.read(reads);
    ask writes = wanted(lock_kind::write, 1, 30s, 2);
    writes.outlasts = std::chrono::hours{1};
    writes.head_start = 1ms;
    bob.attempt(writes);
    for (const std::string& each : marks_after_attempt(in_schema, writes))
        bob.run(each);
    for (const std::string& each : read_release(in_schema, reads))
        alice.run(each);
    EXPECT_TRUE(support::eventually([&] { return rows(hold_row::mark) == 0; }));
    EXPECT_EQ(alice.read(wanted(lock_kind::read, 2), never_late, "n").said, verdict::granted);
}

TEST_F(Holds, AnUpgradeStandsBesideItsOwnReader) {
    session alice{server()}, bob{server()};
    alice.read(wanted(lock_kind::read, 1));
    ask writes = wanted(lock_kind::write, 2);
    writes.under = 1;
    EXPECT_EQ(alice.attempt(writes).said, verdict::granted);
    ask unfounded = wanted(lock_kind::write, 4);
    unfounded.under = 3;
    EXPECT_EQ(alice.attempt(unfounded).said, verdict::unfounded);
}

TEST_F(Holds, TwoThatUpgradeAreToldOfTheirConflict) {
    session alice{server()}, bob{server()};
    alice.read(wanted(lock_kind::read, 1), never_late, "a");
    bob.read(wanted(lock_kind::read, 1, 30s, 2), never_late, "b");
    ask first = wanted(lock_kind::write, 2), second = wanted(lock_kind::write, 2, 30s, 2);
    first.under = second.under = 1;
    first.outlasts = 30s;
    EXPECT_EQ(alice.attempt(first).said, verdict::busy);
    for (const std::string& each : marks_after_attempt(in_schema, first))
        alice.run(each);
    EXPECT_EQ(bob.attempt(second).said, verdict::conflict);
}

TEST_F(Holds, PermitsAreAllOrNone) {
    session alice{server()}, bob{server()};
    make_permits(3);
    EXPECT_EQ(alice.take_permits(permits(1, 2)).said, verdict::granted);
    const packed_answer told = bob.take_permits(permits(11, 2), "other");
    EXPECT_EQ(told.said, verdict::busy);
    EXPECT_TRUE(told.left);
    EXPECT_EQ(rows(hold_row::permit), 2U);
    EXPECT_EQ(bob.take_permits(permits(11, 1), "one").said, verdict::granted);
}

TEST_F(Holds, ARepetitionTakesNoMorePermits) {
    session alice{server()};
    make_permits(4);
    const packed_answer first = alice.take_permits(permits(1, 2), "a");
    EXPECT_EQ(alice.take_permits(permits(1, 2), "b").last_token, first.last_token);
    EXPECT_EQ(rows(hold_row::permit), 2U);
}

TEST_F(Holds, WhereNoSemaphoreIsThereAreNoPermits) {
    session alice{server()};
    EXPECT_TRUE(alice.take_permits(permits(1, 1)).no_row);
    EXPECT_EQ(rows(hold_row::permit), 0U);
}

class MysqlRenewal : public on_store {
protected:
    std::string end_of(const std::string& name) {
        return operate().value("SELECT expires FROM " + in_schema.locks +
                               " WHERE name=" + hex(name));
    }
    bool is_renewed(const std::string& name) {
        const std::string before = end_of(name);
        return support::eventually([&] { return end_of(name) > before; });
    }
};

TEST_F(MysqlRenewal, ARowLockedBySomebodyDoesNotDelayOtherRenewals) {
    client home = make_client({.lease_time = 15s});
    std::deque<mutex> locks;
    for (int i = 0; i < 20; ++i)
        locks.emplace_back(home, name_.text + std::to_string(i)).lock();
    session other{server()};
    other.run("START TRANSACTION");
    other.run("SELECT 1 FROM " + in_schema.locks + " WHERE name=" + hex(name_.text + "7") +
              " FOR UPDATE");
    EXPECT_TRUE(is_renewed(name_.text + "6"));
    EXPECT_TRUE(is_renewed(name_.text + "8"));
    EXPECT_TRUE(locks[7].remaining_lease()) << "it is ours while its lease lasts";
    other.run("COMMIT");
    EXPECT_TRUE(is_renewed(name_.text + "7"));
    for (mutex& each : locks)
        each.unlock();
}

TEST_F(MysqlRenewal, WhatSomebodyTookIsLost) {
    client home = make_client({.lease_time = 1s});
    mutex lock{home, name_};
    lock.lock();
    operate().run("UPDATE " + in_schema.locks +
                  " SET owner='somebody' WHERE name=" + hex(name_.text));
    EXPECT_TRUE(support::eventually([&] { return !lock.remaining_lease(); }));
    error_code ec;
    lock.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost);
}

TEST_F(MysqlRenewal, OfReadersAndPermitsTellsTheirRows) {
    client home = make_client({.lease_time = 9s});
    shared_mutex lock{home, name_};
    lock.lock_shared();
    const std::string reader = "SELECT MAX(expires) FROM " + in_schema.holds +
                               " WHERE name=" + hex(name_.text) + " AND kind=0";
    const std::string before = operate().value(reader);
    EXPECT_TRUE(support::eventually([&] { return operate().value(reader) > before; }));
    lock.unlock_shared();
}

} // namespace
} // namespace holdfast::mysql
