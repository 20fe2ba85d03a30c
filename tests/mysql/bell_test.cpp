// SPDX-License-Identifier: Apache-2.0
// The bell beside an attempt and a release, on a real server.
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

} // namespace
} // namespace holdfast::mysql
