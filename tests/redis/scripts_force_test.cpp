// SPDX-License-Identifier: Apache-2.0
// force_lock.lua: whatever kind of lock it is, whoever may have it next is told, and nobody else
// loses anything.
#include "scripts_fixture.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Le;

constexpr int freed = 1, was_free = 0, too_late = 2, of_others = 3;

class ForceScript : public on_scripts {
protected:
    using on_scripts::on_scripts;

    void hash(const std::vector<std::string>& fields) {
        std::vector<std::string> words{"HSET", name_};
        words.insert(words.end(), fields.begin(), fields.end());
        server().command({"DEL", name_});
        server().command(words);
    }
    static std::vector<std::string> crowd_of(int readers) {
        std::vector<std::string> fields{"mode", "read"};
        for (int i = 0; i < readers; ++i) {
            fields.push_back("aaaaaaaa-0000-4000-8000-000000000001:" + std::to_string(i));
            fields.emplace_back("1");
        }
        return fields;
    }
    void queue(const std::string& owner, std::int64_t waits_until_ms) {
        server().command({"RPUSH", "redisson_lock_queue:{L}", owner});
        server().command(
            {"ZADD", "redisson_lock_timeout:{L}", std::to_string(waits_until_ms), owner});
    }
    /// What `force()` tells and to whom, as `channel message`, in order.
    std::vector<std::string> told_by_force() {
        support::redis_connection listener{server().socket_path()};
        listener.command({"PSUBSCRIBE", "*"});
        EXPECT_EQ(integers_of(force()).at(0), freed);
        server().command({"PUBLISH", "end", ""});
        std::vector<std::string> all;
        while (const auto message = listener.next_message(duration{5'000})) {
            if (message->items[2].text == "end")
                break;
            all.push_back(message->items[2].text + ' ' + message->items[3].text);
        }
        return all;
    }
    std::vector<std::string> owners_in(const redis::reply& said) {
        std::vector<std::string> all;
        for (std::size_t i = 2; i < said.items.size(); ++i)
            all.push_back(said.items[i].text);
        return all;
    }
};
HOLDFAST_ON_EACH_SERVER(ForceScript);

TEST_P(ForceScript, EndsAnybodysHoldAndSaysWhose) {
    hash({alice, "3"});
    const std::int64_t before = server_micros();
    const redis::reply said = force();
    EXPECT_THAT(integers_of(said), ElementsAre(freed, AllOf(Gt(before), Le(server_micros()))));
    EXPECT_THAT(owners_in(said), ElementsAre(alice));
    EXPECT_FALSE(exists());
}

TEST_P(ForceScript, AFreeLockIsToldToNobody) {
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", channel_});
    EXPECT_EQ(integers_of(force()).at(0), was_free);
    server().command({"PUBLISH", channel_, "the next message"});
    EXPECT_EQ(listener.next_message(duration{5'000})->items[2].text, "the next message");
}

TEST_P(ForceScript, AnotherOwnerThanTheExpectedOneKeepsItsHold) {
    lock(alice, 30'000);
    const redis::reply said = force(0, bob);
    EXPECT_EQ(integers_of(said).at(0), of_others);
    EXPECT_THAT(owners_in(said), ElementsAre(alice));
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_EQ(integers_of(force(0, alice)).at(0), freed);
    EXPECT_EQ(integers_of(force(0, alice)).at(0), was_free);
}

TEST_P(ForceScript, ALateOneTakesNothingAndSaysSo) {
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(force(server_micros() - 1)), ElementsAre(too_late, Gt(0)));
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_EQ(integers_of(force(server_micros() + 60'000'000)).at(0), freed);
}

TEST_P(ForceScript, WaitersOfAPlainLockAreTold) {
    lock(alice, 30'000);
    EXPECT_THAT(told_by_force(), ElementsAre("redisson_lock__channel:{L} 0"));
}

TEST_P(ForceScript, OneWaiterOfAReadLockIsTold) {
    queue("of a fair lock", server_micros() / 1000 + 300'000);
    hash({"mode", "read", alice, "1", bob, "2"});
    EXPECT_THAT(told_by_force(), ElementsAre("redisson_rwlock:{L} 0"));
    EXPECT_FALSE(exists());
}

TEST_P(ForceScript, AllWaitersOfAWriteLockAreTold) {
    hash({"mode", "write", std::string{alice} + ":write", "1", alice, "1"});
    EXPECT_THAT(told_by_force(), ElementsAre("redisson_rwlock:{L} 1"));
    EXPECT_FALSE(exists());
}

TEST_P(ForceScript, OfAFairQueueItsHeadIsTold) {
    const std::int64_t now = server_micros() / 1000;
    lock(alice, 30'000);
    queue(bob, now + 300'000);
    queue(alice, now + 600'000);
    EXPECT_THAT(told_by_force(),
                ElementsAre("redisson_lock__channel:{L} 0",
                            std::string{"redisson_lock__channel:{L}:"} + bob + " 0"));
    EXPECT_EQ(ask({"LLEN", "redisson_lock_queue:{L}"}), 2); // the queue is its waiters' own
}

TEST_P(ForceScript, AndWhoComesBehindAHeadThatGaveUp) {
    const std::int64_t now = server_micros() / 1000;
    lock(alice, 30'000);
    queue("dead", now - 1);
    server().command({"RPUSH", "redisson_lock_queue:{L}", "without a score"});
    queue("next", now + 300'000);
    queue("last", now + 600'000);
    EXPECT_THAT(told_by_force(),
                ElementsAre("redisson_lock__channel:{L} 0", "redisson_lock__channel:{L}:dead 0",
                            "redisson_lock__channel:{L}:without a score 0",
                            "redisson_lock__channel:{L}:next 0"));
}

TEST_P(ForceScript, AQueueThatIsNoneDisturbsNobody) {
    server().command({"SET", "redisson_lock_queue:{L}", "x"});
    lock(alice, 30'000);
    EXPECT_THAT(told_by_force(), ElementsAre("redisson_lock__channel:{L} 0"));
}

TEST_P(ForceScript, AHashThatIsNoLockIsNeverTouched) {
    const std::vector<std::vector<std::string>> others{
        {"name", "x"},
        {alice, "1", bob, "1"},
        {alice, "1", "name", "x"},
        {"mode", "read"},
        {"mode", "read", alice, "1", "name", "x"},
        {std::string{alice} + ":write", "1"},
        {std::string{alice} + ":expire_time", "1", "mode", "read"}};
    for (const std::vector<std::string>& other : others) {
        hash(other);
        const std::string before = server().command({"DUMP", name_}).text;
        EXPECT_TRUE(is_error(force(), "WRONGTYPE")) << other[0];
        EXPECT_EQ(server().command({"DUMP", name_}).text, before) << other[0];
    }
}

TEST_P(ForceScript, OfACrowdOfReadersSomeAreNamed) {
    hash(crowd_of(1'000));
    EXPECT_EQ(force().items.size(), 102u);
    EXPECT_FALSE(exists());
}

TEST_P(ForceScript, ACrowdThatWouldKeepTheServerBusyIsNotLookedAt) {
    hash(crowd_of(10'000)); // and their `mode`
    EXPECT_TRUE(is_error(force(), "WRONGTYPE"));
    EXPECT_TRUE(exists());
}

/// Its date is ours to move.
class ForceScriptInTime : public ForceScript {
protected:
    ForceScriptInTime()
        : ForceScript{{.own_clock = true}} {}
};
HOLDFAST_ON_EACH_SERVER(ForceScriptInTime);

TEST_P(ForceScriptInTime, ARequestThatWasDelayedDoesNotFreeANewerHolder) {
    lock(alice, 5'000);
    const std::int64_t deadline = server_micros() + 3'000'000;
    server().step_clock(std::chrono::seconds{6});
    EXPECT_EQ(integers_of(lock(bob, 30'000)).at(0), 1);
    const redis::reply said = force(deadline);
    EXPECT_EQ(integers_of(said).at(0), too_late);
    EXPECT_THAT(owners_in(said), IsEmpty());
    EXPECT_EQ(count_of(bob), "1");
}

} // namespace
} // namespace holdfast
