// SPDX-License-Identifier: Apache-2.0
// lock_mutex.lua and release_mutex.lua in cases without errors.
#include "scripts_fixture.hpp"
#include "store/redis/inspector.hpp"
#include "store/redis/names.hpp"

#include <iterator>
#include <sstream>
#include <thread>

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Le;

class MutexScripts : public on_scripts {};
HOLDFAST_ON_EACH_SERVER(MutexScripts);

TEST_P(MutexScripts, AFreeLockIsTaken) {
    const std::int64_t before = server_micros();
    const numbers said = integers_of(lock(alice, 30'000));
    EXPECT_THAT(said, ElementsAre(1, 0, AllOf(Gt(before), Le(server_micros()))));
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_EQ(ask({"HLEN", name_}), 1);
    EXPECT_THAT(time_left(), AllOf(Gt(24'000), Le(30'000)));
}

TEST_P(MutexScripts, TakingTwiceIsTakingOnce) {
    lock(alice, 30'000);
    EXPECT_EQ(integers_of(lock(alice, 30'000))[0], 1);
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_EQ(integers_of(release(alice))[0], 1);
    EXPECT_FALSE(exists());
}

TEST_P(MutexScripts, TakingAgainExtendsAndNeverShortens) {
    lock(alice, 30'000);
    EXPECT_EQ(integers_of(lock(alice, 1'000))[0], 1);
    EXPECT_GT(time_left(), 24'000);
    lock(alice, 60'000);
    EXPECT_GT(time_left(), 54'000);
}

TEST_P(MutexScripts, TakingAgainIsAlwaysWritten) {
    lock(alice, 30'000);
    const std::int64_t before = changes();
    EXPECT_EQ(integers_of(lock(alice, 1'000))[0], 1);
    EXPECT_GT(changes(), before);
    lock(bob, 30'000);
    EXPECT_EQ(changes(), before + 1);
}

TEST_P(MutexScripts, AHoldThatSomebodyMadeEndlessStaysSo) {
    lock(alice, 30'000);
    server().command({"PERSIST", name_});
    const std::int64_t before = changes();
    EXPECT_EQ(integers_of(lock(alice, 30'000))[0], 1);
    EXPECT_EQ(time_left(), -1);
    EXPECT_EQ(changes(), before);
    EXPECT_EQ(integers_of(release(alice))[0], 1);
    EXPECT_FALSE(exists());
}

TEST_P(MutexScripts, BusyTellsWhatIsLeftAndTouchesNothing) {
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(lock(bob, 90'000)),
                ElementsAre(0, AllOf(Gt(24'000), Le(30'000)), Gt(0)));
    EXPECT_EQ(ask({"HLEN", name_}), 1);
    EXPECT_LE(time_left(), 30'000);
}

TEST_P(MutexScripts, BusyWithoutAnEndSaysSo) {
    server().command({"HSET", name_, alice, "1"});
    EXPECT_THAT(integers_of(lock(bob, 30'000)), ElementsAre(0, -1, Gt(0)));
}

TEST_P(MutexScripts, LateIsRefused) {
    EXPECT_THAT(integers_of(lock(alice, 30'000, server_micros() - 1)), ElementsAre(2, 0, Gt(0)));
    EXPECT_FALSE(exists());
    EXPECT_EQ(integers_of(lock(alice, 30'000, server_micros() + 60'000'000))[0], 1);
}

TEST_P(MutexScripts, LateIsRefusedToTheHolderTooAndTakesNothingAway) {
    lock(alice, 30'000);
    EXPECT_EQ(integers_of(lock(alice, 90'000, server_micros() - 1))[0], 2);
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_LE(time_left(), 30'000);
}

TEST_P(MutexScripts, AReleaseIsToldToWhoListens) {
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", channel_});
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, 1));
    EXPECT_FALSE(exists());
    const auto message = listener.next_message(duration{5'000});
    ASSERT_TRUE(message);
    EXPECT_EQ(message->items[1].text, channel_);
    EXPECT_EQ(message->items[2].text, "0");
}

TEST_P(MutexScripts, ReleasingTwiceIsReleasingOnce) {
    support::redis_connection listener{server().socket_path()};
    lock(alice, 30'000);
    release(alice);
    listener.command({"SUBSCRIBE", channel_});
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(0, 0));
    server().command({"PUBLISH", channel_, "the next message"});
    EXPECT_EQ(listener.next_message(duration{5'000})->items[2].text, "the next message");
}

TEST_P(MutexScripts, NobodyReleasesAnothersHold) {
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(release(bob)), ElementsAre(0, 0));
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_GT(time_left(), 24'000);
}

/// The test controls the date of this server, so it need not wait until a request is late or a
/// lease has ended.
class MutexScriptsInTime : public on_scripts {
protected:
    MutexScriptsInTime()
        : on_scripts{{.own_clock = true}} {}
};
HOLDFAST_ON_EACH_SERVER(MutexScriptsInTime);

TEST_P(MutexScriptsInTime, ALeaseThatEndedFreesTheLock) {
    lock(alice, 30'000);
    server().step_clock(std::chrono::seconds{29});
    EXPECT_EQ(integers_of(lock(bob, 30'000))[0], 0);
    server().step_clock(std::chrono::seconds{2});
    EXPECT_EQ(integers_of(lock(bob, 30'000))[0], 1);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(0, 0));
    EXPECT_EQ(count_of(bob), "1");
}

TEST_P(MutexScriptsInTime, ARequestThatComesAfterItsDeadlineIsLate) {
    const std::int64_t deadline = server_micros() + 10'000'000;
    server().step_clock(std::chrono::seconds{9});
    EXPECT_EQ(integers_of(lock(alice, 30'000, deadline))[0], 1);
    release(alice);
    server().step_clock(std::chrono::seconds{2});
    EXPECT_EQ(integers_of(lock(alice, 30'000, deadline))[0], 2);
    EXPECT_FALSE(exists());
}

// lock_mutex.lua and release_mutex.lua for spin locks: the waiters record that they wait, because a
// release does not notify them.

class SpinScripts : public on_scripts {
protected:
    SpinScripts()
        : on_scripts{{.own_clock = true}} {}

    static constexpr const char* carol = "cccccccc-0000-4000-8000-000000000003:3";

    /// Sends an attempt whose client waits. A busy attempt records the client for two seconds.
    numbers spin(const std::string& owner, const std::string& recorded_for = "2000") {
        return integers_of(run(redis::scripts::lock_mutex, {name_, waiters_},
                               {"30000", owner, "0", recorded_for}));
    }
    numbers release_spin(const std::string& owner) {
        return integers_of(
            run(redis::scripts::release_mutex, {name_, waiters_}, {owner, "", "PUBLISH"}));
    }

    const std::string waiters_ = redis::spinners_key({name_});
};
HOLDFAST_ON_EACH_SERVER(SpinScripts);

TEST_P(SpinScripts, ReleaseTellsHowManyOtherClientsWait) {
    spin(alice);
    for (const char* owner : {bob, carol, bob})
        EXPECT_EQ(spin(owner)[0], 0);
    EXPECT_THAT(release_spin(alice), ElementsAre(1, 2));
}

TEST_P(SpinScripts, ClientThatHadTheLockIsNoLongerCounted) {
    spin(alice);
    spin(bob);
    spin(carol);
    release_spin(alice);
    spin(bob);
    EXPECT_THAT(release_spin(bob), ElementsAre(1, 1));
    spin(carol);
    EXPECT_THAT(release_spin(carol), ElementsAre(1, 0));
    EXPECT_EQ(ask({"DBSIZE"}), 0);
}

TEST_P(SpinScripts, ClientThatDoesNotWaitIsNotCounted) {
    spin(alice);
    spin(bob, "0");
    EXPECT_THAT(release_spin(alice), ElementsAre(1, 0));
}

TEST_P(SpinScripts, ClientThatStopsPollingIsCountedUntilItsTimeIsOver) {
    spin(alice);
    spin(bob);
    server().step_clock(std::chrono::seconds{1});
    spin(bob);
    server().step_clock(std::chrono::milliseconds{1'500});
    EXPECT_EQ(ask({"HLEN", waiters_}), 1);
    server().step_clock(std::chrono::seconds{1});
    EXPECT_THAT(release_spin(alice), ElementsAre(1, 0));
}

// renew_leases.lua and inspect_lock.lua when nothing is wrong.

class RenewalScripts : public on_scripts {};
HOLDFAST_ON_EACH_SERVER(RenewalScripts);

TEST_P(RenewalScripts, AHoldIsExtended) {
    lock(alice, 10'000);
    EXPECT_THAT(integers_of(renew({name_}, 30'000, {alice})), ElementsAre(1));
    EXPECT_THAT(time_left(), AllOf(Gt(24'000), Le(30'000)));
}

TEST_P(RenewalScripts, AHoldIsNeverShortened) {
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(renew({name_}, 1'000, {alice})), ElementsAre(1));
    EXPECT_GT(time_left(), 24'000);
}

TEST_P(RenewalScripts, AskingExtendsNothing) {
    lock(alice, 10'000);
    EXPECT_THAT(integers_of(renew({name_}, 0, {alice})), ElementsAre(1));
    EXPECT_LE(time_left(), 10'000);
    EXPECT_THAT(integers_of(renew({name_}, 0, {bob})), ElementsAre(0));
}

TEST_P(RenewalScripts, EveryHoldIsWrittenEvenIfItIsOnlyAskedAbout) {
    lock(alice, 30'000);
    for (const std::int64_t lease : {60'000, 1'000, 0}) {
        const std::int64_t before = changes();
        EXPECT_THAT(integers_of(renew({name_}, lease, {alice})), ElementsAre(1));
        EXPECT_EQ(changes(), before + 1) << lease;
        EXPECT_GT(time_left(), 24'000) << lease;
    }
}

TEST_P(RenewalScripts, AHoldWithoutAnEndStaysWithoutOne) {
    server().command({"HSET", name_, alice, "1"});
    for (const std::int64_t lease : {30'000, 0}) {
        EXPECT_THAT(integers_of(renew({name_}, lease, {alice})), ElementsAre(1));
        EXPECT_EQ(time_left(), -1);
    }
}

TEST_P(RenewalScripts, AHoldThatIsGoneIsNotMadeAgain) {
    EXPECT_THAT(integers_of(renew({name_}, 30'000, {alice})), ElementsAre(0));
    EXPECT_FALSE(exists());
}

TEST_P(RenewalScripts, NobodyExtendsAnothersHold) {
    lock(alice, 10'000);
    EXPECT_THAT(integers_of(renew({name_}, 30'000, {bob})), ElementsAre(0));
    EXPECT_LE(time_left(), 10'000);
    EXPECT_EQ(ask({"HLEN", name_}), 1);
}

TEST_P(RenewalScripts, EachNameHasItsOwnAnswer) {
    for (const char* each : {"first", "last"}) {
        name_ = each;
        lock(alice, 10'000);
    }
    name_ = "bobs";
    lock(bob, 10'000);
    server().command({"SET", "a string", "kept"});
    const redis::reply said = renew({"first", "absent", "bobs", "a string", "last"}, 30'000,
                                    {alice, alice, alice, alice, alice});
    EXPECT_THAT(integers_of(said), ElementsAre(1, 0, 0, 0, 1));
    EXPECT_GT(ask({"PTTL", "first"}), 24'000);
    EXPECT_GT(ask({"PTTL", "last"}), 24'000);
    EXPECT_LE(ask({"PTTL", "bobs"}), 10'000);
    EXPECT_EQ(server().command({"GET", "a string"}).text, "kept");
}

TEST_P(RenewalScripts, InspectingTellsWhoHoldsAndForHowLong) {
    EXPECT_TRUE(inspect().items.empty());
    lock(alice, 30'000);
    const redis::reply found = inspect();
    ASSERT_EQ(found.items.size(), 2u);
    EXPECT_THAT(found.items[0].integer, AllOf(Gt(24'000), Le(30'000)));
    EXPECT_EQ(found.items[1].text, alice);
    server().command({"PERSIST", name_});
    EXPECT_EQ(inspect().items[0].integer, -1);
}

// Any bytes are a name, and a cluster can hold what is not objected to.

std::vector<std::string> odd_names() {
    return {std::string{"CR\r\nLF"},      std::string{"N\0L", 3},     std::string(100'000, 'x'),
            std::string{"\xff\xfe\x80"},  std::string{"a{b}c"},       std::string{"*?[a]"},
            std::string{"\" ' \\ $1 %s"}, std::string{"return 1 --"}, std::string{" "}};
}

class OddNames : public on_scripts {};
HOLDFAST_ON_EACH_SERVER(OddNames);

TEST_P(OddNames, AreLockedToldOfAndReleasedAsAnyOther) {
    support::redis_connection listener{server().socket_path()};
    for (const std::string& each : odd_names()) {
        name_ = each;
        channel_ = redis::lock_channel(each).text;
        listener.command({"SUBSCRIBE", channel_});
        EXPECT_EQ(integers_of(lock(alice, 30'000))[0], 1);
        EXPECT_EQ(integers_of(lock(bob, 30'000))[0], 0);
        EXPECT_EQ(count_of(alice), "1");
        EXPECT_THAT(integers_of(renew({name_}, 60'000, {alice})), ElementsAre(1));
        EXPECT_EQ(inspect().items.at(1).text, alice);
        EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, 1));
        EXPECT_EQ(listener.next_message(duration{5'000})->items[1].text, channel_);
        EXPECT_EQ(ask({"DBSIZE"}), 0);
    }
}

TEST_P(OddNames, OwnersAreAnyBytesToo) {
    const std::string owner{"a\r\n\0\xff{}", 7};
    EXPECT_EQ(integers_of(lock(owner, 30'000))[0], 1);
    EXPECT_EQ(integers_of(release(owner))[0], 1);
}

class InACluster : public on_scripts {
protected:
    InACluster()
        : on_scripts{{.cluster = true}} {}

    void serve_all_slots() {
        server().command({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
        const auto is_up = [this] {
            return server().command({"CLUSTER", "INFO"}).text.find("cluster_state:ok") !=
                   std::string::npos;
        };
        for (int polls = 0; !is_up() && polls < 5'000; ++polls) // it hesitates for two seconds
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }

    std::int64_t slot(const std::string& key) { return ask({"CLUSTER", "KEYSLOT", key}); }

    /// Key, channel and the latch key of a Redisson that unlocks it, on one node?
    bool one_slot(const std::string& name) {
        const std::string latch =
            redis::with_prefix("redisson_unlock_latch", name) + ":" + std::string(32, '0');
        return slot(name) == slot(redis::lock_channel(name).text) && slot(name) == slot(latch);
    }
};
HOLDFAST_ON_EACH_SERVER(InACluster);

TEST_P(InACluster, ExactlyTheNamesItCanHoldAreAllowed) {
    for (const char* good : {"plain", "a{b}c", "{b}", "}a{b}", "a{b}{", "a{b}}", "a{b}{}", "{{b}",
                             "{b}{c}", "a:{b:c}"}) {
        EXPECT_EQ(redis::objection_to_name(good, 100), std::nullopt) << good;
        EXPECT_TRUE(one_slot(good)) << good;
    }
    for (const char* bad : {"na}me", "na{me", "}", "{", "{}", "a{}", "{}a", "a{}{b}", "}{", "}a{b",
                            "}}", "{{", "{}}"}) {
        EXPECT_NE(redis::objection_to_name(bad, 100), std::nullopt) << bad;
        EXPECT_FALSE(one_slot(bad)) << bad;
    }
}

TEST_P(InACluster, ALockIsTakenRenewedAndReleased) {
    serve_all_slots();
    for (const char* each : {"plain", "a{b}c", "}a{b}"}) {
        name_ = each;
        channel_ = redis::lock_channel(name_).text;
        EXPECT_EQ(integers_of(lock(alice, 30'000))[0], 1);
        EXPECT_THAT(integers_of(renew({name_}, 60'000, {alice})), ElementsAre(1));
        EXPECT_EQ(integers_of(release(alice))[0], 1);
        lock(bob, 30'000);
        EXPECT_EQ(integers_of(force()).at(0), 1);
    }
}

/// The rights that docs/protocol/mutex.md says are enough.
class LeastRights : public on_scripts {
protected:
    redis::reply run(const redis::script& what, std::vector<std::string> keys,
                     std::vector<std::string> arguments) override {
        return support::run_script(*application_, what, std::move(keys), std::move(arguments));
    }
    std::optional<support::redis_connection> application_;
};
HOLDFAST_ON_EACH_SERVER(LeastRights);

TEST_P(LeastRights, AreEnough) {
    const std::string rights =
        "resetkeys resetchannels -@all +eval +evalsha +time +pttl +pexpire +hset +hexists +hlen "
        "+hkeys +hdel +del +publish +subscribe +unsubscribe ~app:* &redisson_lock__channel:{app:*";
    std::vector<std::string> words{"ACL", "SETUSER", "app", "on", ">secret"};
    std::istringstream each{rights};
    words.insert(words.end(), std::istream_iterator<std::string>{each}, {});
    const redis::reply made = server().command(words);
    ASSERT_EQ(made.text, "OK");
    application_.emplace(server().socket_path());
    application_->command({"AUTH", "app", "secret"});
    name_ = "app:lock";
    channel_ = redis::lock_channel(name_).text;

    EXPECT_THAT(integers_of(lock(alice, 30'000)), ElementsAre(1, 0, ::testing::Gt(0)));
    EXPECT_EQ(integers_of(lock(alice, 60'000))[0], 1);
    EXPECT_EQ(integers_of(lock(bob, 30'000))[0], 0);
    EXPECT_THAT(integers_of(renew({name_}, 90'000, {alice})), ElementsAre(1));
    EXPECT_EQ(inspect().items.size(), 2u);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, 0));
    lock(bob, 30'000);
    EXPECT_EQ(integers_of(force()).at(0), 1);
    EXPECT_EQ(application_->command({"SUBSCRIBE", channel_}).items.size(), 3u);
}

// Parts that several scripts share, tested in full although no present request uses all of them.

class ScriptParts : public on_scripts {};
HOLDFAST_ON_EACH_SERVER(ScriptParts);

TEST_P(ScriptParts, TwoWaysToTellAreAddedUp) {
    support::redis_connection by_channel{server().socket_path()};
    support::redis_connection by_shard{server().socket_path()};
    by_channel.command({"SUBSCRIBE", channel_});
    by_shard.command({"SSUBSCRIBE", channel_});
    lock(alice, 10'000);
    const redis::reply said =
        run(redis::scripts::release_mutex, {name_}, {alice, channel_, "PUBLISH", "SPUBLISH"});
    EXPECT_THAT(integers_of(said), ElementsAre(1, 2));
    EXPECT_TRUE(by_channel.next_message(std::chrono::seconds{10}));
    EXPECT_TRUE(by_shard.next_message(std::chrono::seconds{10}));
}

TEST_P(ScriptParts, OneWayThatIsDeniedIsTold) {
    lock(alice, 10'000);
    server().command({"ACL", "SETUSER", "default", "-spublish"});
    const redis::reply said =
        run(redis::scripts::release_mutex, {name_}, {alice, channel_, "PUBLISH", "SPUBLISH"});
    EXPECT_THAT(integers_of(said), ElementsAre(1, -1));
    EXPECT_FALSE(exists());
}

// describe_locks.lua: who holds a lock and who waits for it, whatever kind of lock it is.

using ::testing::IsEmpty;

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

// The scripts on a server that is full, forgetful, a replica, or lets them do only so much.

class ScriptsInTrouble : public on_limited_scripts {};
HOLDFAST_ON_EACH_SERVER(ScriptsInTrouble);

TEST_P(ScriptsInTrouble, AKeyThatIsNoLockIsNeverTouched) {
    const std::vector<std::vector<std::string>> others{{"SET", name_, "x"},
                                                       {"RPUSH", name_, "x"},
                                                       {"SADD", name_, "x"},
                                                       {"ZADD", name_, "1", "x"},
                                                       {"XADD", name_, "1-1", "x", "y"}};
    for (const std::vector<std::string>& other : others) {
        server().command({"DEL", name_});
        server().command(other);
        const std::string before = server().command({"DUMP", name_}).text;
        EXPECT_TRUE(is_error(lock(alice, 30'000), "WRONGTYPE")) << other[0];
        EXPECT_TRUE(is_error(force(), "WRONGTYPE")) << other[0];
        // A string may be the token of any program.
        EXPECT_EQ(is_error(inspect(), "WRONGTYPE"), other[0] != "SET") << other[0];
        // The hold is certainly gone, and that is an answer.
        EXPECT_THAT(integers_of(release(alice)), ElementsAre(0, 0)) << other[0];
        EXPECT_THAT(integers_of(renew({name_}, 30'000, {alice})), ElementsAre(0)) << other[0];
        EXPECT_EQ(server().command({"DUMP", name_}).text, before) << other[0];
        EXPECT_EQ(time_left(), -1) << other[0];
    }
}

TEST_P(ScriptsInTrouble, AFullServerGrantsNothingButReleases) {
    lock(alice, 10'000);
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_THAT(integers_of(renew({name_}, 30'000, {alice})), ElementsAre(1));
    EXPECT_GT(time_left(), 24'000);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, 0));
    EXPECT_TRUE(is_error(lock(bob, 30'000), "OOM"));
    EXPECT_FALSE(exists());
}

TEST_P(ScriptsInTrouble, ALeaseThatIsNoLengthOfTimeLeavesNothing) {
    const redis::reply said =
        run(redis::scripts::lock_mutex, {name_}, {"99999999999999999999", alice, "0"});
    EXPECT_EQ(said.type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
}

TEST_P(ScriptsInTrouble, WithoutTheRightToSetAnEndNothingIsHeld) {
    deny("pexpire");
    EXPECT_EQ(lock(alice, 30'000).type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
}

TEST_P(ScriptsInTrouble, WithoutTheRightToPublishALockIsStillReleased) {
    deny("publish");
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, -1));
    EXPECT_FALSE(exists());
    lock(alice, 30'000);
    EXPECT_EQ(integers_of(force()).at(0), 1);
    EXPECT_FALSE(exists());
}

TEST_P(ScriptsInTrouble, WithoutTheRightToTellTimeThereIsNoDeadline) {
    const std::int64_t long_ago = server_micros() - 1'000'000;
    deny("time");
    EXPECT_THAT(integers_of(lock(alice, 30'000, long_ago)), ElementsAre(1, 0, 0));
    EXPECT_THAT(integers_of(lock(bob, 30'000, long_ago))[2], 0);
}

TEST_P(ScriptsInTrouble, WithoutRightsOnAQueueALockIsStillForced) {
    for (const char* each : {"lrange", "zscore", "time", "publish"}) {
        limited_.reset();
        server().command({"DEL", name_});
        lock(alice, 30'000);
        server().command({"RPUSH", "redisson_lock_queue:{L}", bob});
        deny(each);
        EXPECT_EQ(integers_of(force()).at(0), 1) << each;
        EXPECT_FALSE(exists());
    }
}

TEST_P(ScriptsInTrouble, WithoutRightsNoHoldIsCalledLost) {
    lock(alice, 30'000);
    deny("hexists");
    EXPECT_EQ(renew({name_}, 30'000, {alice}).type, redis::reply::kind::error);
    deny("hdel");
    EXPECT_EQ(release(alice).type, redis::reply::kind::error);
    EXPECT_TRUE(exists());
}

TEST_P(ScriptsInTrouble, OnAReplicaNothingIsGrantedExtendedOrCalledLost) {
    lock(alice, 10'000);
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_TRUE(is_error(renew({name_}, 30'000, {alice}), "READONLY"));
    EXPECT_TRUE(is_error(renew({name_}, 1, {alice}), "READONLY"));
    EXPECT_TRUE(is_error(renew({name_}, 0, {alice}), "READONLY"));
    EXPECT_TRUE(is_error(lock(alice, 1), "READONLY")); // its own repetition
    EXPECT_TRUE(is_error(release(alice), "READONLY"));
    EXPECT_TRUE(is_error(release(bob), "READONLY")); // what it has may be old news
    EXPECT_TRUE(is_error(force(), "READONLY"));
    name_ = "another";
    EXPECT_TRUE(is_error(lock(alice, 30'000), "READONLY"));
}

TEST_P(ScriptsInTrouble, TheDigestsAreTheServersOwn) {
    for (const redis::script& each :
         {redis::scripts::lock_mutex, redis::scripts::release_mutex, redis::scripts::renew_leases,
          redis::scripts::force_lock, redis::scripts::inspect_lock, redis::scripts::lock_fenced,
          redis::scripts::last_token}) {
        const std::string digest{each.sha1};
        EXPECT_EQ(server().command({"SCRIPT", "LOAD", std::string{each.text}}).text, digest);
        EXPECT_FALSE(is_error(server().command({"EVALSHA", digest, "1", name_}), "NOSCRIPT"));
        server().command({"SCRIPT", "FLUSH"});
        EXPECT_TRUE(is_error(server().command({"EVALSHA", digest, "1", name_}), "NOSCRIPT"));
    }
}

// force_lock.lua: whatever kind of lock it is, whoever may have it next is told, and nobody else
// loses anything.

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
    /// Returns the messages that `force()` publishes, in order, as `channel message`.
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

/// The test controls the date of this server.
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
