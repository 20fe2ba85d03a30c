// SPDX-License-Identifier: Apache-2.0
// take_semaphore.lua, revoke_semaphore.lua, change_semaphore.lua and inspect_counter.lua.
#include "counter_scripts.hpp"
#include "support/redis_connection.hpp"

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
    EXPECT_THAT(remembered_for(), AllOf(Gt(54'000), Le(60'000)));
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

// The value that has replaced the key belongs to another program, so it stays. The take has ended
// all the same.
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
    EXPECT_THAT(time_left(), AllOf(Gt(24'000), Le(30'000)));
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

// A change that cannot be recorded is not made.
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

TEST_P(SemaphoreScripts, FullServerTakesNothingAndGivesBack) {
    others_set("3");
    take(1, {.number = 1});
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_TRUE(is_error(take(1, {.slot = 1, .number = 2}), "OOM"));
    EXPECT_EQ(value(), "2");
    EXPECT_EQ(said(change("add", 1, {.slot = 1, .number = 3})), done);
    EXPECT_EQ(value(), "3");
}

TEST_P(SemaphoreScripts, AFullServerTakesBackWhatARequestTook) {
    others_set("3");
    take(1, {.number = 1});
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(said(revoke(1, {.number = 1})), 1);
    EXPECT_EQ(value(), "3");
}

// change_latch.lua and look_latch.lua.

class LatchScripts : public on_counter_scripts {
protected:
    using on_counter_scripts::on_counter_scripts;

    redis::reply change(const std::string& verb, std::int64_t count, once as) {
        return run(redis::scripts::change_latch, {name_, requests_},
                   {verb, std::to_string(count), std::to_string(as.slot), std::to_string(as.number),
                    std::to_string(as.deadline), memory_, told_on_, "PUBLISH"});
    }
    redis::reply look() { return run(redis::scripts::look_latch, {name_}, {}); }
    std::int64_t said(const redis::reply& answer) { return integers_of(answer).at(0); }

    const std::string told_on_ = "redisson_countdownlatch__channel__{L}";
};
HOLDFAST_ON_EACH_SERVER(LatchScripts);

TEST_P(LatchScripts, SetOnlyIfItIsOpen) {
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(change("set_new", 2, {.number = 1})),
                                ElementsAre(done, Gt(0), 2, 1));
                    EXPECT_THAT(integers_of(change("set_new", 9, {.number = 2})),
                                ElementsAre(not_done, Gt(0), 2, 0));
                }),
                ElementsAre("redisson_countdownlatch__channel__{L} 1"));
    EXPECT_EQ(value(), "2");
}

TEST_P(LatchScripts, CountedDownOpensAtZeroAndIsToldThen) {
    change("set_new", 3, {.number = 1});
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(change("count_down", 2, {.number = 2})),
                                ElementsAre(not_done, Gt(0), 1, 0));
                    EXPECT_THAT(integers_of(look()), ElementsAre(0, -1));
                    EXPECT_THAT(integers_of(change("count_down", 5, {.number = 3})),
                                ElementsAre(done, Gt(0), 0, 1));
                }),
                ElementsAre("redisson_countdownlatch__channel__{L} 0"));
    EXPECT_FALSE(exists());
    EXPECT_THAT(integers_of(look()), ElementsAre(1, 0));
}

TEST_P(LatchScripts, CountedDownTwiceUnderOneNumberIsCountedOnce) {
    change("set_new", 2, {.number = 1});
    change("count_down", 1, {.number = 2});
    EXPECT_THAT(integers_of(change("count_down", 1, {.number = 2})),
                ElementsAre(not_done, Gt(0), 1, 0));
    EXPECT_EQ(value(), "1");
    EXPECT_EQ(remembered(), "2 0 1");
    EXPECT_THAT(remembered_for(), AllOf(Gt(54'000), Le(60'000)));
}

TEST_P(LatchScripts, OpeningTwiceUnderOneNumberTellsOnceAndSaysTheSame) {
    change("set_new", 1, {.number = 1});
    EXPECT_THAT(told_by([&] {
                    EXPECT_EQ(said(change("count_down", 1, {.number = 2})), done);
                    EXPECT_EQ(said(change("count_down", 1, {.number = 2})), done);
                }),
                ElementsAre("redisson_countdownlatch__channel__{L} 0"));
}

TEST_P(LatchScripts, CountingDownAnOpenOneDoesNothing) {
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(change("count_down", 1, {.number = 1})),
                                ElementsAre(not_done, Gt(0), 0, 0));
                }),
                IsEmpty());
    EXPECT_FALSE(exists());
}

