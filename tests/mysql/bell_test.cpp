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
    std::string taken_by(session& one) { return one.value(bell_for_grant(bell())); }
    std::string holder() { return operate().value("SELECT IS_USED_LOCK('" + bell() + "')"); }
};

TEST_F(Bell, ComesWithAGrant) {
    session alice{server()};
    alice.attempt(wanted(lock_kind::plain, 1));
    EXPECT_EQ(taken_by(alice), "1");
    EXPECT_EQ(holder(), std::to_string(alice.id()));
}

TEST_F(Bell, DoesNotComeWithoutOne) {
    session alice{server()}, bob{server()};
    alice.attempt(wanted(lock_kind::plain, 1));
    bob.attempt(wanted(lock_kind::plain, 1, 30s, 2));
    EXPECT_EQ(taken_by(bob), "-1");
    bob.attempt(wanted(lock_kind::plain, 2, 30s, 2), "0");
    EXPECT_EQ(taken_by(bob), "-1") << "it was late";
}

// LAST_INSERT_ID() is then that of an earlier grant.
TEST_F(Bell, DoesNotComeWithAnEarlierGrant) {
    session alice{server()};
    alice.attempt(wanted(lock_kind::plain, 1));
    alice.release(wanted(lock_kind::plain, 1));
    alice.attempt(wanted(lock_kind::plain, 2));
    ask nowhere = wanted(lock_kind::plain, 3);
    nowhere.name.text += "nobody has used this";
    EXPECT_TRUE(alice.attempt(nowhere).no_row);
    EXPECT_EQ(taken_by(alice), "-1");
}

// User locks nest: two would have to be given back.
TEST_F(Bell, IsTakenOnceForAnAttemptThatIsRepeated) {
    session alice{server()};
    const ask want = wanted(lock_kind::plain, 1);
    alice.attempt(want);
    EXPECT_EQ(taken_by(alice), "1");
    alice.attempt(want);
    EXPECT_EQ(taken_by(alice), "1");
    alice.run(bell_dropped(bell()));
    EXPECT_EQ(holder(), "");
}

TEST_F(Bell, AReleaseTellsWhetherOthersWait) {
    session alice{server()}, bob{server()};
    alice.attempt(wanted(lock_kind::plain, 1));
    taken_by(alice);
    const auto alone = alice.run(bell_dropped(bell()));
    EXPECT_EQ(alone.at(0).at(1), "1");

    alice.attempt(wanted(lock_kind::plain, 1));
    taken_by(alice);
    auto waits = std::async(std::launch::async,
                            [&] { return bob.value("SELECT GET_LOCK('" + bell() + "',20)"); });
    ASSERT_TRUE(support::eventually([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "STATE='User lock' AND ID=" +
                              std::to_string(bob.id())) == "1";
    }));
    const auto awaited = alice.run(bell_dropped(bell()));
    EXPECT_EQ(awaited.at(0).at(0), "1");
    EXPECT_EQ(awaited.at(0).at(1), "0");
    EXPECT_EQ(waits.get(), "1");
}

} // namespace
} // namespace holdfast::mysql
