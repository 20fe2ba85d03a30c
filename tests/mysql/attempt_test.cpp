// SPDX-License-Identifier: Apache-2.0
// What one attempt is worth, on a real server: late ones, repeated ones, whose clock it is.
#include "mysql/rows.hpp"

#include <future>
#include <thread>

namespace holdfast::mysql {
namespace {

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
    row_lock nail{server(), name_};
    const std::int64_t late = operate().now() + 200'000;
    auto told = std::async(std::launch::async, [&] {
        return alice.attempt_if_free(wanted(lock_kind::plain, 1), std::to_string(late));
    });
    ASSERT_TRUE(somebody_waits());
    until_after(late);
    nail.end();
    EXPECT_TRUE(told.get().no_row);
    EXPECT_EQ(of_row("owner"), "");
}

TEST_F(Attempt, AnUpdateThatWaitedBehindARowLockDoesNotGrantLate) {
    session alice{server()};
    row_lock nail{server(), name_};
    const std::int64_t late = operate().now() + 200'000;
    auto told = attempted_meanwhile(alice, wanted(lock_kind::plain, 1), std::to_string(late));
    ASSERT_TRUE(somebody_waits());
    until_after(late);
    nail.end();
    EXPECT_EQ(told.get().said, verdict::late);
    EXPECT_EQ(of_row("owner"), "");
}

TEST_F(Attempt, AnUpdateThatWaitedBehindARowLockInTimeIsGranted) {
    session alice{server()};
    row_lock nail{server(), name_};
    auto told = attempted_meanwhile(alice, wanted(lock_kind::plain, 1), never_late);
    ASSERT_TRUE(somebody_waits());
    nail.end();
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

} // namespace
} // namespace holdfast::mysql
