// SPDX-License-Identifier: Apache-2.0
// Waiting in MariaDB: the queue of a fair lock, and the user lock that wakes waiters.
#include "mysql/store_fixture.hpp"
#include "store/mysql/lock_statements.hpp"

#include <cstdlib>
#include <future>
#include <iterator>
#include <mutex>

namespace holdfast::mysql {
namespace {

// The queue of a fair lock.

using remote::verdict;

class MysqlFair : public on_store {
protected:
    ask wants(std::uint8_t client, std::uint64_t number = 1) {
        ask want = wanted(lock_kind::fair, number, 30s, client);
        want.outlasts = 30s;
        return want;
    }
    packed_answer look(const ask& want, const std::string& late = never_late) {
        packed_answer told;
        const auto texts = fair_attempt(in_schema, want, {late, "who"});
        for (std::size_t i = 0; i < texts.size(); ++i) {
            operate().run(texts[i]);
            if (i == fair_update_at)
                told = taken_apart(operate().insert_id());
        }
        return told;
    }
    void leave(const ask& want) {
        operate().release(want);
        operate().run(turn_removed(in_schema, want));
    }
    bool is_over(const ask& want) {
        return operate().value("SELECT expires<=UTC_TIMESTAMP(6) FROM " + in_schema.holds +
                               " WHERE kind=3 AND name=" + hex(name_.text) +
                               " AND owner=" + hex(to_string(want.owner))) == "1";
    }
    std::size_t queue() {
        return std::stoul(operate().value("SELECT COUNT(*) FROM " + in_schema.holds +
                                          " WHERE kind=3 AND name=" + hex(name_.text)));
    }
};

TEST_F(MysqlFair, WhoCameFirstIsFirst) {
    EXPECT_EQ(look(wants(1)).said, verdict::granted);
    EXPECT_EQ(look(wants(2)).said, verdict::busy);
    EXPECT_EQ(look(wants(3)).said, verdict::busy);
    leave(wants(1));
    EXPECT_EQ(look(wants(3)).said, verdict::busy) << "it is the second's turn";
    EXPECT_EQ(look(wants(4)).said, verdict::busy);
    EXPECT_EQ(look(wants(2)).said, verdict::granted);
    EXPECT_EQ(queue(), 2U);
    leave(wants(2));
    EXPECT_EQ(look(wants(3)).said, verdict::granted);
}

TEST_F(MysqlFair, WhoDoesNotWaitHasNoPlace) {
    look(wants(1));
    ask once = wants(2);
    once.waits = false;
    EXPECT_EQ(look(once).said, verdict::busy);
    EXPECT_EQ(queue(), 0U);
}

TEST_F(MysqlFair, ALateLookHasNoPlace) {
    EXPECT_EQ(look(wants(2), "0").said, verdict::late);
    EXPECT_EQ(queue(), 0U);
}

TEST_F(MysqlFair, ALookKeepsItsPlace) {
    look(wants(1));
    look(wants(2));
    look(wants(3));
    look(wants(2));
    leave(wants(1));
    EXPECT_EQ(look(wants(3)).said, verdict::busy);
    EXPECT_EQ(look(wants(2)).said, verdict::granted);
}

TEST_F(MysqlFair, WhoseTimeIsOverIsPassedAndJoinsAtTheEnd) {
    look(wants(1));
    ask dead = wants(2);
    dead.outlasts = 1ms;
    look(dead);
    look(wants(3));
    leave(wants(1));
    ASSERT_TRUE(support::eventually([&] { return is_over(dead); }));
    EXPECT_EQ(look(wants(4)).said, verdict::busy);
    EXPECT_EQ(look(dead).said, verdict::busy) << "others have come meanwhile";
    EXPECT_EQ(look(wants(3)).said, verdict::granted);
    leave(wants(3));
    EXPECT_EQ(look(wants(4)).said, verdict::granted);
}

TEST_F(MysqlFair, WaitersAreServedInOrderOfArrival) {
    client home = make_client();
    fair_mutex held{home, name_};
    held.lock();
    std::mutex guard;
    std::vector<int> order;
    std::vector<std::future<void>> all;
    std::vector<client> others;
    for (int i = 0; i < 4; ++i)
        others.push_back(make_client());
    for (int i = 0; i < 4; ++i) {
        all.push_back(meanwhile([&, i] {
            fair_mutex mine{others[static_cast<std::size_t>(i)], name_};
            mine.lock();
            {
                const std::scoped_lock one{guard};
                order.push_back(i);
            }
            mine.unlock();
        }));
        ASSERT_TRUE(
            support::eventually([&] { return queue() == static_cast<std::size_t>(i) + 1; }));
    }
    held.unlock();
    for (auto& each : all)
        support::soon(std::move(each));
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(queue(), 0U);
}

// How waiters are woken: the bell is only a hint.

class MysqlWaking : public on_bell {};

TEST_F(MysqlWaking, AWaiterStandsAtTheBell) {
    client home = make_client(seldom()), other = make_client(seldom());
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    auto waited = taken_meanwhile(theirs);
    ASSERT_TRUE(somebody_waits_for_bell());
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

TEST_F(MysqlWaking, TheBellIsOnlyAHintWhenItsConnectionIsCut) {
    client home = make_client(seldom()), other = make_client(seldom());
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    auto waited = taken_meanwhile(theirs);
    ASSERT_TRUE(somebody_waits_for_bell());
    kill_waiting();
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

TEST_F(MysqlWaking, TheBellIsOnlyAHintWhenAStrangerHasIt) {
    client home = make_client(seldom()), other = make_client(seldom());
    mutex ours{home, name_}, theirs{other, name_};
    session stranger{server()};
    ASSERT_EQ(stranger.value("SELECT GET_LOCK('" + bell() + "',0)"), "1");
    ours.lock();
    auto waited = taken_meanwhile(theirs);
    ASSERT_TRUE(somebody_waits_for_bell());
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

TEST_F(MysqlWaking, TheBellIsOnlyAHintWhenTheHolderHasNone) {
    options silent = reaching(server());
    silent.bell = false;
    client home = client_of(silent, seldom()), other = make_client(seldom());
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    auto waited = taken_meanwhile(theirs);
    ASSERT_TRUE(support::eventually([&] {
        return server().value("SELECT IS_USED_LOCK('" + bell() + "')") != "";
    })) << "the waiter has the bell, and asks the row";
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

TEST_F(MysqlWaking, WithoutBellsWaitersPoll) {
    options silent = reaching(server());
    silent.bell = false;
    client home = client_of(silent, seldom()), other = client_of(silent, seldom());
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    auto waited = taken_meanwhile(theirs);
    EXPECT_FALSE(theirs.try_lock());
    EXPECT_EQ(waiting_for_bell(), 0U);
    ours.unlock();
    EXPECT_TRUE(support::soon(std::move(waited)));
}

TEST_F(MysqlWaking, MoreWaitersThanConnectionsPoll) {
    options few = reaching(server());
    few.wait_connections_max = 1;
    client home = make_client(seldom()), other = client_of(few, seldom());
    mutex first{home, name_}, second{home, name_.text + "2"};
    first.lock();
    second.lock();
    mutex theirs{other, name_}, theirs_too{other, name_.text + "2"};
    auto one = taken_meanwhile(theirs), two = taken_meanwhile(theirs_too);
    ASSERT_TRUE(somebody_waits_for_bell());
    first.unlock();
    second.unlock();
    EXPECT_TRUE(support::soon(std::move(one)));
    EXPECT_TRUE(support::soon(std::move(two)));
}

TEST_F(MysqlWaking, AHoldThatIsReleasedLeavesNoBell) {
    client home = make_client(), other = make_client();
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    EXPECT_NE(server().value("SELECT IS_USED_LOCK('" + bell() + "')"), "");
    auto waited = taken_meanwhile(theirs);
    ASSERT_TRUE(somebody_waits_for_bell());
    ours.unlock();
    ASSERT_TRUE(support::soon(std::move(waited)));
    EXPECT_TRUE(support::eventually(
        [&] { return server().value("SELECT IS_USED_LOCK('" + bell() + "')") == ""; }));
}

TEST_F(MysqlWaking, AHoldThatIsLostLeavesNoBell) {
    client home = make_client({.lease_time = 500ms});
    mutex ours{home, name_};
    ours.lock();
    operate().run("UPDATE " + in_schema.locks +
                  " SET owner='somebody' WHERE name=" + hex(name_.text));
    EXPECT_TRUE(support::eventually(
        [&] { return server().value("SELECT IS_USED_LOCK('" + bell() + "')") == ""; }));
}

TEST_F(MysqlWaking, WhoGivesUpLeavesTheBell) {
    client home = make_client(seldom()), other = make_client(seldom());
    mutex ours{home, name_}, theirs{other, name_};
    ours.lock();
    EXPECT_FALSE(theirs.try_lock_for(300ms));
    EXPECT_TRUE(support::eventually([&] { return waiting_for_bell() == 0; }));
    ours.unlock();
}

// Connections are killed all the time. A lock still has only one holder, and tokens grow.

class Storm : public on_store {
protected:
    static int kills_wanted() { return std::getenv("HOLDFAST_HEAVY") != nullptr ? 1500 : 300; }

    claims claimed_until(const std::atomic<bool>& over) {
        options how = reaching(server());
        how.backoff_min = 1ms;
        how.backoff_max = 20ms;
        client home = client_of(
            how, {.lease_time = 300ms, .unavailable_timeout = 5s, .hand_off = {.times_max = 0}});
        fenced_mutex lock{home, name_};
        return take_and_release(
            over, [&] { return lock.async_try_lock_for(200ms, boost::asio::use_future); });
    }

    /// Returns the token of the lock. Uses the operator's session, which is never killed.
    std::string token() {
        return server().value("SELECT token FROM " + in_schema.locks +
                              " WHERE name=" + hex(name_.text));
    }

    /// Ends the connection of one of them, or what it does.
    void kill_one(session& by, std::uint64_t which) {
        const auto all =
            by.run("SELECT ID FROM information_schema.processlist WHERE USER='" +
                   std::string{support::mariadb_server::user} + "' AND ID<>CONNECTION_ID()");
        if (all.empty())
            return;
        try {
            const char* const what = which % 4 == 0 ? "KILL QUERY " : "KILL ";
            by.run(what + all[which % all.size()].at(0).value());
        } catch (const support::sql_error&) {
            // It has ended by itself.
        }
    }
};

TEST_F(Storm, AKilledConnectionLosesNoHold) {
    constexpr int clients = 8;
    std::atomic<bool> over = false;
    std::vector<std::future<claims>> all;
    for (int i = 0; i < clients; ++i)
        all.push_back(meanwhile([&] { return claimed_until(over); }));
    session killer{server()};
    for (int i = 0; i < kills_wanted(); ++i) {
        kill_one(killer, static_cast<std::uint64_t>(i) * 2'654'435'761U);
        if (i % 4 == 0) { // somebody gets it in spite of that
            const std::string before = token();
            EXPECT_TRUE(support::eventually([&] { return token() != before; }));
        }
    }
    over = true;
    claims together;
    for (auto& each : all)
        std::ranges::move(support::soon(std::move(each)), std::back_inserter(together));
    EXPECT_GT(together.size(), 10U);
    expect_no_overlap(together);
    expect_tokens_grow(together);
    RecordProperty("claims", static_cast<int>(together.size()));
}

// The bell beside an attempt and a release, on a real server.

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

// User locks of other programs with the names of holdfast's user locks. The notification by a user
// lock is only a hint, so locks must still work.

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
