// SPDX-License-Identifier: Apache-2.0
// describe_locks.lua: who holds a lock and who waits for it, whatever kind of lock it is.
#include "fair_scripts.hpp"
#include "store/redis/lock_states.hpp"

namespace holdfast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Le;

class DescribeScript : public on_fair_scripts {
protected:
    using on_fair_scripts::on_fair_scripts;

    std::vector<std::optional<lock_state>> describe(const std::vector<std::string>& names) {
        std::vector<std::string> belongings;
        for (const char* prefix :
             {"redisson_lock__channel", "redisson_lock_token", "redisson_lock_queue",
              "redisson_lock_timeout", "redisson_rwlock", "holdfast_writers"})
            for (const std::string& each : names)
                belongings.push_back(redis::with_prefix(prefix, each));
        for (const std::string& each : names)
            belongings.push_back(redis::timer_prefix(each));
        for (const std::string& each : names)
            belongings.push_back(redis::with_prefix("holdfast_token_lock", each));
        const redis::reply told = run(redis::scripts::describe_locks, names, belongings);
        std::vector<std::optional<lock_state>> all;
        for (std::size_t i = 0; i < names.size(); ++i)
            all.push_back(redis::lock_state_in(names[i], told.items.at(i)));
        return all;
    }
    std::optional<lock_state> described() { return describe({name_}).front(); }

    void reads(const std::string& owner, const std::string& count,
               std::optional<std::int64_t> timer = std::nullopt, int which = 1) {
        server().command({"HSET", name_, "mode", "read", owner, count});
        server().command({"PEXPIRE", name_, "60000"});
        if (timer)
            server().command(
                {"SET",
                 redis::timer_key(name_, owner).erase(timer_end(owner)) + std::to_string(which),
                 "1", "PX", std::to_string(*timer)});
    }
    void marks(const std::string& writer, std::int64_t lasts) {
        server().command({"HSET", "holdfast_writers:{L}", writer,
                          std::to_string(server_ms() + lasts) + " - 100"});
        server().command({"PEXPIRE", "holdfast_writers:{L}", "8000"});
    }
    static std::vector<std::string> names_in(const std::vector<lock_waiter>& all) {
        std::vector<std::string> names;
        for (const lock_waiter& each : all)
            names.push_back(each.text);
        return names;
    }

private:
    static std::size_t timer_end(const std::string& owner) {
        return redis::timer_key("L", owner).size() - 1;
    }
};
HOLDFAST_ON_EACH_SERVER(DescribeScript);

