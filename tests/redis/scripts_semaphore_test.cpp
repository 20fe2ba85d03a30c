// SPDX-License-Identifier: Apache-2.0
// take_semaphore.lua, revoke_semaphore.lua, change_semaphore.lua and inspect_counter.lua.
#include "counter_scripts.hpp"
#include "support/listener.hpp"

#include <utility>

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Le;

class SemaphoreScripts : public on_counter_scripts {
protected:
    using on_counter_scripts::on_counter_scripts;

    redis::reply take(int permits, once as) {
        return run(redis::scripts::take_semaphore, {name_, requests_},
                   {std::to_string(permits), std::to_string(as.slot), std::to_string(as.number),
                    std::to_string(as.deadline), memory_});
    }
    redis::reply revoke(int permits, once as) {
        return run(redis::scripts::revoke_semaphore, {name_, requests_},
                   {std::to_string(permits), std::to_string(as.slot), std::to_string(as.number),
                    memory_, told_on_, "PUBLISH"});
    }
    redis::reply change(const std::string& verb, std::int64_t permits, once as,
                        std::int64_t most = 0, std::int64_t kept = 0) {
        return run(redis::scripts::change_semaphore, {name_, requests_},
                   {verb, std::to_string(permits), std::to_string(most), std::to_string(kept),
                    std::to_string(as.slot), std::to_string(as.number), std::to_string(as.deadline),
                    memory_, told_on_, "PUBLISH"});
    }
    std::int64_t said(const redis::reply& answer) { return integers_of(answer).at(0); }
    /// Of a change: so many there are, it says.
    std::int64_t counted(const redis::reply& answer) { return integers_of(answer).at(2); }

    const std::string told_on_ = "redisson_sc:{L}";
};
HOLDFAST_ON_EACH_SERVER(SemaphoreScripts);

TEST_P(SemaphoreScripts, PermitsAreTakenWhereThereAreEnough) {
    others_set("3");
    const std::int64_t before = server_micros();
    const numbers answer = integers_of(take(2, {}));
    EXPECT_THAT(answer, ElementsAre(done, AllOf(Gt(before), Le(server_micros()))));
    EXPECT_EQ(value(), "1");
    EXPECT_EQ(said(take(2, {.slot = 1, .number = 2})), not_done);
    EXPECT_EQ(value(), "1");
}

TEST_P(SemaphoreScripts, WhereThereIsNoneNothingIsTakenAndNothingMade) {
    EXPECT_EQ(said(take(1, {})), not_done);
    EXPECT_EQ(ask({"DBSIZE"}), 0) << "what was busy is not remembered either";
}

TEST_P(SemaphoreScripts, TheSameRequestTakesOnce) {
    others_set("3");
    EXPECT_EQ(said(take(2, {.number = 7})), done);
    EXPECT_EQ(said(take(2, {.number = 7})), done);
    EXPECT_EQ(value(), "1");
    EXPECT_EQ(remembered(), "7 1 1");
    EXPECT_THAT(remembered_for(), AllOf(Gt(59'000), Le(60'000)));
}

TEST_P(SemaphoreScripts, WhatALaterRequestOfItsSlotHasOvertakenTakesNothing) {
    others_set("3");
    EXPECT_EQ(said(take(1, {.number = 8})), done);
    EXPECT_EQ(said(take(1, {.number = 7})), late);
    EXPECT_EQ(said(take(1, {.number = 9})), done);
    EXPECT_EQ(value(), "1");
}

TEST_P(SemaphoreScripts, LateTakesNothing) {
    others_set("3");
    EXPECT_EQ(said(take(1, {.deadline = server_micros() - 1})), late);
    EXPECT_EQ(said(change("add", 1, {.deadline = server_micros() - 1})), late);
    EXPECT_EQ(value(), "3");
    EXPECT_EQ(said(take(1, {.deadline = server_micros() + 60'000'000})), done);
}

TEST_P(SemaphoreScripts, WhatIsRevokedIsGivenBackOnceAndTold) {
    others_set("3");
    take(2, {.number = 7});
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(revoke(2, {.number = 7})), ElementsAre(1, 1));
                    EXPECT_THAT(integers_of(revoke(2, {.number = 7})), ElementsAre(0, 0));
                }),
                ElementsAre("redisson_sc:{L} 3"));
    EXPECT_EQ(said(take(2, {.number = 7})), not_done) << "it comes late, and takes nothing";
    EXPECT_EQ(value(), "3");
}

