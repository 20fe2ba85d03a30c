// SPDX-License-Identifier: Apache-2.0
// Readers, writers and permits, on a real server.
#include "mysql/rows.hpp"
#include "store/mysql/counter_texts.hpp"

namespace holdfast::mysql {
namespace {

using remote::verdict;

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

} // namespace
} // namespace holdfast::mysql
