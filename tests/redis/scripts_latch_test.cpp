// SPDX-License-Identifier: Apache-2.0
// change_latch.lua and look_latch.lua.
#include "counter_scripts.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Le;

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
    EXPECT_THAT(remembered_for(), AllOf(Gt(59'000), Le(60'000)));
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
    EXPECT_THAT(integers_of(look()), ElementsAre(0, AllOf(Gt(29'000), Le(30'000))));
    change("count_down", 1, {.number = 1});
    EXPECT_GT(time_left(), 29'000);
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

// What cannot be remembered is not done.
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

TEST_P(LatchScripts, AFullServerChangesNothing) {
    others_set("1");
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_TRUE(is_error(change("count_down", 1, {.number = 1}), "OOM"));
    EXPECT_EQ(said(look()), 0);
    EXPECT_EQ(value(), "1");
}

} // namespace
} // namespace holdfast