TEST_P(LatchScripts, ErasedTellsWhoWaits) {
    change("set_new", 5, {.number = 1});
    EXPECT_THAT(told_by([&] { EXPECT_EQ(said(change("erase", 0, {.number = 2})), done); }),
                ElementsAre("redisson_countdownlatch__channel__{L} 0"));
    EXPECT_FALSE(exists());
    EXPECT_EQ(said(change("erase", 0, {.number = 3})), not_done);
}

// Redisson deletes at zero; another program may have written it.
TEST_P(LatchScripts, ZeroAndLessIsOpen) {
    for (const char* count : {"0", "-1"}) {
        SCOPED_TRACE(count);
        others_set(count);
        EXPECT_EQ(said(look()), 1);
        EXPECT_THAT(
            told_by([&] { EXPECT_EQ(said(change("count_down", 1, {.number = 1})), not_done); }),
            IsEmpty());
        EXPECT_FALSE(exists());
        server().command({"DEL", requests_});
    }
}

TEST_P(LatchScripts, OneThatIsThereAndOpenIsErasedAndNotSet) {
    for (const char* count : {"0", "-1"}) {
        SCOPED_TRACE(count);
        server().command({"DEL", requests_});
        others_set(count);
        EXPECT_THAT(told_by([&] {
                        EXPECT_THAT(integers_of(change("set_new", 3, {.number = 1})),
                                    ElementsAre(not_done, Gt(0), 0, 0))
                            << "as a JVM's trySetCount";
                        EXPECT_EQ(said(change("erase", 0, {.number = 2})), done);
                    }),
                    IsEmpty())
            << "nobody waited for it";
        EXPECT_FALSE(exists());
    }
}

TEST_P(LatchScripts, WhatIsRepeatedIsAnsweredTheSameWhateverBecameOfItMeanwhile) {
    EXPECT_EQ(said(change("set_new", 3, {.number = 4})), done);
    server().command({"DEL", name_});
    EXPECT_THAT(integers_of(change("set_new", 3, {.number = 4})), ElementsAre(done, Gt(0), 3, 0));
    EXPECT_FALSE(exists()) << "it was counted down meanwhile, say";
    others_set("3");
    EXPECT_EQ(said(change("erase", 0, {.number = 5})), done);
    others_set("8");
    EXPECT_THAT(told_by([&] { EXPECT_EQ(said(change("erase", 0, {.number = 5})), done); }),
                IsEmpty());
    EXPECT_EQ(value(), "8") << "which is a new one";
}

TEST_P(LatchScripts, OvertakenOrLateDoesNothing) {
    change("set_new", 5, {.number = 3});
    EXPECT_EQ(said(change("count_down", 1, {.number = 2})), late);
    EXPECT_EQ(said(change("count_down", 1, {.number = 4, .deadline = server_micros() - 1})), late);
    EXPECT_EQ(value(), "5");
}

