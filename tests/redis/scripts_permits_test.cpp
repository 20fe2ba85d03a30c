// SPDX-License-Identifier: Apache-2.0
// take_permits.lua, release_permits.lua and renew_permits.lua.
#include "counter_scripts.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Le;

using PermitScripts = on_permit_scripts;
HOLDFAST_ON_EACH_SERVER(PermitScripts);

TEST_P(PermitScripts, WhatIsHeldIsConfirmedThoughThereAreLessThanNone) {
    others_set("2");
    EXPECT_EQ(said(take({1, 2})), done);
    server().command({"SET", name_, "-1"}); // somebody has taken one away
    EXPECT_EQ(said(take({1, 2})), done);
    EXPECT_EQ(value(), "-1");
    EXPECT_EQ(held_count(), 2);
}

TEST_P(PermitScripts, WhoCannotHaveTheRestGivesBackThePartThatIsThere) {
    others_set("3");
    EXPECT_EQ(said(take({1, 3})), done);
    EXPECT_EQ(said(change("give_back", 0, {.number = 1}, permit(2))), done);
    EXPECT_EQ(said(take({9})), done);
    EXPECT_EQ(said(take({1, 3})), not_done);
    EXPECT_EQ(value(), "2");
    EXPECT_EQ(held_count(), 1);
}

TEST_P(PermitScripts, NumberThatAnotherProgramHasReplacedIsNamedAndNotTouched) {
    for (const char* const text : {"foreign", "1.5", "007", "99999999999999999999"}) {
        others_set("3");
        EXPECT_EQ(said(take({1, 2})), done);
        server().command({"SET", name_, text});
        const bool is_number = std::string_view{text}.starts_with("9");
        const char* const there = is_number ? "a leased semaphore" : "another program's data";
        for (const redis::reply& answer : {take({9}), release({1, 2})}) {
            EXPECT_TRUE(is_error(answer, "WRONGTYPE")) << text;
            EXPECT_THAT(answer.text, ::testing::HasSubstr(there)) << text;
        }
        EXPECT_EQ(value(), text);
        EXPECT_EQ(held_count(), 2);
        server().command({"FLUSHALL"});
    }
}

TEST_P(PermitScripts, PermitsAreTakenWhereThereAreEnough) {
    others_set("3");
    const std::int64_t before = server_micros();
    const redis::reply answer = take({1, 2});
    EXPECT_THAT(integers_of(answer), ElementsAre(done, 0, AllOf(Ge(before), Le(server_micros()))));
    EXPECT_EQ(value(), "1");
    EXPECT_EQ(held_count(), 2);
    EXPECT_THAT(lasts(1), AllOf(Gt(24'000), Le(30'000)));
    EXPECT_THAT(lasts(2), AllOf(Gt(24'000), Le(30'000)));
    const numbers busy = integers_of(take({3, 2}));
    EXPECT_EQ(busy[0], not_done);
    EXPECT_THAT(busy[1], AllOf(Gt(24'000), Le(30'000)));
    EXPECT_EQ(value(), "1");
}

TEST_P(PermitScripts, WhereThereIsNoneNothingIsTakenAndNothingMade) {
    EXPECT_THAT(integers_of(take({})), ElementsAre(not_done, -1, Gt(0)));
    EXPECT_EQ(ask({"DBSIZE"}), 0);
}