TEST_P(SemaphoreScripts, WhatIsRevokedBeforeItComesTakesNothing) {
    others_set("3");
    EXPECT_THAT(integers_of(revoke(2, {.number = 7})), ElementsAre(0, 0));
    EXPECT_EQ(said(take(2, {.number = 7})), not_done);
    EXPECT_EQ(said(take(2, {.number = 8})), done);
    EXPECT_THAT(integers_of(revoke(2, {.number = 7})), ElementsAre(0, 0)) << "overtaken";
    EXPECT_EQ(value(), "1");
}

TEST_P(SemaphoreScripts, ARevocationMakesNoSemaphoreAnew) {
    others_set("2");
    take(2, {.number = 7});
    server().command({"DEL", name_});
    EXPECT_THAT(integers_of(revoke(2, {.number = 7})), ElementsAre(0, 0));
    EXPECT_FALSE(exists());
}

TEST_P(SemaphoreScripts, ARevocationMakesNoMoreThanCanBe) {
    others_set("2");
    take(2, {.number = 7});
    others_set("2147483646");
    EXPECT_EQ(said(revoke(2, {.number = 7})), 1);
    EXPECT_EQ(value(), "2147483647");
}

TEST_P(SemaphoreScripts, WhatIsRevokedOfFewerThanNoneIsGivenBackAndNotTold) {
    others_set("2");
    take(2, {.number = 7});
    for (const auto& [there, then] : {std::pair{"-5", "-3"}, std::pair{"-2", "0"}}) {
        SCOPED_TRACE(there);
        others_set(there);
        server().command({"HSET", requests_, "0", "7 1 0"});
        EXPECT_THAT(
            told_by([&] { EXPECT_THAT(integers_of(revoke(2, {.number = 7})), ElementsAre(1, 0)); }),
            IsEmpty());
        EXPECT_EQ(value(), then);
    }
}

TEST_P(SemaphoreScripts, ARevocationLeavesMoreThanCanBeAsItIs) {
    others_set("2");
    take(2, {.number = 7});
    others_set("2147483650"); // as a JVM's addPermits can make it
    EXPECT_THAT(
        told_by([&] { EXPECT_THAT(integers_of(revoke(2, {.number = 7})), ElementsAre(1, 1)); }),
        ElementsAre("redisson_sc:{L} 2147483650"));
    EXPECT_EQ(value(), "2147483650");
}

// What took the key's place has nothing to do with it, and the take is over all the same.
TEST_P(SemaphoreScripts, ARevocationLeavesAForeignKeyAlone) {
    const std::vector<std::vector<std::string>> others{
        {"SET", name_, "a picture"}, {"HSET", name_, "field", "1"}, {"RPUSH", name_, "x"}};
    for (const std::vector<std::string>& make : others) {
        SCOPED_TRACE(make[0]);
        server().command({"FLUSHALL"});
        others_set("2");
        take(2, {.number = 7});
        server().command({"DEL", name_});
        server().command(make);
        EXPECT_THAT(integers_of(revoke(2, {.number = 7})), ElementsAre(0, 0));
        EXPECT_EQ(remembered(), "7 0 0");
        server().command({"DEL", name_});
        others_set("2");
        EXPECT_EQ(said(take(2, {.number = 7})), not_done) << "it comes late";
        EXPECT_THAT(integers_of(revoke(2, {.number = 7})), ElementsAre(0, 0));
        EXPECT_EQ(value(), "2");
    }
}

TEST_P(SemaphoreScripts, AddedIsMadeAndTold) {
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(change("add", 2, {.number = 1})),
                                ElementsAre(done, Gt(0), 2, 1));
                    EXPECT_EQ(counted(change("add", 3, {.number = 2})), 5);
                }),
                ElementsAre("redisson_sc:{L} 2", "redisson_sc:{L} 5"));
    EXPECT_EQ(value(), "5");
    EXPECT_EQ(time_left(), -1);
}

TEST_P(SemaphoreScripts, AddedTwiceUnderOneNumberIsAddedOnceAndToldOnce) {
    EXPECT_THAT(told_by([&] {
                    change("add", 2, {.number = 4});
                    EXPECT_THAT(integers_of(change("add", 2, {.number = 4})),
                                ElementsAre(done, Gt(0), 2, 0));
                }),
                ElementsAre("redisson_sc:{L} 2"));
    EXPECT_EQ(value(), "2");
}

