// SPDX-License-Identifier: Apache-2.0
// lock_fair.lua and release_fair.lua where more wait than one script reads.
#include "fair_scripts.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Le;

class FairScriptsInACrowd : public on_fair_scripts {
protected:
    static constexpr int crowd = 2'500; // ours(1) to ours(crowd); 1,000 are read, or taken away

    void have_a_crowd(std::int64_t lasts) {
        std::vector<std::string> push{"RPUSH", queue_}, times{"ZADD", deadlines_};
        for (int i = 1; i <= crowd; ++i) {
            push.push_back(ours(i));
            times.push_back(std::to_string(server_ms() + lasts));
            times.push_back(ours(i));
        }
        (void)server().command(push);
        (void)server().command(times);
    }
    std::int64_t waiting() { return server().command({"LLEN", queue_}).integer; }
};
HOLDFAST_ON_EACH_SERVER(FairScriptsInACrowd);

TEST_P(FairScriptsInACrowd, WhoIsFarBehindHasOnePlaceAndKeepsIt) {
    ask_fair(jvm(1));
    have_a_crowd(60'000);
    EXPECT_THAT(integers_of(ask_fair(ours(9'999))), ElementsAre(busy, Gt(0), Gt(0), 1));
    EXPECT_THAT(integers_of(ask_fair(ours(9'999))), ElementsAre(busy, Gt(0), Gt(0), 0));
    EXPECT_EQ(waiting(), crowd + 1);
    EXPECT_THAT(place_lasts(ours(9'999)), AllOf(Gt(19'000), Le(20'002)));
    EXPECT_THAT(integers_of(ask_fair(ours(crowd))), ElementsAre(busy, Gt(0), Gt(0), 0));
    EXPECT_THAT(integers_of(release_fair(ours(9'999))), ElementsAre(0, 0));
    EXPECT_EQ(waiting(), crowd);
    EXPECT_EQ(ask({"ZCARD", deadlines_}), crowd);
}

TEST_P(FairScriptsInACrowd, WhoDiedIsTakenAwayAThousandAtATime) {
    have_a_crowd(-1);
    EXPECT_THAT(integers_of(ask_fair(jvm(1), {.waits = false})), ElementsAre(busy, 1, Gt(0), 0));
    EXPECT_EQ(waiting(), crowd - 1'000);
    ask_fair(jvm(1), {.waits = false});
    EXPECT_EQ(waiting(), crowd - 2'000);
    EXPECT_EQ(said(ask_fair(jvm(1), {.waits = false})), granted);
    EXPECT_EQ(waiting(), 0);
}

} // namespace
} // namespace holdfast
