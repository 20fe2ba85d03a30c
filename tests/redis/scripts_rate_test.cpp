// SPDX-License-Identifier: Apache-2.0
// take_rate.lua, give_back_rate.lua and inspect_rate.lua.
#include "counter_scripts.hpp"

#include <algorithm>

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Le;

using RateScripts = on_rate_scripts;
HOLDFAST_ON_EACH_SERVER(RateScripts);

TEST_P(RateScripts, PermitsAreDrawnUntilThereAreNone) {
    set(3, hour);
    const std::int64_t before = server_micros();
    const redis::reply answer = take(2, 1);
    EXPECT_THAT(integers_of(answer), ElementsAre(done, 0, AllOf(Gt(before), Le(server_micros()))));
    EXPECT_EQ(value(left_), "1");
    EXPECT_EQ(value(left_ + client_), "");
    EXPECT_EQ(said(take(2, 2)), not_done);
    EXPECT_EQ(value(left_), "1") << "what is busy draws nothing";
    EXPECT_EQ(said(take(1, 3)), done);
    EXPECT_EQ(value(left_), "0");
    EXPECT_EQ(ask({"ZCARD", draws_}), 2);
}

TEST_P(RateScripts, ADrawIsWrittenAsRedissonWritesIt) {
    set(3, hour);
    const std::int64_t before = server_micros() / 1000;
    EXPECT_EQ(said(take(2, 7)), done);
    const redis::reply all = server().command({"ZRANGE", draws_, "0", "-1", "WITHSCORES"});
    ASSERT_EQ(all.items.size(), 2u);
    EXPECT_EQ(all.items[0].text, member(7, 2));
    EXPECT_EQ(all.items[0].text.size(), 21u);
    EXPECT_EQ(all.items[0].text[0], 0x10);
    EXPECT_EQ(all.items[0].text.substr(17), std::string("\2\0\0\0", 4));
    EXPECT_THAT(std::stoll(all.items[1].text), AllOf(Ge(before), Le(server_micros() / 1000 + 1)));
}

TEST_P(RateScripts, TheSameRequestDrawsOnce) {
    set(3, hour);
    EXPECT_EQ(said(take(2, 7)), done);
    const std::int64_t before = changes();
    EXPECT_EQ(said(take(2, 7)), done);
    EXPECT_EQ(value(left_), "1");
    EXPECT_EQ(ask({"ZCARD", draws_}), 1);
    EXPECT_GE(changes(), before);
}