TEST_P(PermitScripts, TheSameNumbersAreTakenOnceAndNeverShortened) {
    others_set("3");
    EXPECT_EQ(said(take({1, 2}, 60'000)), done);
    const std::int64_t before = changes();
    EXPECT_EQ(said(take({1, 2}, 10'000)), done);
    EXPECT_EQ(value(), "1");
    EXPECT_THAT(lasts(2), Gt(54'000));
    EXPECT_GE(changes(), before) << "a replica would refuse it";
    EXPECT_EQ(said(take({1, 2}, 90'000)), done);
    EXPECT_THAT(lasts(1), Gt(84'000));
}

TEST_P(PermitScripts, OfAPartThatIsThereOnlyTheRestIsTaken) {
    others_set("3");
    EXPECT_EQ(said(take({1, 2})), done);
    EXPECT_EQ(said(take({1, 3})), done);
    EXPECT_EQ(value(), "0");
}

TEST_P(PermitScripts, WhatIsOverGoesBackFirstAndIsTold) {
    others_set("0");
    others_hold(other_, -1);
    others_hold("fedcba9876543210", -5'000);
    others_hold("aaaaaaaaaaaaaaaa", 60'000);
    EXPECT_THAT(told_by([&] { EXPECT_EQ(said(take({})), done); }),
                ElementsAre("redisson_sc:{L} 1"));
    EXPECT_EQ(value(), "1");
    EXPECT_EQ(held_count(), 2);
    EXPECT_EQ(ask({"ZCARD", held_}), 2);
}

TEST_P(PermitScripts, WhatIsOverGoesBackAlsoForWhoFindsTooFew) {
    others_set("0");
    others_hold(other_, -1);
    others_hold("aaaaaaaaaaaaaaaa", 60'000);
    std::int64_t wait = 0;
    EXPECT_THAT(told_by([&] {
                    const redis::reply answer = take({1, 2});
                    EXPECT_EQ(said(answer), not_done);
                    wait = left(answer);
                }),
                ElementsAre("redisson_sc:{L} 1"));
    EXPECT_THAT(wait, AllOf(Gt(54'000), Le(60'000)));
    EXPECT_EQ(value(), "1");
    EXPECT_EQ(held_count(), 1);
}

TEST_P(PermitScripts, AsManyAsAreOverGoBackInSeveralSteps) {
    others_set("0");
    for (int i = 0; i < 150; ++i)
        others_hold("aaaaaaaaaaaaa" + std::to_string(100 + i), -1);
    EXPECT_EQ(said(take({1, 1000})), not_done);
    const std::string first = value();
    EXPECT_EQ(first, "150");
    EXPECT_EQ(held_count(), 0);
}

// More than one answer may take: whoever finds too few looks again at once, and each look is short.
TEST_P(PermitScripts, HundredsThatAreOverGoBackAHundredAtATime) {
    others_set("-300");
    for (int i = 0; i < 350; ++i)
        others_hold("aaaaaaaaaaaaa" + std::to_string(100 + i), -1);
    constexpr int at_once = 102; // and twice as many as are asked for
    for (int looks = 1; looks <= 2; ++looks) {
        const redis::reply answer = take({});
        EXPECT_EQ(said(answer), not_done);
        EXPECT_EQ(left(answer), 1) << "there is more to take back";
        EXPECT_EQ(value(), std::to_string(-300 + looks * at_once));
        EXPECT_EQ(held_count(), 350 - looks * at_once);
    }
    EXPECT_EQ(said(take({})), done);
    EXPECT_EQ(value(), std::to_string(-300 + 3 * at_once - 1));
    EXPECT_EQ(held_count(), 350 - 3 * at_once + 1);
    EXPECT_THAT(integers_of(inspect()), ElementsAre(1, 350 - 300 - 1, 1, 0))
        << "the rest counts as available";
}

TEST_P(PermitScripts, AsManyAsOneMayHaveAreTakenBesideHundredsThatAreOver) {
    others_set("0");
    for (int i = 0; i < 2'000; ++i)
        others_hold("aaaaaaaaaaaa" + std::to_string(1'000 + i), -1);
    EXPECT_EQ(said(take({1, 1'000})), done);
    EXPECT_EQ(value(), "1000");
    EXPECT_EQ(held_count(), 1'000);
    EXPECT_EQ(said(release({1, 1'000})), 1);
    EXPECT_EQ(value(), "2000");
}

TEST_P(PermitScripts, OnesOwnThatIsOverAndStillThereIsConfirmed) {
    others_set("0");
    others_hold(permit(1), -1);
    EXPECT_EQ(said(take({})), done);
    EXPECT_EQ(value(), "0");
    EXPECT_THAT(lasts(1), Gt(24'000));
}

TEST_P(PermitScripts, ThoseWithoutAnEndAreWaitedForWithoutOne) {
    others_set("0");
    server().command({"ZADD", held_, "922337203685477", other_});
    EXPECT_EQ(left(take({})), -1);
    EXPECT_THAT(integers_of(inspect()), ElementsAre(1, 0, 1, 0));
}

TEST_P(PermitScripts, TheKeyOfTheHeldEndsWithTheOther) {
    server().command({"SET", name_, "3", "PX", "50000"});
    EXPECT_EQ(said(take({1, 2})), done);
    EXPECT_THAT(ask({"PTTL", held_}), AllOf(Gt(44'000), Le(50'000)));
    EXPECT_THAT(time_left(), AllOf(Gt(44'000), Le(50'000)));
}

TEST_P(PermitScripts, LateDoesNothing) {
    others_set("3");
    EXPECT_EQ(said(take({}, 30'000, server_micros() - 1)), late);
    EXPECT_EQ(said(change("add", 1, {.deadline = server_micros() - 1})), late);
    EXPECT_EQ(value(), "3");
    EXPECT_EQ(held_count(), 0);
}

TEST_P(PermitScripts, AReleaseGivesBackOnceAndTellsWhatThereIs) {
    others_set("3");
    take({1, 2});
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(release({1, 2})), ElementsAre(1, 1));
                }),
                ElementsAre("redisson_sc:{L} 3"));
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(release({1, 2})), ElementsAre(0, 0));
                }),
                IsEmpty());
    EXPECT_EQ(value(), "3");
    EXPECT_EQ(held_count(), 0);
}

TEST_P(PermitScripts, APartThatIsLeftIsGivenBack) {
    others_set("3");
    take({1, 3});
    server().command({"ZREM", held_, permit(2)});
    EXPECT_EQ(said(release({1, 3})), 0);
    EXPECT_EQ(value(), "2");
}

TEST_P(PermitScripts, WhatIsOverIsGivenBackAndWasNotHeld) {
    others_set("0");
    others_hold(permit(1), -1);
    EXPECT_EQ(said(release({})), 0);
    EXPECT_EQ(value(), "1");
}

TEST_P(PermitScripts, NobodyIsToldOfFewerThanOne) {
    others_set("-2");
    others_hold(permit(1), 5'000);
    EXPECT_THAT(told_by([&] { EXPECT_THAT(integers_of(release({})), ElementsAre(1, 0)); }),
                IsEmpty());
    EXPECT_EQ(value(), "-1");
}

TEST_P(PermitScripts, ARenewalIsOfAllOrOfNone) {
    others_set("5");
    take({1, 2}, 10'000);
    take({3, 2}, 10'000);
    server().command({"ZREM", held_, permit(4)});
    EXPECT_THAT(integers_of(renew({{1, 2}, {3, 2}, {9, 1}})), ElementsAre(Gt(3), 0, 0));
    EXPECT_THAT(lasts(1), Gt(24'000));
    EXPECT_THAT(lasts(2), Gt(24'000));
    EXPECT_THAT(lasts(3), Le(10'000));
}

TEST_P(PermitScripts, ARenewalShortensNothingAndBringsNothingBack) {
    others_set("5");
    take({1, 1}, 60'000);
    others_hold(permit(2), -1);
    EXPECT_THAT(integers_of(renew({{1, 1}, {2, 1}}, 0)), ElementsAre(Gt(3), 0));
    EXPECT_THAT(lasts(1), Gt(54'000));
    EXPECT_THAT(lasts(2), Le(0));
}

TEST_P(PermitScripts, FullServerTakesNothingKeepsAndGivesBack) {
    others_set("3");
    take({1, 2});
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_TRUE(is_error(take({7}), "OOM"));
    EXPECT_EQ(held_count(), 2);
    EXPECT_EQ(value(), "1");
    EXPECT_TRUE(is_error(change("set", 9, {}), "OOM"));
    EXPECT_THAT(integers_of(renew({{1, 2}}, 60'000)), ElementsAre(AllOf(Gt(24'000), Le(30'003))));
    EXPECT_THAT(lasts(1), AllOf(Gt(54'000), Le(60'000)));
    EXPECT_EQ(said(take({1, 2})), done) << "it was granted before";
    EXPECT_EQ(said(change("set_lease", 1'000, {}, permit(1))), done);
    EXPECT_THAT(lasts(1), Le(1'000));
    EXPECT_EQ(said(release({1, 2})), 1);
    EXPECT_EQ(value(), "3");
}

TEST_P(PermitScripts, OnAFullServerWhatIsOverMakesRoom) {
    others_set("0");
    others_hold(other_, -1);
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(said(take({7})), done);
    EXPECT_EQ(held_count(), 1);
    EXPECT_EQ(value(), "0");
}

TEST_P(PermitScripts, OnAReplicaNothingIsTakenOrSaidToBeHeld) {
    others_set("3");
    take({1, 2});
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_TRUE(is_error(take({1, 2}), "READONLY"));
    EXPECT_TRUE(is_error(release({1, 2}), "READONLY"));
    EXPECT_TRUE(is_error(renew({{1, 2}}), "READONLY"));
}

TEST_P(PermitScripts, OfAnotherTypeAHoldIsLost) {
    server().command({"SET", held_, "x"});
    EXPECT_THAT(integers_of(renew({{1, 1}})), ElementsAre(0));
    EXPECT_THAT(integers_of(release({})), ElementsAre(0, 0));
    EXPECT_TRUE(is_error(take({}), "WRONGTYPE"));
    EXPECT_TRUE(is_error(change("add", 1, {}), "WRONGTYPE"));
    EXPECT_TRUE(is_error(change("give_back", 0, {}, permit(1)), "WRONGTYPE"));
    EXPECT_EQ(ask({"EXISTS", name_, requests_}), 0);
}

// change_permits.lua and inspect_permits.lua, and what all scripts of permits have in common.

using redis::redisson_form;
using ::testing::HasSubstr;

using PermitChanges = on_permit_scripts;
HOLDFAST_ON_EACH_SERVER(PermitChanges);

TEST_P(PermitChanges, SetNewCountsPermitsThatAreHeldAlthoughTheNumberIsGone) {
    others_hold(other_, 30'000);
    others_hold("fedcba9876543210", -1'000); // expired
    EXPECT_EQ(counted(change("set_new", 2, {.number = 3})), 1);
    EXPECT_EQ(value(), "1") << "two permits, and one of them is held";
    EXPECT_EQ(held_count(), 1);
}

TEST_P(PermitChanges, HowManyThereAreChangesBesideTheHeld) {
    EXPECT_EQ(counted(change("set_new", 3, {.number = 1})), 3);
    EXPECT_EQ(said(change("set_new", 5, {.number = 2})), not_done);
    take({1, 2});
    EXPECT_EQ(counted(change("set", 2, {.number = 3})), 0);
    EXPECT_EQ(counted(change("set", 1, {.number = 4})), -1);
    EXPECT_EQ(counted(change("add", 4, {.number = 5})), 3);
    EXPECT_EQ(counted(change("take_back", 1, {.number = 6})), 2);
    EXPECT_THAT(integers_of(inspect()), ElementsAre(1, 2, 2, 0));
    EXPECT_EQ(said(change("add", 2'147'483'647, {.number = 7})), beyond);
    EXPECT_EQ(value(), "2");
}

TEST_P(PermitChanges, OnlyMoreIsTold) {
    EXPECT_THAT(told_by([&] {
                    change("set_new", 3, {.number = 1});
                    change("set", 2, {.number = 2});
                    change("add", 2, {.number = 3});
                    change("take_back", 1, {.number = 4});
                }),
                ElementsAre("redisson_sc:{L} 3", "redisson_sc:{L} 4"));
}

TEST_P(PermitChanges, AChangeIsCarriedOutOnce) {
    EXPECT_EQ(said(change("add", 2, {.number = 7})), done);
    EXPECT_EQ(said(change("add", 2, {.number = 7})), done);
    EXPECT_EQ(said(change("add", 2, {.number = 6})), late);
    EXPECT_EQ(value(), "2");
    take({});
    EXPECT_EQ(said(change("give_back", 0, {.number = 8}, permit(1))), done);
    EXPECT_EQ(said(change("give_back", 0, {.number = 8}, permit(1))), done);
    EXPECT_EQ(said(change("give_back", 0, {.number = 9}, permit(1))), not_done);
    EXPECT_EQ(value(), "2");
}

TEST_P(PermitChanges, OneThatIsHeldIsGivenBackOrSet) {
    others_set("1");
    take({}, 30'000);
    EXPECT_EQ(said(change("set_lease", 5'000, {.number = 1}, permit(1))), done);
    EXPECT_THAT(lasts(1), AllOf(Gt(4'000), Le(5'000)));
    EXPECT_EQ(said(change("set_lease", 5'000, {.number = 2}, permit(2))), not_done);
    others_hold(permit(3), -1);
    EXPECT_EQ(said(change("set_lease", 5'000, {.number = 3}, permit(3))), not_done);
    EXPECT_EQ(said(change("give_back", 0, {.number = 4}, permit(3))), not_done);
    EXPECT_EQ(value(), "1") << "it was over, and is back";
    EXPECT_THAT(told_by([&] { change("give_back", 0, {.number = 5}, permit(1)); }),
                ElementsAre("redisson_sc:{L} 2"));
}

TEST_P(PermitChanges, NothingIsLeftOfWhatIsErased) {
    EXPECT_EQ(said(change("erase", 0, {.number = 1})), not_done);
    others_set("1");
    take({});
    EXPECT_EQ(said(change("erase", 0, {.number = 2})), done);
    EXPECT_FALSE(exists());
    EXPECT_EQ(held_count(), 0);
    EXPECT_THAT(integers_of(renew({{1, 1}})), ElementsAre(0));
}

TEST_P(PermitChanges, WhatIsRepeatedIsAnsweredTheSameWhateverBecameOfItMeanwhile) {
    EXPECT_EQ(said(change("set_new", 3, {.number = 1})), done);
    server().command({"DEL", name_});
    EXPECT_EQ(counted(change("set_new", 3, {.number = 1})), 3);
    EXPECT_FALSE(exists());
    others_set("2");
    EXPECT_EQ(said(change("erase", 0, {.number = 2})), done);
    others_set("5");
    take({});
    EXPECT_THAT(told_by([&] { EXPECT_EQ(said(change("erase", 0, {.number = 2})), done); }),
                IsEmpty());
    EXPECT_EQ(value(), "4");
    EXPECT_EQ(held_count(), 1);
    EXPECT_EQ(said(change("set_lease", 90'000, {.number = 3}, permit(1))), done);
    EXPECT_EQ(said(change("give_back", 0, {.number = 4}, permit(1))), done);
    EXPECT_EQ(said(change("set_lease", 90'000, {.number = 3}, permit(1))), late) << "overtaken";
    take({});
    EXPECT_EQ(said(change("give_back", 0, {.number = 4}, permit(1))), done);
    EXPECT_EQ(held_count(), 1) << "which was taken after that";
}

TEST_P(PermitChanges, WhereTheNumberIsGoneTheHeldOnesAreThereStill) {
    others_set("3");
    take({1, 2});
    server().command({"DEL", name_}); // evicted
    EXPECT_THAT(integers_of(inspect()), ElementsAre(1, 0, 2, 0));
    EXPECT_EQ(counted(change("set_new", 3, {.number = 1})), 1) << "two of them are held";
    server().command({"DEL", name_});
    EXPECT_EQ(counted(change("set", 3, {.number = 2})), 1) << "two of them are held";
    server().command({"DEL", name_});
    EXPECT_EQ(said(change("erase", 0, {.number = 3})), done);
    EXPECT_EQ(held_count(), 0);
}

TEST_P(PermitChanges, OneMoreThanCanBeIsNotGivenBack) {
    others_set("1");
    take({});
    others_set("2147483647");
    EXPECT_THAT(integers_of(change("give_back", 0, {.number = 1}, permit(1))),
                ElementsAre(beyond, Gt(0), 2'147'483'647, 0));
    EXPECT_EQ(held_count(), 1);
    others_set("-2147483647");
    EXPECT_EQ(said(change("take_back", 1, {.number = 2})), beyond);
}

TEST_P(PermitChanges, WhatIsOverCountsAsAvailable) {
    others_set("1");
    others_hold(other_, -1);
    others_hold("aaaaaaaaaaaaaaaa", 5'000);
    const std::int64_t before = changes();
    EXPECT_THAT(integers_of(inspect()), ElementsAre(1, 2, 1, 0));
    EXPECT_EQ(changes(), before);
}

TEST_P(PermitChanges, ExpiredPermitsCountTowardsTheLimits) {
    constexpr std::int64_t most = 2'147'483'647;
    others_set("-1");
    others_hold(other_, -1);
    others_hold("aaaaaaaaaaaaaaaa", -1);
    others_hold("bbbbbbbbbbbbbbbb", 60'000);
    EXPECT_THAT(integers_of(change("add", most, {.number = 1})), ElementsAre(beyond, Gt(0), 1, 0));
    EXPECT_EQ(held_count(), 3) << "nothing changes if the change is refused";
    EXPECT_THAT(told_by([&] { EXPECT_EQ(counted(change("take_back", 0, {.number = 2})), 1); }),
                ElementsAre("redisson_sc:{L} 1"))
        << "the waiters are notified of the permits that became free";
    EXPECT_EQ(value(), "1");
    EXPECT_EQ(held_count(), 1);

    others_set("-1");
    others_hold(other_, -1);
    others_hold("aaaaaaaaaaaaaaaa", -1);
    EXPECT_THAT(integers_of(change("take_back", most, {.number = 3})),
                ElementsAre(done, Gt(0), 1 - most, 0));
    EXPECT_EQ(value(), std::to_string(1 - most));
    EXPECT_EQ(held_count(), 1);
}

TEST_P(PermitChanges, ExpiredPermitsAreRemovedByEachChangeOfTheNumber) {
    constexpr std::int64_t many = 2'500; // more than one ZREM takes
    const auto begin = [&] {
        server().command({"FLUSHALL"});
        others_set("2");
        std::vector<std::string> all{"ZADD", held_};
        for (std::int64_t i = 0; i < many; ++i) {
            all.push_back("1");
            all.push_back("aaaaaaaaaaaa" + std::to_string(1'000 + i));
        }
        server().command(all);
        others_hold(permit(1), 60'000);
    };
    begin();
    EXPECT_EQ(counted(change("add", 3, {.number = 1})), many + 5);
    EXPECT_EQ(value(), std::to_string(many + 5));
    EXPECT_EQ(held_count(), 1);
    begin();
    EXPECT_EQ(counted(change("set", 7, {.number = 1})), 6) << "one is held";
    EXPECT_EQ(value(), "6");
    EXPECT_EQ(held_count(), 1);
    begin();
    EXPECT_EQ(counted(change("give_back", 0, {.number = 1}, permit(1))), many + 3);
    EXPECT_EQ(value(), std::to_string(many + 3));
    EXPECT_EQ(held_count(), 0);
    begin();
    EXPECT_EQ(said(change("give_back", 0, {.number = 1}, "aaaaaaaaaaaa1000")), not_done);
    EXPECT_EQ(value(), std::to_string(many + 2));
    EXPECT_EQ(held_count(), 1);
}

TEST_P(PermitChanges, BeforeRedisson317IdsAreText) {
    form_ = redisson_form::v3_16;
    others_set("2");
    EXPECT_EQ(said(take({255, 2})), done);
    EXPECT_THAT(server().command({"ZRANGE", held_, "0", "-1"}).items[1].text,
                "0001020304058fd580ff000000000100");
    EXPECT_THAT(integers_of(renew({{255, 2}})), ElementsAre(Gt(3)));
    EXPECT_EQ(said(change("give_back", 0, {.number = 1}, permit(255))), done);
    EXPECT_EQ(said(release({255, 2})), 0);
    EXPECT_EQ(value(), "2");
}

TEST_P(PermitChanges, NumbersBeyond32BitsHaveIdsOfTheirOwn) {
    others_set("2");
    const redis::reply answer =
        run(redis::scripts::take_permits, {name_, held_},
            {"30000", "281474976710654", "2", prefix(), "0", told_on_, "PUBLISH"});
    EXPECT_EQ(said(answer), done);
    EXPECT_THAT(lasts(281'474'976'710'654), Gt(24'000));
    EXPECT_THAT(lasts(281'474'976'710'655), Gt(24'000));
}

TEST_P(PermitChanges, PermitsOfAnotherFormAreRefusedWithTheSetting) {
    others_set("2");
    others_hold("0123456789abcdef0123456789abcdef", 5'000);
    EXPECT_THAT(take({}).text, AllOf(HasSubstr("WRONGTYPE"), HasSubstr("redisson=3.16")));
    EXPECT_THAT(change("give_back", 0, {.number = 1}, permit(1)).text, HasSubstr("redisson=3.16"));
    form_ = redisson_form::v3_16;
    EXPECT_EQ(said(take({})), done);
    server().command({"DEL", held_});
    others_hold(other_, 5'000);
    EXPECT_THAT(take({5}).text, HasSubstr("redisson=3.17"));
    EXPECT_EQ(value(), "1");
}

TEST_P(PermitChanges, WhatIsNoNumberIsRefused) {
    others_set("x");
    EXPECT_TRUE(is_error(take({}), "WRONGTYPE"));
    EXPECT_TRUE(is_error(change("add", 1, {}), "WRONGTYPE"));
    EXPECT_TRUE(is_error(inspect(), "WRONGTYPE"));
    EXPECT_EQ(value(), "x");
}

TEST_P(PermitChanges, WithoutTheClockNothingIsTakenAndAllIsGivenBack) {
    others_set("3");
    take({});
    deny("time");
    for (const redis::reply& answer : {take({2}), renew({{1, 1}}), change("add", 1, {})})
        EXPECT_EQ(redis::classify(answer.text), store_errc::no_permission) << answer.text;
    EXPECT_EQ(value(), "2");
    EXPECT_EQ(said(release({})), 1);
    EXPECT_EQ(value(), "3");
}

TEST_P(PermitChanges, WhereTheNumberMayNotChangeNothingIsTaken) {
    others_set("3");
    deny("incrby");
    EXPECT_EQ(take({1, 2}).type, redis::reply::kind::error);
    EXPECT_EQ(held_count(), 0);
    EXPECT_EQ(value(), "3");
}

TEST_P(PermitChanges, AMessageThatIsDeniedUndoesNothing) {
    others_set("3");
    take({});
    deny("publish");
    EXPECT_THAT(integers_of(release({})), ElementsAre(1, -1));
    EXPECT_EQ(value(), "3");
}

} // namespace
} // namespace holdfast