TEST_P(SemaphoreScripts, AddedBeyondTheBoundIsNotAndThatIsRemembered) {
    others_set("4");
    EXPECT_THAT(integers_of(change("add", 2, {.number = 4}, 5)), ElementsAre(beyond, Gt(0), 4, 0));
    others_set("1");
    EXPECT_EQ(said(change("add", 2, {.number = 4}, 5)), beyond) << "as it was the first time";
    EXPECT_EQ(said(change("add", 4, {.number = 5}, 5)), done);
    EXPECT_EQ(value(), "5");
}

TEST_P(SemaphoreScripts, AddedBeyondWhatRedissonCountsToIsNot) {
    others_set("2147483646");
    EXPECT_EQ(said(change("add", 2, {.number = 4})), beyond);
    EXPECT_EQ(said(change("add", 1, {.number = 5})), done);
    EXPECT_EQ(value(), "2147483647");
}

TEST_P(SemaphoreScripts, AddedToOneThatHasMoreThanItsBoundIsNot) {
    others_set("9");
    for (const char* const verb : {"add", "add_if_there"}) {
        SCOPED_TRACE(verb);
        server().command({"DEL", requests_});
        EXPECT_THAT(integers_of(change(verb, 1, {}, 5)), ElementsAre(beyond, Gt(0), 9, 0));
    }
    others_set("-5");
    EXPECT_EQ(said(change("add", 10, {.number = 9}, 5)), done) << "as many as there may be then";
    EXPECT_EQ(value(), "5");
}

TEST_P(SemaphoreScripts, AddedOnlyIfItIsThere) {
    EXPECT_EQ(said(change("add_if_there", 2, {.number = 1})), not_done);
    EXPECT_FALSE(exists());
    others_set("1");
    EXPECT_EQ(said(change("add_if_there", 2, {.number = 2})), done);
    EXPECT_EQ(value(), "3");
}

