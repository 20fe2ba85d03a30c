// SPDX-License-Identifier: Apache-2.0
// change_rate.lua.
#include "rate_scripts.hpp"

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