TEST_P(LatchScripts, WhoLooksIsToldWhenItGoesByItself) {
    others_set("3");
    server().command({"PEXPIRE", name_, "30000"});
    EXPECT_THAT(integers_of(look()), ElementsAre(0, AllOf(Gt(24'000), Le(30'000))));
    change("count_down", 1, {.number = 1});
    EXPECT_GT(time_left(), 24'000);
}

TEST_P(LatchScripts, WhatIsNoNumberIsRefusedAndStays) {
    for (const std::vector<std::string>& make :
         {std::vector<std::string>{"SET", name_, "a picture"}, {"HSET", name_, "field", "1"}}) {
        server().command({"DEL", name_});
        server().command(make);
        for (const char* verb : {"set_new", "count_down", "erase"})
            EXPECT_TRUE(is_error(change(verb, 1, {}), "WRONGTYPE")) << verb;
        EXPECT_TRUE(is_error(look(), "WRONGTYPE"));
        EXPECT_EQ(ask({"EXISTS", requests_}), 0);
    }
    EXPECT_EQ(server().command({"HGET", name_, "field"}).text, "1");
}

TEST_P(LatchScripts, WithoutTheRightToPublishItOpensAndThatIsSaid) {
    others_set("1");
    deny("publish");
    EXPECT_THAT(integers_of(change("count_down", 1, {.number = 1})),
                ElementsAre(done, Gt(0), 0, -1));
    EXPECT_FALSE(exists());
}

// A change that cannot be recorded is not made.
TEST_P(LatchScripts, WithoutTheRightToItsMemoryNothingIsDone) {
    others_set("1");
    for (const char* right : {"hget", "hset", "pexpire"}) {
        SCOPED_TRACE(right);
        deny(right);
        for (const char* const verb : {"count_down", "erase"})
            EXPECT_EQ(change(verb, 1, {}).type, redis::reply::kind::error) << verb;
        allow_all();
        EXPECT_EQ(value(), "1");
        EXPECT_EQ(ask({"EXISTS", requests_}), 0);
    }
}

TEST_P(LatchScripts, WithoutTheRightToTellTimeThereIsNoDeadline) {
    others_set("2");
    deny("time");
    EXPECT_THAT(integers_of(change("count_down", 1, {.deadline = 1})),
                ElementsAre(not_done, 0, 1, 0));
}

TEST_P(LatchScripts, AReplicaDoesNotSayThatItIsOpen) {
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_TRUE(is_error(look(), "READONLY")) << "it may not know of it yet";
}

TEST_P(LatchScripts, FullServerCountsDownAndSetsNone) {
    others_set("2");
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(said(change("count_down", 1, {.number = 1})), 0);
    EXPECT_EQ(value(), "1");
    EXPECT_EQ(said(change("count_down", 1, {.number = 2})), done);
    EXPECT_EQ(said(look()), 1);
    EXPECT_TRUE(is_error(change("set_new", 1, {.number = 3}), "OOM"));
}

// If an ACL denies a command in the middle of a change, the counter stays as it was.

class SemaphoreRights : public on_denied_scripts<on_counter_scripts> {
protected:
    redis::reply take() {
        return run(redis::scripts::take_semaphore, {name_, requests_},
                   {"2", "0", "1", "0", memory_});
    }
    redis::reply change_it(const std::string& verb) {
        return run(redis::scripts::change_semaphore, {name_, requests_},
                   {verb, "3", "0", "60000", "1", "1", "0", memory_, "redisson_sc:{L}", "PUBLISH"});
    }
    redis::reply change_latch(const std::string& verb) {
        return run(redis::scripts::change_latch, {name_, requests_},
                   {verb, "3", "1", "1", "0", memory_, "redisson_countdownlatch__channel__{L}",
                    "PUBLISH"});
    }
    attempt begun_at(const std::string& count, std::function<redis::reply()> act) {
        return {[this, count] {
                    if (!count.empty())
                        others_set(count);
                },
                std::move(act), [this] { return value(); }};
    }
};
HOLDFAST_ON_EACH_SERVER(SemaphoreRights);

TEST_P(SemaphoreRights, ATakeIsDoneOrNot) {
    expect_all_or_nothing(begun_at("5", [this] { return take(); }));
}

TEST_P(SemaphoreRights, WhatWasTakenIsRevokedOnce) {
    expect_all_or_nothing({[this] {
                               others_set("5");
                               take();
                           },
                           [this] {
                               return run(redis::scripts::revoke_semaphore, {name_, requests_},
                                          {"2", "0", "1", memory_, "redisson_sc:{L}", "PUBLISH"});
                           },
                           [this] { return value(); }});
}

TEST_P(SemaphoreRights, AChangeIsDoneOrNot) {
    for (const char* const verb : {"add", "add_if_there", "take_back", "drain", "erase"}) {
        SCOPED_TRACE(verb);
        expect_all_or_nothing(begun_at("5", [this, verb] { return change_it(verb); }));
    }
    expect_all_or_nothing(begun_at("", [this] { return change_it("set_new"); }));
}

TEST_P(SemaphoreRights, ALatchIsChangedOrNot) {
    for (const char* const count : {"5", "3"})
        expect_all_or_nothing(begun_at(count, [this] { return change_latch("count_down"); }));
    expect_all_or_nothing(begun_at("5", [this] { return change_latch("erase"); }));
    expect_all_or_nothing(begun_at("", [this] { return change_latch("set_new"); }));
}

class PermitRights : public on_denied_scripts<on_permit_scripts> {
protected:
    /// Two of five are held, and one of these is over; it is counted as if it was back.
    void hold_some() {
        others_set("3");
        server().command({"PEXPIRE", name_, "3600000"});
        others_hold(other_, 30'000);
        others_hold("fedcba9876543210", -1'000);
    }
    std::string state() {
        const std::string now = std::to_string(server_micros() / 1000);
        const std::int64_t over = ask({"ZCOUNT", held_, "0", now});
        const std::string free = value();
        return std::to_string((free.empty() ? 0 : std::stoll(free)) + over) + " free, " +
               std::to_string(held_count() - over) + " held";
    }
    attempt with_some_held(std::function<redis::reply()> act) {
        return {[this] { hold_some(); }, std::move(act), [this] { return state(); }};
    }
};
HOLDFAST_ON_EACH_SERVER(PermitRights);

TEST_P(PermitRights, ATakeIsDoneOrNot) {
    expect_all_or_nothing(with_some_held([this] { return take({1, 2}); }));
    EXPECT_EQ(state(), "2 free, 3 held");
}

TEST_P(PermitRights, ATakeThatFindsTooFewGivesBackWhatIsOver) {
    expect_all_or_nothing(with_some_held([this] { return take({1, 9}); }));
    EXPECT_EQ(state(), "4 free, 1 held");
}

TEST_P(PermitRights, AReleaseIsDoneOrNot) {
    expect_all_or_nothing({[this] {
                               hold_some();
                               take({1, 2});
                           },
                           [this] {
                               return release({1, 2});
                           },
                           [this] { return state(); }});
    EXPECT_EQ(state(), "4 free, 1 held");
}

TEST_P(PermitRights, AReleaseBesideAForeignNumberLosesNothing) {
    hold_some();
    take({1, 2});
    server().command({"DEL", name_});
    server().command({"HSET", name_, "a", "b"});
    EXPECT_TRUE(is_error(release({1, 2}), "WRONGTYPE"));
    EXPECT_EQ(held_count(), 3);
}

TEST_P(PermitRights, AChangeIsDoneOrNot) {
    for (const char* const verb : {"add", "take_back", "set", "erase"}) {
        SCOPED_TRACE(verb);
        expect_all_or_nothing(with_some_held([this, verb] { return change(verb, 2, {}); }));
    }
    for (const char* const verb : {"give_back", "set_lease"}) {
        SCOPED_TRACE(verb);
        expect_all_or_nothing(
            with_some_held([this, verb] { return change(verb, 20'000, {}, other_); }));
    }
    expect_all_or_nothing(
        {[] {}, [this] { return change("set_new", 2, {}); }, [this] { return state(); }});
}

class RateRights : public on_denied_scripts<on_rate_scripts> {
protected:
    /// Three of five permits are drawn, and earlier draws do not count any more.
    void draw_some(manner how) {
        set(5, hour, how);
        drawn(2, now() - hour - 1'000);
        drawn(1, now() - 2);
        drawn(1, now() - 1);
        drawn(1, now());
        server().command({"SET", left_, "0"});
    }
    std::string state() {
        std::string all;
        for (const std::int64_t each : support::integers_of(inspect_rate()))
            all += std::to_string(each) + " ";
        return all + "drawn " +
               std::to_string(ask({"ZCOUNT", draws_, std::to_string(now() - hour), "+inf"}));
    }
    attempt with_some_drawn(std::function<redis::reply()> act, manner how = {}) {
        return {[this, how] { draw_some(how); }, std::move(act), [this] { return state(); }};
    }
};
HOLDFAST_ON_EACH_SERVER(RateRights);

TEST_P(RateRights, ADrawIsDoneOrNot) {
    for (const std::int64_t kept : {std::int64_t{0}, 2 * hour})
        expect_all_or_nothing(with_some_drawn([this] { return take(2, 1); }, {.kept = kept}));
    EXPECT_EQ(available(), 0);
}

TEST_P(RateRights, WhatWasDrawnIsGivenBackOrNot) {
    expect_all_or_nothing({[this] {
                               draw_some({});
                               take(2, 1);
                           },
                           [this] { return give_back(2, 1); }, [this] { return state(); }});
    EXPECT_EQ(available(), 2);
}

TEST_P(RateRights, AChangeIsDoneOrNot) {
    for (const char* const verb : {"add", "set", "erase"})
        for (const std::int64_t kept : {std::int64_t{0}, 2 * hour}) {
            SCOPED_TRACE(verb);
            const manner how{.kept = kept};
            expect_all_or_nothing(with_some_drawn(
                [this, verb, how] { return change(verb, 2, hour / 2, how, {}); }, how));
        }
    expect_all_or_nothing(
        {[] {}, [this] { return change("set_new", 2, hour, {}, {}); }, [this] { return state(); }});
}

} // namespace
} // namespace holdfast
