// SPDX-License-Identifier: Apache-2.0
// Scripts of locks of other kinds, and of fenced locks.
#include "scripts_fixture.hpp"

#include <functional>
#include <utility>

namespace holdfast {
namespace {

// A name has only one kind: replies of each script if another kind of lock or the value of another
// program has the key.

using ::testing::AllOf;
using ::testing::HasSubstr;

class KindScripts : public on_scripts {
protected:
    using on_scripts::on_scripts;

    struct request {
        std::string wanted; ///< what the error says was asked for
        redis::script script;
        std::vector<std::string> keys;
        std::vector<std::string> arguments;
    };

    /// Requests of each kind: every verb that names the kind, and force.
    std::vector<request> requests() {
        using namespace redis::scripts;
        const std::string pair = "a read-write lock";
        std::vector<request> all{
            {"a mutex", lock_mutex, {name_}, {"30000", alice, "0"}},
            {"a mutex", lock_mutex, {name_, "spinners"}, {"30000", alice, "0", "1000"}},
            {"a mutex", lock_fenced, {name_, tokens_}, {"30000", alice, "0", "1", "0"}},
            {"a mutex",
             lock_fair,
             {name_, "queue", "deadlines"},
             {"30000", alice, "0", channel_, "PUBLISH", "1", "20000", "300000"}},
            {pair, lock_read, {name_, "timer", "marks"}, {"30000", alice, "0", ""}},
            {pair, lock_write, {name_, "marks"}, {"30000", alice, "0", "", "{L}", "5000", "100"}},
            {"a token lock", lock_token, {name_}, {"30000", alice, "0"}},
            {"a lock",
             ask_holders,
             {name_, "wish"},
             {"deploy", "process 7", "30000", "PUBLISH", channel_}}};
        for (const auto& some : {of_force(), of_semaphores(), of_permits(), of_rates()})
            all.insert(all.end(), some.begin(), some.end());
        return all;
    }

    std::vector<request> of_force() {
        std::vector<request> all;
        for (const auto& [mode, wanted] :
             {std::pair{"mutex", "a mutex"}, std::pair{"read", "a read-write lock"},
              std::pair{"write", "a read-write lock"}, std::pair{"token", "a token lock"}})
            all.push_back(
                {wanted,
                 redis::scripts::force_lock,
                 {name_},
                 {"0", "", "PUBLISH", channel_, "shared", "queue", "deadlines", mode, "token"}});
        return all;
    }

    std::vector<request> of_semaphores() {
        using namespace redis::scripts;
        std::vector<request> all{
            {"a semaphore", take_semaphore, {name_, "memory"}, {"1", "s", "1", "0", "1000"}},
            {"a semaphore", inspect_counter, {name_}, {channel_, "a semaphore"}},
            {"a latch", inspect_counter, {name_}, {channel_, "a latch"}},
            {"a latch", look_latch, {name_}, {}}};
        for (const char* const verb :
             {"add", "add_if_there", "take_back", "drain", "set_new", "erase"})
            all.push_back({"a semaphore",
                           change_semaphore,
                           {name_, "memory"},
                           {verb, "1", "0", "0", "s", "1", "0", "1000", channel_, "PUBLISH"}});
        for (const char* const verb : {"set_new", "count_down", "erase"})
            all.push_back({"a latch",
                           change_latch,
                           {name_, "memory"},
                           {verb, "1", "s", "1", "0", "1000", channel_, "PUBLISH"}});
        return all;
    }

    std::vector<request> of_permits() {
        using namespace redis::scripts;
        const std::string wanted = "a leased semaphore", held = "{L}:timeout";
        std::vector<request> all{
            {wanted,
             take_permits,
             {name_, held},
             {"30000", "1", "1", "00112233445566778899", "0", channel_, "PUBLISH"}},
            {wanted, inspect_permits, {name_, held}, {channel_}}};
        for (const char* const verb :
             {"add", "take_back", "set_new", "set", "erase", "give_back", "set_lease"})
            all.push_back({wanted,
                           change_permits,
                           {name_, held, "memory"},
                           {verb, "1", "", "s", "1", "0", "1000", channel_, "PUBLISH"}});
        return all;
    }

