// SPDX-License-Identifier: Apache-2.0
// The bell beside an attempt and a release, on a real server.
#include "mysql/bell_fixture.hpp"
#include "mysql/rows.hpp"

#include <future>

namespace holdfast::mysql {
namespace {

using remote::verdict;

class Bell : public on_rows {
protected:
    std::string bell() { return bell_of(support::mariadb_server::schema, "holdfast_lock", name_); }
    packed_answer attempted(session& by, const ask& want, const std::string& late = never_late) {
        return by.attempt(want, late, bell());
    }
    std::string holder() { return operate().value("SELECT IS_USED_LOCK('" + bell() + "')"); }
};

TEST_F(Bell, ComesWithAGrant) {
    session alice{server()};
    const packed_answer told = attempted(alice, wanted(lock_kind::plain, 1));
    EXPECT_TRUE(told.has_bell);
    EXPECT_EQ(of_row("token"), std::to_string(told.last_token));
    EXPECT_EQ(of_row("kind"), "0");
    EXPECT_EQ(holder(), std::to_string(alice.id()));
}

TEST_F(Bell, DoesNotComeWithoutOne) {
    session alice{server()}, bob{server()};
    alice.attempt(wanted(lock_kind::plain, 1));
    EXPECT_EQ(attempted(bob, wanted(lock_kind::plain, 1, 30s, 2)).said, verdict::busy);
    EXPECT_EQ(attempted(bob, wanted(lock_kind::plain, 2, 30s, 2), "0").said, verdict::late);
    EXPECT_EQ(holder(), "");
}

// LAST_INSERT_ID() is then that of an earlier grant.
TEST_F(Bell, DoesNotComeWithAnEarlierGrant) {
    session alice{server()};
    alice.attempt(wanted(lock_kind::plain, 1));
    alice.release(wanted(lock_kind::plain, 1));
    alice.attempt(wanted(lock_kind::plain, 2));
    ask nowhere = wanted(lock_kind::plain, 3);
    nowhere.name.text += "nobody has used this";
    EXPECT_TRUE(attempted(alice, nowhere).no_row);
    EXPECT_EQ(holder(), "");
}

TEST_F(Bell, ThatSomebodyHasIsNotWaitedFor) {
    session alice{server()}, bob{server()};
    ASSERT_EQ(bob.value("SELECT GET_LOCK('" + bell() + "',0)"), "1");
    const packed_answer told = attempted(alice, wanted(lock_kind::plain, 1));
    EXPECT_EQ(told.said, verdict::granted);
    EXPECT_FALSE(told.has_bell);
    EXPECT_EQ(of_row("token"), std::to_string(told.last_token));
}

// User locks nest: two would have to be given back.
TEST_F(Bell, IsTakenOnceForAnAttemptThatIsRepeated) {
    session alice{server()};
    const ask want = wanted(lock_kind::plain, 1);
    const packed_answer first = attempted(alice, want), again = attempted(alice, want);
    EXPECT_TRUE(first.has_bell && again.has_bell);
    EXPECT_EQ(first.last_token, again.last_token);
    EXPECT_EQ(alice.release(want, bell()), 2u);
    EXPECT_EQ(holder(), "");
}

TEST_F(Bell, StaysWhereTheLockIsSomebodyElses) {
    session alice{server()}, bob{server()};
    attempted(alice, wanted(lock_kind::plain, 1));
    EXPECT_EQ(alice.release(wanted(lock_kind::plain, 2), bell()), 0u);
    EXPECT_EQ(holder(), std::to_string(alice.id()));
    alice.run(bell_dropped(bell()));
    EXPECT_EQ(holder(), "");
}

TEST_F(Bell, AReleaseTellsWhetherOthersWait) {
    session alice{server()}, bob{server()};
    const ask want = wanted(lock_kind::plain, 1);
    attempted(alice, want);
    auto waits = std::async(std::launch::async,
                            [&] { return bob.value("SELECT GET_LOCK('" + bell() + "',20)"); });
    ASSERT_TRUE(support::eventually([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "STATE='User lock' AND ID=" +
                              std::to_string(bob.id())) == "1";
    }));
    EXPECT_EQ(alice.release(want, bell()), 6u);
    EXPECT_EQ(waits.get(), "1");
}

// User locks of strangers that stand in each other's way with ours: the bell is only a hint.

class MysqlBellDeadlock : public on_bell {
protected:
    void TearDown() override {
        if (!IsSkipped())
            server().sql("SET GLOBAL init_connect=''");
    }

    std::string waiting_connection() {
        return server().value(
            "SELECT ID FROM information_schema.processlist WHERE STATE='User lock'");
    }
    bool is_there(const std::string& connection) {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE ID=" +
                              connection) == "1";
    }
    bool has_user_lock_of(session& stranger, const std::string& connection) {
        constexpr unsigned deadlock = 1213;
        try {
            return stranger.value("SELECT GET_LOCK('of " + connection + "',5)") == "1";
        } catch (const support::sql_error& why) {
            EXPECT_EQ(why.code, deadlock) << why.what();
            return false;
        }
    }
    bool waits_for_user_lock(session& one) {
        return support::eventually(
            [&] { return waiting_connection() == std::to_string(one.id()); });
    }
};

/// Each connection of a client has a user lock of its own, and the waiter's is what the stranger
/// wants who has the bell. The server ends one of both waits each time, until the waiter gives up.
TEST_F(MysqlBellDeadlock, OfAWaiterCostsAPoll) {
    session stranger{server()};
    ASSERT_EQ(stranger.value("SELECT GET_LOCK('" + bell() + "',0)"), "1");
    server().sql("SET GLOBAL init_connect='DO GET_LOCK(CONCAT(\"of \",CONNECTION_ID()),0)'");
    client home = make_client(seldom()), other = make_client(seldom());
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    auto waited = meanwhile([&] { return theirs.try_lock_for(support::far_too_long); });
    ASSERT_TRUE(somebody_waits_for_bell());
    const std::string waiter = waiting_connection();
    EXPECT_TRUE(support::eventually([&] { return has_user_lock_of(stranger, waiter); }));
    EXPECT_TRUE(support::eventually([&] { return !is_there(waiter); })) << "it polls from here on";
    EXPECT_FALSE(support::is_ready(waited));
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

/// The stranger has the table, and wants the bell of the holder, who wants to write to the table.
TEST_F(MysqlBellDeadlock, OfAHolderCostsItsBell) {
    client home = make_client(), other = make_client();
    fenced_mutex lock{home, name_}, same{other, name_};
    lease held = lease_of(lock);
    session stranger{server()};
    stranger.run("LOCK TABLES " + in_schema.locks + " WRITE");
    auto circle = meanwhile([&] { return stranger.value("SELECT GET_LOCK('" + bell() + "',10)"); });
    ASSERT_TRUE(waits_for_user_lock(stranger));
    auto released = meanwhile([&] {
        error_code failed;
        held.unlock(failed);
        return failed;
    });
    EXPECT_EQ(support::soon(std::move(circle)), "1");
    stranger.run("UNLOCK TABLES");
    const error_code failed = support::soon(std::move(released));
    EXPECT_FALSE(failed) << failed.message();
    ASSERT_TRUE(same.try_lock());
    same.unlock();
}

} // namespace
} // namespace holdfast::mysql
