// SPDX-License-Identifier: Apache-2.0
// How waiters are woken: the bell is only a hint.
#include "mysql/bell_fixture.hpp"

namespace holdfast::mysql {
namespace {

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

} // namespace
} // namespace holdfast::mysql