// Whoever asks again so late begins now; what it drew then lets others through now.
TEST_P(RateScripts, TheSameRequestDrawsAnewWhenItsDrawCountsNoMore) {
    set(3, 1'000);
    EXPECT_EQ(said(take(2, 7)), done);
    server().command({"ZADD", draws_, std::to_string(now() - 2'000), member(7, 2)});
    EXPECT_EQ(said(take(2, 7)), done);
    EXPECT_EQ(value(left_), "1");
    EXPECT_EQ(ask({"ZCARD", draws_}), 1);
    EXPECT_EQ(said(take(2, 8)), not_done);
    server().command({"ZADD", draws_, std::to_string(now() - 2'000), member(7, 2)});
    EXPECT_EQ(said(take(2, 8)), done) << "another one comes first";
    EXPECT_EQ(said(take(2, 7)), not_done);
}

TEST_P(RateScripts, LateDrawsNothing) {
    set(3, hour);
    EXPECT_EQ(said(take(2, 1, server_micros() - 1)), late);
    EXPECT_EQ(ask({"EXISTS", draws_}), 0);
    EXPECT_EQ(said(take(2, 1, server_micros() + 1'000'000)), done);
}

TEST_P(RateScripts, WhoFindsTooFewIsToldWhenThereMayBeEnough) {
    set(5, hour);
    drawn(1, now() - hour + 1'000);
    drawn(3, now() - hour + 50'000);
    drawn(1, now() - hour + 90'000);
    server().command({"SET", left_, "0"});
    EXPECT_THAT(delay(1), AllOf(Gt(0), Le(1'001)));
    EXPECT_THAT(delay(2), AllOf(Gt(45'000), Le(50'001)));
    EXPECT_THAT(delay(4), AllOf(Gt(45'000), Le(50'001)));
    EXPECT_THAT(delay(5), AllOf(Gt(85'000), Le(90'001)));
}

TEST_P(RateScripts, TheDelayOfAHugeWishCountsSoManyDraws) {
    set(1'000, hour);
    const std::int64_t from = now() - hour + 10'000;
    for (int i = 0; i < 200; ++i)
        drawn(1, from + i * 1'000);
    server().command({"SET", left_, "800"});
    EXPECT_THAT(delay(1'000), AllOf(Gt(100'000), Le(110'000)));
}

TEST_P(RateScripts, WhatIsOlderThanTheIntervalIsFreeAgain) {
    set(3, hour);
    drawn(2, now() - hour - 1);
    drawn(1, now() - 100);
    server().command({"SET", left_, "0"});
    EXPECT_EQ(available(), 2);
    EXPECT_EQ(ask({"ZCARD", draws_}), 2) << "looking changes nothing";
    EXPECT_EQ(said(take(2, 1)), done);
    EXPECT_EQ(value(left_), "0");
    EXPECT_EQ(ask({"ZCARD", draws_}), 2);
    EXPECT_EQ(said(take(1, 2)), not_done);
}

// Keys in each layout that a version of Redisson has written.
TEST_P(RateScripts, TheCountOfEveryLayoutIsRead) {
    set(2'000'000, hour);
    const std::string count = std::string("\x05\0\0\0", 4);
    const std::string counts[] = {std::string("fI..", 4) + count,
                                  std::string("\x08\0\0\0\0\0\0\0", 8) + "abcdefgh" + count,
                                  std::string(1, '\x08') + "abcdefgh" + count,
                                  std::string(1, '\x10') + "abcdefghabcdefgh" + count};
    for (const std::string& each : counts)
        server().command({"ZADD", draws_, std::to_string(now()), each});
    EXPECT_EQ(available(), 2'000'000 - 20);
    server().command({"ZADD", draws_, std::to_string(now()), std::string("fI..\0\0\1\0", 8)});
    EXPECT_EQ(available(), 2'000'000 - 20 - 65'536);
}

TEST_P(RateScripts, WhatIsLeftIsCountedAnewWhereItCannotBe) {
    set(3, hour);
    drawn(2, now());
    EXPECT_EQ(available(), 1) << "it was evicted";
    EXPECT_EQ(said(take(2, 1)), not_done);
    server().command({"SET", left_, "9"});
    EXPECT_EQ(available(), 1) << "the rate was lowered";
    EXPECT_EQ(said(take(2, 1)), not_done);
    server().command({"SET", left_, "0"});
    EXPECT_EQ(available(), 1) << "the rate was raised";
    server().command({"DEL", draws_});
    EXPECT_EQ(said(take(3, 1)), done) << "what was drawn was evicted";
    EXPECT_EQ(value(left_), "0");
}

TEST_P(RateScripts, WhatIsLeftIsCountedAnewWhereItIsNoNumber) {
    set(3, hour);
    drawn(2, now());
    server().command({"SET", left_, "a picture"});
    EXPECT_EQ(available(), 1);
    EXPECT_EQ(said(take(1, 1)), done);
    EXPECT_EQ(value(left_), "0");
    server().command({"SET", left_, "a picture"});
    EXPECT_THAT(integers_of(give_back(1, 1)), ElementsAre(1, 0));
    EXPECT_EQ(available(), 1);
}

TEST_P(RateScripts, DrawsFromTheFutureCountUntilTheirTimeIsOver) {
    set(3, hour);
    drawn(3, now() + 30'000); // a JVM's clock is ahead
    server().command({"SET", left_, "0"});
    EXPECT_THAT(delay(1), AllOf(Gt(hour + 25'000), Le(hour + 30'001)));
    EXPECT_EQ(available(), 0);
}

TEST_P(RateScripts, EachClientDrawsForItself) {
    set(2, hour, {.per_client = true});
    EXPECT_EQ(said(take(2, 1)), done);
    EXPECT_EQ(said(take(1, 2)), not_done);
    EXPECT_EQ(value(left_ + client_), "0");
    EXPECT_EQ(value(left_), "");
    EXPECT_THAT(ask({"PTTL", left_ + client_}), AllOf(Gt(2 * hour - 5'000), Le(2 * hour)));
    EXPECT_THAT(ask({"PTTL", draws_ + client_}), AllOf(Gt(2 * hour - 5'000), Le(2 * hour)));
    client_ = ":bbbbbbbb-0000-8fd5-8000-000000000002";
    EXPECT_EQ(said(take(2, 1)), done);
}

TEST_P(RateScripts, WhatIsKeptIsKeptByEachUse) {
    set(2, 1'000, {.kept = 60'000});
    server().command({"PEXPIRE", name_, "1000"});
    EXPECT_EQ(said(take(2, 1)), done);
    for (const std::string& each : {name_, left_, draws_})
        EXPECT_THAT(ask({"PTTL", each}), AllOf(Gt(55'000), Le(60'000))) << each;
    for (const std::string& each : {name_, left_, draws_})
        server().command({"PEXPIRE", each, "10000"});
    EXPECT_EQ(said(take(1, 2)), not_done);
    for (const std::string& each : {name_, left_, draws_})
        EXPECT_THAT(ask({"PTTL", each}), AllOf(Gt(60'000), Le(61'001))) << each << " and the wait";
}

TEST_P(RateScripts, WhatWillEndEndsWithAllThatBelongsToIt) {
    set(2, hour);
    server().command({"PEXPIRE", name_, "40000"});
    EXPECT_EQ(said(take(1, 1)), done);
    EXPECT_THAT(ask({"PTTL", left_}), AllOf(Gt(35'000), Le(40'000)));
    EXPECT_THAT(ask({"PTTL", draws_}), AllOf(Gt(35'000), Le(40'000)));
    server().command({"PERSIST", name_});
    EXPECT_EQ(said(take(1, 2)), done);
    EXPECT_EQ(ask({"PTTL", left_}), -1);
    EXPECT_EQ(ask({"PTTL", draws_}), -1);
}

TEST_P(RateScripts, WhatWasDrawnIsGivenBackOnce) {
    set(3, hour);
    EXPECT_EQ(said(take(2, 1)), done);
    EXPECT_EQ(said(take(1, 2)), done);
    EXPECT_THAT(integers_of(give_back(2, 1)), ElementsAre(1, 0));
    EXPECT_THAT(integers_of(give_back(2, 1)), ElementsAre(0, 0));
    EXPECT_EQ(value(left_), "2");
    EXPECT_EQ(ask({"ZCARD", draws_}), 1);
    EXPECT_THAT(integers_of(give_back(2, 9)), ElementsAre(0, 0)) << "that drew nothing";
}

TEST_P(RateScripts, WhatIsGivenBackIsNeverMoreThanTheRate) {
    set(3, hour);
    EXPECT_EQ(said(take(2, 1)), done);
    server().command({"SET", left_, "2"});
    EXPECT_EQ(said(give_back(2, 1)), 1);
    EXPECT_EQ(value(left_), "3");
}

TEST_P(RateScripts, WhatADeletedOneHadDrawnIsGivenBackToNobody) {
    set(3, hour);
    EXPECT_EQ(said(take(2, 1)), done);
    server().command({"DEL", left_});
    EXPECT_EQ(said(give_back(2, 1)), 1);
    EXPECT_EQ(ask({"EXISTS", left_, draws_}), 0);
    EXPECT_EQ(said(take(2, 2)), done);
    server().command({"DEL", name_});
    EXPECT_EQ(said(give_back(2, 2)), 1);
    EXPECT_EQ(value(left_), "3");
}

TEST_P(RateScripts, WhatAClientDrewForItselfIsGivenBackToIt) {
    set(3, hour, {.per_client = true});
    EXPECT_EQ(said(take(2, 1)), done);
    EXPECT_EQ(said(give_back(2, 1)), 1);
    EXPECT_EQ(value(left_ + client_), "3");
}

TEST_P(RateScripts, WhatIsNotSetIsRefused) {
    EXPECT_TRUE(is_error(take(1, 1), "the rate limiter is not set"));
    EXPECT_EQ(said(give_back(1, 1)), 0);
    EXPECT_THAT(integers_of(inspect_rate()), ElementsAre(0, 0, 0, 0, 0, 0));
    EXPECT_EQ(ask({"DBSIZE"}), 0);
}

TEST_P(RateScripts, MoreThanTheRateIsRefused) {
    set(3, hour);
    EXPECT_TRUE(is_error(take(4, 1), "4 permits are more than the rate of 3"));
    EXPECT_EQ(ask({"EXISTS", draws_}), 0);
}

TEST_P(RateScripts, WhatIsSomethingElseIsRefused) {
    for (const std::vector<std::string>& make :
         {std::vector<std::string>{"SET", name_, "5"}, {"HSET", name_, alice, "1"}}) {
        server().command({"DEL", name_});
        server().command(make);
        EXPECT_TRUE(is_error(take(1, 1), "WRONGTYPE"));
        EXPECT_TRUE(is_error(inspect_rate(), "WRONGTYPE"));
        EXPECT_TRUE(is_error(give_back(1, 1), "WRONGTYPE"));
    }
    EXPECT_EQ(ask({"DBSIZE"}), 1);
}

TEST_P(RateScripts, WhereSomethingElseHasAPlaceOfItsItIsRefused) {
    set(3, hour);
    for (const std::string& key : {left_, draws_}) {
        SCOPED_TRACE(key);
        server().command({"DEL", left_, draws_});
        server().command({"RPUSH", key, "x"});
        EXPECT_TRUE(is_error(take(1, 1), "WRONGTYPE"));
        EXPECT_TRUE(is_error(give_back(1, 1), "WRONGTYPE"));
        EXPECT_TRUE(is_error(inspect_rate(), "WRONGTYPE"));
        EXPECT_TRUE(is_error(change("add", 1, 0, {}, {}), "WRONGTYPE"));
        EXPECT_EQ(ask({"LLEN", key}), 1);
        EXPECT_EQ(ask({"DBSIZE"}), 2);
    }
}

TEST_P(RateScripts, FullServerDrawsNothingAndTakesBack) {
    set(3, hour);
    EXPECT_EQ(said(take(2, 1)), done);
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_TRUE(is_error(take(1, 2), "OOM"));
    EXPECT_EQ(said(take(2, 1)), done) << "it was drawn before";
    EXPECT_TRUE(is_error(change("set", 9, hour, {}, {}), "OOM"));
    EXPECT_EQ(available(), 1);
    EXPECT_EQ(said(change("add", 1, 0, {}, {})), done);
    EXPECT_EQ(available(), 2);
}

TEST_P(RateScripts, OnAReplicaNothingIsDrawn) {
    set(3, hour);
    EXPECT_EQ(said(take(2, 1)), done);
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_TRUE(is_error(take(1, 2), "READONLY"));
    EXPECT_TRUE(is_error(take(2, 1), "READONLY")) << "nor is it known whether it was";
}

TEST_P(RateScripts, DrawsThatCountAndAreOfAnotherFormAreRefused) {
    using redis::redisson_form;
    const owner_id other{{1}, 1};
    for (const auto& [form, words] : {std::pair{redisson_form::v3_13, "redisson=3.13"},
                                      std::pair{redisson_form::v3_16, "redisson=3.16"}}) {
        SCOPED_TRACE(words);
        server().command({"FLUSHALL"});
        set(3, hour);
        server().command(
            {"ZADD", draws_, std::to_string(now() - hour - 1), redis::rate_member(other, 1, form)});
        EXPECT_EQ(said(take(1, 1)), done) << "it does not count any more";
        server().command({"ZADD", draws_,
                          std::to_string(now() - hour / 2), // the oldest draw that counts
                          redis::rate_member({{2}, 2}, 1, form)});
        EXPECT_THAT(take(1, 2).text, AllOf(HasSubstr("WRONGTYPE"), HasSubstr(words)));
        EXPECT_EQ(ask({"ZCARD", draws_}), 2) << "nothing was drawn";
    }
}

TEST_P(RateScripts, SaysWhatItIsSetTo) {
    set(7, 1'500, {.per_client = true, .kept = 60'000});
    EXPECT_THAT(integers_of(inspect_rate()), ElementsAre(1, 7, 7, 1'500, 1, 60'000));
    server().command({"HDEL", name_, "keepAliveTime"}); // as before Redisson 3.38
    EXPECT_THAT(integers_of(inspect_rate()), ElementsAre(1, 7, 7, 1'500, 1, 0));
}

TEST_P(RateScripts, WithoutTheServersTimeNothingIsDone) {
    set(3, hour);
    deny("time");
    for (const redis::reply& answer : {take(1, 1), inspect_rate()})
        EXPECT_EQ(redis::classify(answer.text), store_errc::no_permission) << answer.text;
    EXPECT_EQ(ask({"EXISTS", draws_}), 0);
}

// change_rate.lua.

using ::testing::_;

class RateChanges : public on_rate_scripts {
protected:
    using on_rate_scripts::on_rate_scripts;

    std::string field(const std::string& which) {
        return server().command({"HGET", name_, which}).text;
    }
    /// As updateRate of RRateLimiter, which keeps what was drawn.
    void jvm_updates(std::int64_t permits, std::int64_t drawn) {
        server().command({"HSET", name_, "rate", std::to_string(permits)});
        const std::int64_t rest = std::max<std::int64_t>(0, permits - drawn);
        server().command({"SET", left_, std::to_string(rest)});
    }
    redis::reply release(int permits, once as) { return change("add", permits, 0, {}, as); }
};
HOLDFAST_ON_EACH_SERVER(RateChanges);

TEST_P(RateChanges, WhatIsNotSetIsSetOnce) {
    EXPECT_THAT(integers_of(change("set_new", 3, hour, {}, {})), ElementsAre(done, _, 3, 0));
    EXPECT_EQ(said(change("set_new", 9, 1'000, {.per_client = true}, {.number = 2})), not_done);
    EXPECT_EQ(field("rate"), "3");
    EXPECT_EQ(field("interval"), std::to_string(hour));
    EXPECT_EQ(field("type"), "0");
    EXPECT_EQ(field("keepAliveTime"), "0");
    EXPECT_EQ(time_left(), -1);
    EXPECT_EQ(remembered(), "2 0 0");
    EXPECT_THAT(remembered_for(), AllOf(Gt(54'000), Le(60'000)));
}

TEST_P(RateChanges, SettingItForgetsWhatWasDrawn) {
    set(2, hour);
    EXPECT_EQ(said(take(2, 1)), done);
    EXPECT_EQ(said(change("set", 4, hour, {.per_client = true}, {})), done);
    EXPECT_EQ(ask({"EXISTS", left_, draws_}), 0);
    EXPECT_EQ(said(take(4, 2)), done);
    EXPECT_EQ(said(change("set", 4, hour, {.per_client = true}, {.number = 2})), done);
    EXPECT_EQ(ask({"EXISTS", left_ + client_, draws_ + client_}), 0);
    EXPECT_EQ(field("type"), "1");
}

TEST_P(RateChanges, ALowerOrAHigherRateCountsFromNow) {
    set(5, hour);
    for (const std::int64_t permits : {2, 9}) {
        SCOPED_TRACE(permits);
        EXPECT_EQ(said(take(2, 1)), done);
        EXPECT_EQ(said(change("set", permits, hour, {}, {.number = int(permits)})), done);
        EXPECT_EQ(available(), permits);
        EXPECT_EQ(said(take(int(permits), 3)), done);
        EXPECT_EQ(said(take(1, 4)), not_done);
        server().command({"DEL", left_, draws_});
    }
}

TEST_P(RateChanges, ARateThatAJvmChangesWhileDrawsStandCountsThem) {
    set(5, hour);
    EXPECT_EQ(said(take(3, 1)), done);
    jvm_updates(4, 3);
    EXPECT_EQ(available(), 1) << "lower";
    jvm_updates(2, 3);
    EXPECT_EQ(available(), 0) << "lower than what was drawn";
    EXPECT_EQ(said(take(1, 2)), not_done);
    EXPECT_THAT(integers_of(release(3, {})), ElementsAre(done, _, 2, 0)) << "all of it";
    EXPECT_EQ(said(take(2, 3)), done);
    jvm_updates(6, 2);
    EXPECT_EQ(available(), 4) << "higher";
    EXPECT_EQ(said(take(4, 4)), done);
    EXPECT_EQ(said(take(1, 5)), not_done);
}

TEST_P(RateChanges, DrawsOfOneClientCountWhenAJvmChangesTheRate) {
    set(10, hour, {.per_client = true});
    EXPECT_EQ(said(take(5, 1)), done);
    EXPECT_EQ(said(take(3, 2)), done);
    set(8, hour, {.per_client = true}); // setRate of a JVM leaves the keys of this client
    EXPECT_EQ(available(), 0);
    EXPECT_EQ(said(take(1, 3)), not_done);
    set(3, hour, {.per_client = true});
    EXPECT_THAT(integers_of(release(1, {.number = 1})), ElementsAre(done, _, 0, 0))
        << "seven of three are drawn";
    EXPECT_EQ(available(), 0);
    set(12, hour, {.per_client = true});
    EXPECT_EQ(available(), 5);
    EXPECT_EQ(said(take(5, 4)), done);
    EXPECT_EQ(said(take(1, 5)), not_done);
}

TEST_P(RateChanges, AHundredDrawsOfOneClientCountWhenAJvmLowersTheRate) {
    set(1'000, hour, {.per_client = true});
    for (int i = 1; i <= 100; ++i)
        EXPECT_EQ(said(take(3, std::uint64_t(i))), done);
    set(801, hour, {.per_client = true});
    EXPECT_EQ(available(), 501);
    EXPECT_EQ(said(take(502, 101)), not_done);
    EXPECT_EQ(said(take(501, 102)), done);
}

TEST_P(RateChanges, DrawsOfOneClientCountWhenAJvmMakesTheIntervalLonger) {
    set(5, 60'000, {.per_client = true});
    EXPECT_EQ(said(take(2, 1)), done);
    EXPECT_EQ(said(take(3, 2)), done);
    set(5, hour, {.per_client = true});
    EXPECT_EQ(available(), 0);
    EXPECT_EQ(said(take(1, 3)), not_done);
    for (const std::string& each : {left_ + client_, draws_ + client_})
        EXPECT_GT(ask({"PTTL", each}), hour) << "the keys stay as long as the draws count";
}

TEST_P(RateChanges, WhatOthersDrewForThemselvesIsNotForgotten) {
    set(2, hour, {.per_client = true});
    EXPECT_EQ(said(take(2, 1)), done);
    const std::string mine = client_;
    client_ = ":bbbbbbbb-0000-8fd5-8000-000000000002";
    EXPECT_EQ(said(take(1, 1)), done);
    EXPECT_EQ(said(change("set", 2, hour, {.per_client = true}, {})), done);
    EXPECT_EQ(available(), 2);
    client_ = mine;
    EXPECT_EQ(available(), 0);
}

TEST_P(RateChanges, ItIsKeptForAsLongAsIsSaid) {
    EXPECT_EQ(said(change("set_new", 2, 1'000, {.kept = 60'000}, {})), done);
    EXPECT_THAT(time_left(), AllOf(Gt(55'000), Le(60'000)));
    EXPECT_EQ(said(change("set", 2, 1'000, {}, {.number = 2})), done);
    EXPECT_EQ(time_left(), -1);
    EXPECT_EQ(field("keepAliveTime"), "0");
}

TEST_P(RateChanges, TheSameRequestIsCarriedOutOnce) {
    EXPECT_EQ(said(change("set", 2, hour, {}, {.number = 5})), done);
    EXPECT_EQ(said(take(2, 1)), done);
    EXPECT_EQ(said(change("set", 2, hour, {}, {.number = 5})), done);
    EXPECT_EQ(value(left_), "0") << "what was drawn meanwhile is not forgotten";
    EXPECT_EQ(said(change("set", 2, hour, {}, {.number = 4})), late);
    EXPECT_EQ(said(release(1, {.number = 6})), done);
    EXPECT_THAT(integers_of(release(1, {.number = 6})), ElementsAre(done, _, 1, 0));
    EXPECT_EQ(value(left_), "1");
}

TEST_P(RateChanges, WhatIsRepeatedIsAnsweredTheSameWhateverBecameOfItMeanwhile) {
    EXPECT_EQ(said(change("set_new", 2, hour, {}, {.number = 1})), done);
    EXPECT_EQ(said(take(2, 1)), done);
    server().command({"HSET", name_, "rate", "7"});
    EXPECT_EQ(said(change("set_new", 2, hour, {}, {.number = 1})), done);
    EXPECT_EQ(field("rate"), "7");
    EXPECT_EQ(said(change("erase", 0, 0, {}, {.number = 2})), done);
    EXPECT_EQ(said(change("set_new", 3, hour, {}, {.slot = 1, .number = 3})), done);
    EXPECT_EQ(said(change("erase", 0, 0, {}, {.number = 2})), done);
    EXPECT_EQ(field("rate"), "3") << "which is a new one";
}

TEST_P(RateChanges, OfADrawOfAnyLayoutAPartIsReleased) {
    set(9, hour);
    const std::string count = std::string("\5\0\0\0", 4);
    const std::string fronts[] = {"fI..", std::string("\x08\0\0\0\0\0\0\0", 8) + "abcdefgh",
                                  std::string(1, '\x08') + "abcdefgh",
                                  std::string(1, '\x10') + "abcdefghabcdefgh"};
    int number = 0;
    for (const std::string& front : fronts) {
        server().command({"DEL", left_, draws_});
        server().command({"ZADD", draws_, std::to_string(now()), front + count});
        EXPECT_THAT(integers_of(release(2, {.number = ++number})), ElementsAre(done, _, 6, 0));
        const redis::reply all = server().command({"ZRANGE", draws_, "0", "-1"});
        ASSERT_EQ(all.items.size(), 1u);
        EXPECT_EQ(all.items[0].text, front + std::string("\3\0\0\0", 4));
    }
}

TEST_P(RateChanges, LateDoesNothing) {
    EXPECT_EQ(said(change("set", 2, hour, {}, {.deadline = server_micros() - 1})), late);
    EXPECT_EQ(ask({"DBSIZE"}), 0);
}

TEST_P(RateChanges, WhatIsReleasedWasDrawnLast) {
    set(5, hour);
    drawn(2, now() - 3'000);
    drawn(2, now() - 1'000);
    server().command({"SET", left_, "1"});
    EXPECT_THAT(integers_of(release(1, {})), ElementsAre(done, _, 2, 0));
    EXPECT_EQ(ask({"ZCARD", draws_}), 2);
    EXPECT_EQ(value(left_), "2");
    server().command({"DEL", left_});
    EXPECT_EQ(available(), 2) << "as the draws that are left say, too";
    const redis::reply latest = server().command({"ZRANGE", draws_, "-1", "-1"});
    EXPECT_EQ(latest.items.at(0).text.substr(17), std::string("\1\0\0\0", 4));
    EXPECT_THAT(integers_of(release(2, {.number = 2})), ElementsAre(done, _, 4, 0));
    EXPECT_EQ(ask({"ZCARD", draws_}), 1);
    EXPECT_THAT(integers_of(release(1, {.number = 3})), ElementsAre(done, _, 5, 0));
    EXPECT_EQ(ask({"EXISTS", draws_}), 0);
}

TEST_P(RateChanges, MoreIsReleasedThanWasDrawnAndTheRateStays) {
    set(3, hour);
    drawn(1, now() - hour - 5);
    drawn(1, now());
    server().command({"SET", left_, "1"});
    EXPECT_THAT(integers_of(release(1'000, {})), ElementsAre(done, _, 3, 0));
    EXPECT_EQ(value(left_), "3");
    EXPECT_EQ(ask({"EXISTS", draws_}), 0);
    EXPECT_EQ(said(take(3, 1)), done);
    EXPECT_EQ(said(take(1, 2)), not_done);
}

TEST_P(RateChanges, WhatIsReleasedOfOneThatIsKeptIsKept) {
    set(3, 1'000, {.kept = 60'000});
    drawn(2, now());
    EXPECT_EQ(said(release(1, {})), done);
    for (const std::string& each : {name_, left_, draws_})
        EXPECT_THAT(ask({"PTTL", each}), AllOf(Gt(55'000), Le(60'000))) << each;
}

TEST_P(RateChanges, WhatIsNotSetIsReleasedToNobody) {
    EXPECT_TRUE(is_error(release(1, {}), "the rate limiter is not set"));
    EXPECT_EQ(ask({"DBSIZE"}), 0);
}

TEST_P(RateChanges, ItIsErasedWithAllThatBelongsToIt) {
    set(3, hour);
    EXPECT_EQ(said(take(1, 1)), done);
    EXPECT_EQ(said(change("erase", 0, 0, {}, {})), done);
    EXPECT_EQ(ask({"EXISTS", name_, left_, draws_}), 0);
    EXPECT_EQ(said(change("erase", 0, 0, {}, {.number = 2})), not_done);
}

TEST_P(RateChanges, WhatIsSomethingElseStaysAsItIs) {
    server().command({"HSET", name_, alice, "1"});
    for (const char* const verb : {"set_new", "set", "add", "erase"})
        EXPECT_TRUE(is_error(change(verb, 1, hour, {}, {}), "WRONGTYPE")) << verb;
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_EQ(ask({"DBSIZE"}), 1);
}

TEST_P(RateChanges, WhatCannotBeRememberedIsNotDone) {
    for (const char* const right : {"hset", "time"}) {
        deny(right);
        const redis::reply answer = change("set", 1, hour, {}, {});
        EXPECT_EQ(redis::classify(answer.text), store_errc::no_permission) << answer.text;
    }
    EXPECT_EQ(ask({"DBSIZE"}), 0);
}

} // namespace
} // namespace holdfast