TEST_P(SemaphoreScripts, TakenBackGoesBelowNoneAndIsNotTold) {
    others_set("1");
    EXPECT_THAT(told_by([&] {
                    EXPECT_EQ(counted(change("take_back", 3, {.number = 1})), -2);
                    EXPECT_EQ(counted(change("add", 1, {.number = 2})), -1);
                }),
                IsEmpty())
        << "a JVM cannot read less than none";
    EXPECT_EQ(said(take(1, {.number = 3})), not_done);
    EXPECT_EQ(said(change("take_back", 2'147'483'647, {.number = 4})), beyond);
    EXPECT_EQ(value(), "-1");
}

TEST_P(SemaphoreScripts, SetOnlyIfItIsNew) {
    EXPECT_THAT(told_by([&] { EXPECT_EQ(said(change("set_new", 3, {.number = 1})), done); }),
                ElementsAre("redisson_sc:{L} 3"));
    EXPECT_THAT(integers_of(change("set_new", 9, {.number = 2})),
                ElementsAre(not_done, Gt(0), 3, 0));
    EXPECT_EQ(said(change("set_new", 3, {.number = 1})), late) << "the slot has another by now";
    EXPECT_EQ(value(), "3");
    EXPECT_EQ(time_left(), -1);
}

TEST_P(SemaphoreScripts, WhatIsRepeatedIsAnsweredTheSameWhateverBecameOfItMeanwhile) {
    for (const char* const verb : {"set_new", "erase"}) {
        SCOPED_TRACE(verb);
        server().command({"FLUSHALL"});
        if (verb == std::string{"erase"})
            others_set("3");
        EXPECT_EQ(said(change(verb, 3, {.number = 4})), done);
        for (const char* const meanwhile : {"DEL", "SET"}) {
            server().command(meanwhile == std::string{"DEL"}
                                 ? std::vector<std::string>{"DEL", name_}
                                 : std::vector<std::string>{"SET", name_, "8"});
            const std::string left = value();
            EXPECT_THAT(told_by([&] { EXPECT_EQ(said(change(verb, 3, {.number = 4})), done); }),
                        IsEmpty());
            EXPECT_EQ(value(), left);
        }
    }
}

TEST_P(SemaphoreScripts, SetForAWhileKeepsItsEndWhateverIsDone) {
    change("set_new", 3, {.number = 1}, 0, 30'000);
    take(1, {.number = 2});
    change("add", 4, {.number = 3});
    change("drain", 0, {.number = 4});
    EXPECT_EQ(value(), "0");
    EXPECT_THAT(time_left(), AllOf(Gt(29'000), Le(30'000)));
}

TEST_P(SemaphoreScripts, DrainedSaysHowManyThereWere) {
    EXPECT_THAT(integers_of(change("drain", 0, {.number = 1})), ElementsAre(done, Gt(0), 0, 0));
    EXPECT_FALSE(exists());
    others_set("4");
    EXPECT_EQ(counted(change("drain", 0, {.number = 2})), 4);
    EXPECT_EQ(value(), "0");
    others_set("9");
    EXPECT_EQ(counted(change("drain", 0, {.number = 2})), 4) << "as it was the first time";
    EXPECT_EQ(value(), "9");
    others_set("-3");
    EXPECT_EQ(counted(change("drain", 0, {.number = 3})), -3);
    EXPECT_EQ(value(), "0");
}

TEST_P(SemaphoreScripts, ErasedTellsNobody) {
    others_set("4");
    EXPECT_THAT(told_by([&] { EXPECT_EQ(said(change("erase", 0, {.number = 1})), done); }),
                IsEmpty());
    EXPECT_FALSE(exists());
    EXPECT_EQ(said(change("erase", 0, {.number = 2})), not_done);
}

TEST_P(SemaphoreScripts, WhatIsNoNumberIsRefusedAndStays) {
    for (const char* other : {"a picture", "1.5", "0x10", " 7", "", "123456789012345678901"}) {
        SCOPED_TRACE(other);
        others_set(other);
        EXPECT_TRUE(is_error(take(1, {}), "WRONGTYPE"));
        for (const char* verb : {"add", "add_if_there", "take_back", "set_new", "drain", "erase"})
            EXPECT_TRUE(is_error(change(verb, 1, {}), "WRONGTYPE")) << verb;
        EXPECT_TRUE(is_error(inspect_count(), "WRONGTYPE"));
        EXPECT_EQ(value(), other);
        EXPECT_EQ(remembered(), "");
    }
    server().command({"DEL", name_});
    server().command({"HSET", name_, "field", "1"});
    EXPECT_TRUE(is_error(take(1, {}), "WRONGTYPE"));
    EXPECT_TRUE(is_error(change("add", 1, {}), "WRONGTYPE"));
}

TEST_P(SemaphoreScripts, LookedAt) {
    EXPECT_THAT(integers_of(inspect_count()), ElementsAre(0, 0, 0));
    others_set("-2");
    support::listener waits{server().socket_path()};
    waits.subscribe(told_on_);
    EXPECT_THAT(integers_of(inspect_count()), ElementsAre(1, -2, 1));
    deny("pubsub");
    EXPECT_THAT(integers_of(inspect_count()), ElementsAre(1, -2, -1));
}

// What cannot be remembered is not done.
TEST_P(SemaphoreScripts, WithoutTheRightToItsMemoryNothingIsDone) {
    others_set("3");
    for (const char* right : {"hget", "hset", "pexpire"}) {
        SCOPED_TRACE(right);
        deny(right);
        EXPECT_EQ(take(1, {.number = 1}).type, redis::reply::kind::error);
        EXPECT_EQ(change("add", 1, {.slot = 1, .number = 1}).type, redis::reply::kind::error);
        allow_all();
        EXPECT_EQ(value(), "3");
        EXPECT_EQ(ask({"EXISTS", requests_}), 0);
    }
}

TEST_P(SemaphoreScripts, WithoutTheRightToPublishItIsDoneAndSaid) {
    others_set("3");
    deny("publish");
    EXPECT_THAT(integers_of(change("add", 1, {.number = 1})), ElementsAre(done, Gt(0), 4, -1));
    EXPECT_EQ(value(), "4");
}

TEST_P(SemaphoreScripts, WithoutTheRightToTellTimeThereIsNoDeadline) {
    others_set("3");
    deny("time");
    EXPECT_THAT(integers_of(take(1, {.number = 1, .deadline = 1})), ElementsAre(done, 0));
    EXPECT_THAT(integers_of(change("add", 2, {.slot = 1, .number = 2, .deadline = 1})),
                ElementsAre(done, 0, 4, 0));
}

TEST_P(SemaphoreScripts, AFullServerChangesNothing) {
    others_set("3");
    take(1, {.number = 1});
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_TRUE(is_error(take(1, {.slot = 1, .number = 2}), "OOM"));
    EXPECT_TRUE(is_error(change("add", 1, {.slot = 1, .number = 3}), "OOM"));
    EXPECT_EQ(value(), "2");
}

TEST_P(SemaphoreScripts, AFullServerTakesBackWhatARequestTook) {
    others_set("3");
    take(1, {.number = 1});
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(said(revoke(1, {.number = 1})), 1);
    EXPECT_EQ(value(), "3");
}

} // namespace
} // namespace holdfast
