// SPDX-License-Identifier: Apache-2.0
// renew_leases.lua and inspect_lock.lua when nothing is wrong.
#include "scripts_fixture.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Le;

class RenewalScripts : public on_scripts {};
HOLDFAST_ON_EACH_SERVER(RenewalScripts);

TEST_P(RenewalScripts, AHoldIsExtended) {
    lock(alice, 10'000);
    EXPECT_THAT(integers_of(renew({name_}, 30'000, {alice})), ElementsAre(1));
    EXPECT_THAT(time_left(), AllOf(Gt(29'000), Le(30'000)));
}

TEST_P(RenewalScripts, AHoldIsNeverShortened) {
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(renew({name_}, 1'000, {alice})), ElementsAre(1));
    EXPECT_GT(time_left(), 29'000);
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
        EXPECT_GT(time_left(), 29'000) << lease;
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
    EXPECT_GT(ask({"PTTL", "first"}), 29'000);
    EXPECT_GT(ask({"PTTL", "last"}), 29'000);
    EXPECT_LE(ask({"PTTL", "bobs"}), 10'000);
    EXPECT_EQ(server().command({"GET", "a string"}).text, "kept");
}

TEST_P(RenewalScripts, InspectingTellsWhoHoldsAndForHowLong) {
    EXPECT_TRUE(inspect().items.empty());
    lock(alice, 30'000);
    const redis::reply found = inspect();
    ASSERT_EQ(found.items.size(), 2u);
    EXPECT_THAT(found.items[0].integer, AllOf(Gt(29'000), Le(30'000)));
    EXPECT_EQ(found.items[1].text, alice);
    server().command({"PERSIST", name_});
    EXPECT_EQ(inspect().items[0].integer, -1);
}

} // namespace
} // namespace holdfast
