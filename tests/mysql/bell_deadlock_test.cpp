// SPDX-License-Identifier: Apache-2.0
// User locks of strangers that stand in each other's way with ours: the bell is only a hint.
#include "mysql/bell_fixture.hpp"

namespace holdfast::mysql {
namespace {

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
    lease held = taken(lock);
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