    std::vector<request> of_rates() {
        using namespace redis::scripts;
        const std::string wanted = "a rate limiter";
        std::vector<std::string> keys{name_, "value", "value2", "draws", "draws2"};
        std::vector<request> all{{wanted, take_rate, keys, {"1", std::string(20, 'm'), "0"}},
                                 {wanted, give_back_rate, keys, {std::string(20, 'm')}},
                                 {wanted, inspect_rate, keys, {}}};
        keys.emplace_back("memory");
        for (const char* const verb : {"set", "set_new", "add", "erase"})
            all.push_back(
                {wanted, change_rate, keys, {verb, "1", "1000", "0", "0", "s", "1", "0", "1000"}});
        return all;
    }

    /// Each request but those for one of `but` is refused, names both kinds and changes nothing.
    void expect_refused(const std::string& there, const std::vector<std::string>& but) {
        const std::string before = server().command({"DUMP", name_}).text;
        const std::int64_t keys = ask({"DBSIZE"});
        for (const request& each : requests()) {
            if (std::ranges::find(but, each.wanted) != but.end())
                continue;
            const redis::reply said = run(each.script, each.keys, each.arguments);
            EXPECT_TRUE(is_error(said, "WRONGTYPE")) << there << ": " << each.script.name;
            EXPECT_THAT(said.text, AllOf(HasSubstr(there), HasSubstr(", and " + each.wanted),
                                         HasSubstr(" was asked for")))
                << each.script.name;
            EXPECT_EQ(server().command({"DUMP", name_}).text, before) << each.script.name;
            EXPECT_EQ(ask({"DBSIZE"}), keys) << each.script.name;
        }
        server().command({"FLUSHALL"});
    }
};

TEST_P(KindScripts, AnotherKindIsNamedAndNeverTouched) {
    server().command({"HSET", name_, bob, "1"});
    expect_refused("a mutex", {"a mutex", "a lock"});
    server().command({"HSET", name_, "mode", "read", bob, "1"});
    expect_refused("a read-write lock", {"a read-write lock", "a lock"});
    server().command({"HSET", name_, "rate", "5", "interval", "1000", "type", "0"});
    expect_refused("a rate limiter", {"a rate limiter"});
    server().command({"SET", name_, "some token of another", "PX", "30000"});
    expect_refused("a token lock", {"a token lock"});
    server().command({"SET", name_, "3"});
    expect_refused("a semaphore or a latch", {"a semaphore", "a latch", "a leased semaphore"});
    server().command({"SET", name_, "3"});
    server().command({"ZADD", "{L}:timeout", "9e14", "0123456789abcdef"});
    expect_refused("a leased semaphore", {"a leased semaphore"});
}

TEST_P(KindScripts, ValuesOfOtherProgramsAreNamedAndNeverTouched) {
    const std::vector<std::vector<std::string>> hashes{
        {"HSET", name_, "colour", "red"},
        {"HSET", name_, alice, "1", bob, "1"},
        {"HSET", name_, bob, "1", "colour", "red"},
        {"HSET", name_, "mode", "read"},
        {"HSET", name_, "mode", "read", "colour", "red"},
        {"HSET", name_, "mode", "read", bob, "1", "colour", "red"},
        {"HSET", name_, "mode", "write", std::string{bob} + ":write", "1", "colour", "red"},
        {"HSET", name_, "mode", "fast", bob, "1"},
        {"HSET", name_, "rate", "5"}};
    for (const std::vector<std::string>& each : hashes) {
        server().command(each);
        expect_refused("a hash (no lock)", {});
    }
    std::vector<std::string> many{"HSET", name_, "mode", "read"};
    for (int i = 0; i < 99; ++i)
        many.insert(many.end(), {"field" + std::to_string(i), "1"});
    server().command(many);
    expect_refused("a hash (no lock)", {});
    const std::vector<std::vector<std::string>> others{{"RPUSH", name_, "x"},
                                                       {"SADD", name_, "x"},
                                                       {"ZADD", name_, "1", "x"},
                                                       {"XADD", name_, "*", "field", "x"}};
    for (const std::vector<std::string>& each : others) {
        server().command(each);
        expect_refused("neither a hash nor a string", {});
    }
    for (const char* const text :
         {"", "1.5", "any text", "\xff\xfe", "007", "-0", "+3", " 3", "3\n", "-"}) {
        server().command({"SET", name_, text});
        expect_refused("another program's data", {"a token lock"});
    }
    server().command({"SET", name_, "99999999999999999999"});
    expect_refused("a number that no counter can have", {});
}

TEST_P(KindScripts, ReleaseOfAReadHoldDoesNotDeleteAHashThatIsNoReadWriteLock) {
    server().command({"HSET", name_, alice, "1", "colour", "red"});
    EXPECT_THAT(support::integers_of(run(redis::scripts::release_read, {name_, "timer", "marks"},
                                         {alice, "{L}", "redisson_rwlock:{L}", "PUBLISH"})),
                ::testing::ElementsAre(0, 0));
    EXPECT_EQ(server().command({"HGET", name_, "colour"}).text, "red");
}

/// `SET name 1 NX PX 30000` is how many programs lock.
TEST_P(KindScripts, ANumberWithAnEndMayBeAToken) {
    server().command({"SET", name_, "1", "PX", "30000"});
    EXPECT_EQ(
        support::integers_of(run(redis::scripts::lock_token, {name_}, {"30000", alice, "0"}))[0],
        0);
    server().command({"PERSIST", name_});
    EXPECT_TRUE(
        is_error(run(redis::scripts::lock_token, {name_}, {"30000", alice, "0"}), "WRONGTYPE"));
}

HOLDFAST_ON_EACH_SERVER(KindScripts);

// lock_fenced.lua and last_token.lua: a plain lock's script, and its tokens.

using support::integers_of;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Le;

class FencedScripts : public on_scripts {
protected:
    std::int64_t token_of(const std::string& owner, options how) {
        return integers_of(fence(owner, how)).at(3);
    }
    std::int64_t token_of(const std::string& owner) { return token_of(owner, {}); }
    std::int64_t last() { return last_token().integer; }
    std::string counter() { return server().command({"GET", tokens_}).text; }
};
HOLDFAST_ON_EACH_SERVER(FencedScripts);

TEST_P(FencedScripts, AFreeLockIsTakenWithTheFirstToken) {
    EXPECT_EQ(last(), 0);
    EXPECT_THAT(integers_of(fence(alice)), ElementsAre(1, 0, Gt(0), 1));
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_THAT(time_left(), AllOf(Gt(24'000), Le(30'000)));
    EXPECT_EQ(counter(), "1");
    EXPECT_EQ(ask({"PTTL", tokens_}), -1);
    EXPECT_EQ(last(), 1);
}

TEST_P(FencedScripts, EachHoldHasAGreaterTokenThanTheLast) {
    EXPECT_EQ(token_of(alice), 1);
    release(alice);
    EXPECT_EQ(token_of(bob), 2);
    force();
    EXPECT_EQ(token_of(alice), 3);
}

TEST_P(FencedScripts, TakingAgainHasTheSameTokenAndExtends) {
    EXPECT_EQ(token_of(alice), 1);
    EXPECT_EQ(token_of(alice, {.lease = 60'000}), 1);
    EXPECT_GT(time_left(), 54'000);
    EXPECT_EQ(token_of(alice, {.lease = 1'000}), 1);
    EXPECT_GT(time_left(), 54'000);
    EXPECT_EQ(counter(), "1");
    EXPECT_EQ(count_of(alice), "1");
}

TEST_P(FencedScripts, TakingAgainIsAlwaysWritten) {
    fence(alice);
    const std::int64_t before = changes();
    fence(alice, {.lease = 1'000});
    EXPECT_GT(changes(), before);
}

TEST_P(FencedScripts, ABlockOfTokensIsReservedAndTheNextComesBehind) {
    EXPECT_EQ(token_of(alice, {.tokens = 100}), 1);
    EXPECT_EQ(token_of(alice, {.tokens = 100}), 1) << "again";
    EXPECT_EQ(last(), 100);
    release(alice);
    EXPECT_EQ(server().command({"INCR", tokens_}).integer, 101) << "as a JVM does";
    EXPECT_EQ(token_of(bob, {.tokens = 10}), 102);
}

TEST_P(FencedScripts, BusyTellsWhatIsLeftAndTouchesNothing) {
    fence(alice);
    EXPECT_THAT(integers_of(fence(bob, {.lease = 90'000, .tokens = 5})),
                ElementsAre(0, AllOf(Gt(24'000), Le(30'000)), Gt(0), 0));
    EXPECT_EQ(counter(), "1");
    EXPECT_LE(time_left(), 30'000);
}

TEST_P(FencedScripts, AHoldWithoutAnEndKeepsItBusy) {
    server().command({"HSET", name_, alice, "1"});
    EXPECT_THAT(integers_of(fence(bob)), ElementsAre(0, -1, Gt(0), 0));
    EXPECT_EQ(ask({"EXISTS", tokens_}), 0);
}

TEST_P(FencedScripts, LateIsRefusedAndReservesNothing) {
    EXPECT_THAT(integers_of(fence(alice, {.deadline = server_micros() - 1})),
                ElementsAre(2, 0, Gt(0), 0));
    EXPECT_FALSE(exists());
    EXPECT_EQ(ask({"EXISTS", tokens_}), 0);
}

TEST_P(FencedScripts, AnOwnHoldWhoseCounterIsGoneGetsANewToken) {
    fence(alice);
    server().command({"DEL", tokens_});
    EXPECT_EQ(token_of(alice, {.tokens = 3}), 1);
    EXPECT_EQ(counter(), "3");
}

TEST_P(FencedScripts, DatedTokensAreTheTimeAndGoOnByOne) {
    const std::int64_t before = server_micros();
    const std::int64_t first = token_of(alice, {.dated = true});
    EXPECT_THAT(first, AllOf(Ge(before), Le(server_micros())));
    EXPECT_EQ(std::to_string(first), counter());
    EXPECT_EQ(server().command({"INCR", tokens_}).integer, first + 1);
    server().command({"FLUSHALL"});
    EXPECT_GT(token_of(bob, {.dated = true}), first);
}

TEST_P(FencedScripts, DatedTokensOfAServerThatIsBehindGoOnByOne) {
    const std::int64_t ahead = server_micros() + 3'600'000'000;
    server().command({"SET", tokens_, std::to_string(ahead)});
    EXPECT_EQ(token_of(alice, {.tokens = 2, .dated = true}), ahead + 1);
    EXPECT_EQ(counter(), std::to_string(ahead + 2));
}

TEST_P(FencedScripts, AnEndThatAJvmGaveTheCounterStays) {
    server().command({"SET", tokens_, "7", "PX", "100000"});
    EXPECT_EQ(token_of(alice), 8);
    EXPECT_GT(ask({"PTTL", tokens_}), 90'000);
}

TEST_P(FencedScripts, ACounterBelowZeroOrBelowAHoldsTokensBeginsAtOneAgain) {
    server().command({"SET", tokens_, "-5"});
    EXPECT_EQ(token_of(alice, {.tokens = 3}), 1);
    EXPECT_EQ(counter(), "3");
    server().command({"SET", tokens_, "2"});
    EXPECT_EQ(token_of(alice, {.tokens = 3}), 3);
    server().command({"SET", tokens_, "-1"});
    EXPECT_EQ(token_of(alice, {.tokens = 3}), 1);
}

TEST_P(FencedScripts, ACounterThatIsNoNumberIsRefusedAndNothingIsWritten) {
    server().command({"SET", tokens_, "seven"});
    EXPECT_TRUE(is_error(fence(alice), "not an integer"));
    EXPECT_FALSE(exists());
    EXPECT_EQ(counter(), "seven");
    server().command({"DEL", tokens_});
    server().command({"RPUSH", tokens_, "1"});
    EXPECT_TRUE(is_error(fence(alice), "WRONGTYPE"));
    EXPECT_FALSE(exists());
}

TEST_P(FencedScripts, TokensThatAScriptCannotCountAreRefused) {
    server().command({"SET", tokens_, "9007199254740985"});
    EXPECT_EQ(token_of(alice, {.tokens = 5}), 9007199254740986);
    release(alice);
    EXPECT_TRUE(is_error(fence(alice, {.tokens = 5}), "come to their end"));
    EXPECT_FALSE(exists());
    EXPECT_EQ(counter(), "9007199254740990");
}

TEST_P(FencedScripts, ANameThatIsNoLockIsRefused) {
    server().command({"SET", name_, "x"});
    EXPECT_TRUE(is_error(fence(alice), "WRONGTYPE"));
    EXPECT_EQ(ask({"EXISTS", tokens_}), 0);
}

TEST_P(FencedScripts, AReleaseOfNoChannelTellsNobody) {
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(run(redis::scripts::release_mutex, {name_}, {alice, "", "PUBLISH"})),
                ElementsAre(1, 0));
    EXPECT_FALSE(exists());
}

TEST_P(FencedScripts, TheLastTokenOfACounterThatIsNoneIsAnError) {
    for (const char* odd : {"seven", "-3"}) {
        server().command({"SET", tokens_, odd});
        EXPECT_TRUE(is_error(run(redis::scripts::last_token, {tokens_}, {}), "not an integer"));
    }
}

// lock_fenced.lua and last_token.lua on a server that is full, a replica, or lets them do only so
// much: no token is given twice, and no lock is taken without one.

class FencedScriptsInTrouble : public on_limited_scripts {
protected:
    void expect_nothing_taken() {
        EXPECT_FALSE(exists());
        EXPECT_EQ(ask({"EXISTS", tokens_}), 0);
    }
};
HOLDFAST_ON_EACH_SERVER(FencedScriptsInTrouble);

TEST_P(FencedScriptsInTrouble, AFullServerGrantsAndReservesNothing) {
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_TRUE(is_error(fence(alice), "OOM"));
    EXPECT_EQ(last_token().integer, 0);
    expect_nothing_taken();
}

TEST_P(FencedScriptsInTrouble, ALeaseThatIsNoLengthOfTimeLeavesNoLock) {
    const redis::reply said = run(redis::scripts::lock_fenced, {name_, tokens_},
                                  {"99999999999999999999", alice, "0", "1", "0"});
    EXPECT_EQ(said.type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
    EXPECT_EQ(integers_of(fence(bob)).at(3), 2) << "a token is wasted, and none given twice";
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToSetAnEndNothingIsHeld) {
    deny("pexpire");
    EXPECT_EQ(fence(alice).type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToTellTimeCountedTokensHaveNoDeadline) {
    const std::int64_t long_ago = server_micros() - 1'000'000;
    deny("time");
    EXPECT_THAT(integers_of(fence(alice, {.deadline = long_ago})), ElementsAre(1, 0, 0, 1));
    EXPECT_THAT(integers_of(fence(bob, {.deadline = long_ago})), ElementsAre(0, Gt(0), 0, 0));
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToTellTimeDatedTokensAreRefused) {
    deny("time");
    EXPECT_EQ(fence(alice, {.dated = true}).type, redis::reply::kind::error);
    expect_nothing_taken();
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToPublishItIsReleasedAndTheTokensStay) {
    deny("publish");
    fence(alice, {.tokens = 3});
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, -1));
    EXPECT_FALSE(exists());
    EXPECT_EQ(last_token().integer, 3);
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToReserveOrLookNothingIsTaken) {
    for (const char* each : {"get", "incrby"}) {
        deny(each);
        EXPECT_EQ(fence(alice).type, redis::reply::kind::error) << each;
        expect_nothing_taken();
    }
}

TEST_P(FencedScriptsInTrouble, WithoutTheKeyOfTheTokensNothingIsTaken) {
    become({"~L", "&*", "+@all"});
    EXPECT_EQ(fence(alice).type, redis::reply::kind::error);
    EXPECT_EQ(last_token().type, redis::reply::kind::error);
    expect_nothing_taken();
    become({"~L", "~redisson_lock_token:*", "&*", "+@all"});
    EXPECT_THAT(integers_of(fence(alice)), ElementsAre(1, 0, Gt(0), 1));
    EXPECT_EQ(last_token().integer, 1);
}

TEST_P(FencedScriptsInTrouble, OnAReplicaNothingIsGrantedOrReserved) {
    fence(alice);
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_TRUE(is_error(fence(alice, {.lease = 1}), "READONLY")) << "its own repetition";
    EXPECT_TRUE(is_error(release(alice), "READONLY"));
    name_ = "another";
    tokens_ = "redisson_lock_token:{another}";
    EXPECT_TRUE(is_error(fence(alice), "READONLY"));
    EXPECT_EQ(last_token().integer, 0) << "a replica may tell what it knows";
}

} // namespace
} // namespace holdfast