TEST_P(DescribeScript, OfAPlainLockCountsWhoListens) {
    lock(alice, 30'000);
    support::redis_connection one{server().socket_path()}, two{server().socket_path()};
    one.command({"SUBSCRIBE", channel_});
    two.command({"SUBSCRIBE", "redisson_rwlock:{L}"});
    const std::optional<lock_state> seen = described();
    EXPECT_EQ(seen.value().listeners, 1u);
    EXPECT_EQ(seen->waiting, 0u);
    EXPECT_THAT(seen->waiters, IsEmpty());
}

TEST_P(DescribeScript, OfAFairLockTellsItsQueueInOrder) {
    lock(alice, 30'000);
    stands_in_queue(jvm(1), 300'000);
    stands_in_queue(ours(2), -5);
    stands_in_queue(ours(3), std::nullopt);
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", channel_ + ":" + jvm(1)});
    const lock_state seen = described().value();
    EXPECT_EQ(seen.waiting, 3u);
    EXPECT_THAT(names_in(seen.waiters), ElementsAre(jvm(1), ours(2), ours(3)));
    EXPECT_EQ(seen.listeners, 1u);
    EXPECT_THAT(seen.waiters[0].remaining.value(),
                AllOf(Gt(duration{290'000}), Le(duration{300'000})));
    EXPECT_EQ(seen.waiters[0].listens, true);
    EXPECT_EQ(seen.waiters[1].remaining, duration{0});
    EXPECT_EQ(seen.waiters[1].listens, false);
    EXPECT_FALSE(seen.waiters[2].remaining) << "a place without a time";
}

TEST_P(DescribeScript, OfAFreeFairLockTellsWhoseTurnItIs) {
    stands_in_queue(ours(1), 20'000);
    const lock_state seen = described().value();
    EXPECT_FALSE(seen.is_held);
    EXPECT_THAT(names_in(seen.waiters), ElementsAre(ours(1)));
    server().command({"DEL", queue_, deadlines_});
    EXPECT_FALSE(described());
}

TEST_P(DescribeScript, OfAVeryLongQueueTellsTheFirst) {
    lock(alice, 30'000);
    std::vector<std::string> words{"RPUSH", queue_};
    for (int i = 0; i < 2'000; ++i)
        words.push_back(ours(i));
    server().command(words);
    const lock_state seen = described().value();
    EXPECT_EQ(seen.waiting, 2'000u);
    EXPECT_EQ(seen.waiters.size(), 100u);
    EXPECT_EQ(seen.waiters.back().text, ours(99));
}

TEST_P(DescribeScript, OfReadersTellsTheLeaseOfEach) {
    reads(jvm(1), "3", 500, 1);
    reads(jvm(1), "3", 20'000, 2); // the longest counts
    reads(ours(2), "1", 10'000);
    reads(ours(3), "1");
    reads(jvm(4), "1");
    const lock_state seen = described().value();
    ASSERT_EQ(seen.owners.size(), 4u);
    for (const lock_owner& each : seen.owners) {
        EXPECT_FALSE(each.writes);
        if (each.text == jvm(1))
            EXPECT_THAT(each.remaining.value(), AllOf(Gt(duration{10'000}), Le(duration{20'000})));
        else if (each.text == ours(2))
            EXPECT_THAT(each.remaining.value(), AllOf(Gt(duration{500}), Le(duration{10'000})));
        else if (each.text == ours(3))
            EXPECT_EQ(each.remaining, duration{0});
        else
            EXPECT_FALSE(each.remaining);
    }
}

TEST_P(DescribeScript, OfASharedLockTellsWhichWritersWait) {
    reads(ours(1), "1", 20'000);
    marks(ours(2), 5'000);
    marks(ours(3), -5);
    support::redis_connection one{server().socket_path()}, two{server().socket_path()};
    one.command({"SUBSCRIBE", "redisson_rwlock:{L}"});
    two.command({"SUBSCRIBE", channel_});
    const lock_state seen = described().value();
    EXPECT_EQ(seen.kind, key_kind::read_write_lock);
    EXPECT_EQ(seen.listeners, 1u);
    EXPECT_EQ(seen.waiting, 1u);
    EXPECT_THAT(names_in(seen.waiters), ElementsAre(ours(2)));
    EXPECT_THAT(seen.waiters[0].remaining.value(), AllOf(Gt(duration{1'000}), Le(duration{5'000})));
    EXPECT_FALSE(seen.waiters[0].listens);
}

TEST_P(DescribeScript, MixesUpNoTwoLocks) {
    lock(alice, 30'000);
    stands_in_queue(ours(1), 20'000);
    server().command({"HSET", "R", "mode", "write", std::string{bob} + ":write", "1"});
    server().command({"SET", "S", "x"});
    const auto seen = describe({"R", "free", name_, "S"});
    EXPECT_EQ(seen[0].value().kind, key_kind::read_write_lock);
    EXPECT_TRUE(seen[0]->owners.at(0).writes);
    EXPECT_EQ(seen[0]->waiting, 0u);
    EXPECT_FALSE(seen[1]);
    EXPECT_THAT(names_in(seen[2].value().waiters), ElementsAre(ours(1)));
    EXPECT_EQ(seen[3].value().kind, key_kind::other);
}

TEST_P(DescribeScript, WhatIsDeniedOrBrokenIsNotTold) {
    lock(alice, 30'000);
    stands_in_queue(ours(1), 20'000);
    for (const char* const command : {"lrange", "llen", "zscore", "time", "pubsub"}) {
        deny(command);
        const lock_state seen = described().value();
        EXPECT_EQ(seen.owners.at(0).text, alice) << command;
        EXPECT_EQ(seen.waiting.has_value(), std::string_view{command} != "lrange");
        EXPECT_EQ(seen.listeners.has_value(), std::string_view{command} != "pubsub");
        const bool only_counts = std::string_view{command} == "llen";
        for (const lock_waiter& each : seen.waiters)
            EXPECT_EQ(each.remaining && each.listens, only_counts) << command;
    }
    allow_all();
    server().command({"DEL", queue_});
    server().command({"SET", queue_, "x"});
    EXPECT_FALSE(described().value().waiting);
    server().command({"DEL", name_});
    reads(ours(2), "1", 20'000);
    server().command({"SET", "holdfast_writers:{L}", "x"});
    EXPECT_FALSE(described().value().waiting);
}

TEST_P(DescribeScript, AReaderWhoseTimerMayNotBeReadIsNotCalledDead) {
    reads(ours(2), "1", 20'000);
    become({"~" + name_, "&*", "+@all"});
    const lock_state seen = described().value();
    EXPECT_EQ(seen.owners.at(0).text, ours(2));
    EXPECT_FALSE(seen.owners.at(0).remaining);
    allow_all();
}

} // namespace
} // namespace holdfast
