// SPDX-License-Identifier: Apache-2.0
// change_rate.lua.
#include "rate_scripts.hpp"

#include <algorithm>

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Le;

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
    EXPECT_THAT(remembered_for(), AllOf(Gt(59'000), Le(60'000)));
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
