// SPDX-License-Identifier: Apache-2.0
// Stop callbacks run on the client's executor, outside of every lock of ours, whoever asks for a
// token meanwhile.
#include "unit/sync/stage.hpp"

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

class StopCallbacks : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 1s);
    mutex stock{alice, "stock"};
    std::vector<std::string> told;

    void lose() {
        server.evict("stock");
        run_for(10s);
    }
};

TEST_F(StopCallbacks, WhoAsksForTheLossBetweenDangerAndLossRunsNobodysCallback) {
    const lease held = taken(stock);
    const std::stop_callback on_loss{held.lost(), [&] {
                                         EXPECT_EQ(held.remaining(), 0ms); // asks under the mutex
                                         told.emplace_back("lost");
                                     }};
    const std::stop_callback on_danger{held.in_danger(), [&] {
                                           told.emplace_back("danger");
                                           const bool over = held.lost().stop_requested();
                                           told.emplace_back(over ? "it is over" : "it is held");
                                       }};
    lose();
    EXPECT_THAT(told, testing::ElementsAre("danger", "it is over", "lost"));
}

TEST_F(StopCallbacks, ATokenFirstAskedForBetweenDangerAndLossIsStoppedOnce) {
    const lease held = taken(stock);
    std::optional<std::stop_callback<std::function<void()>>> on_loss;
    const std::stop_callback on_danger{
        held.in_danger(),
        [&] { on_loss.emplace(held.lost(), [&] { told.emplace_back("lost"); }); }};
    lose();
    EXPECT_THAT(told, testing::ElementsAre("lost"));
}

TEST_F(StopCallbacks, ATokenAskedForAfterTheLossIsStoppedAlready) {
    const lease held = taken(stock);
    lose();
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_TRUE(held.in_danger().stop_requested());
    EXPECT_TRUE(held.lost() == held.lost()) << "each question makes another one";
}

TEST_F(StopCallbacks, ATokenAskedForInsideTheWarningIsStoppedAlready) {
    const lease held = taken(stock);
    const std::stop_callback on_danger{held.in_danger(), [&] {
                                           const bool warned = held.in_danger().stop_requested();
                                           told.emplace_back(warned ? "warned" : "not yet");
                                       }};
    alice.always.refused = true;
    run_for(21s);
    EXPECT_THAT(told, testing::ElementsAre("warned"));
    EXPECT_FALSE(held.lost().stop_requested());
    alice.always.refused = false;
}

TEST_F(StopCallbacks, ATokenAskedForWhileTheClientClosesIsStoppedAlready) {
    const lease held = taken(stock);
    close(alice);
    settle();
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_TRUE(held.in_danger().stop_requested());
}

} // namespace
} // namespace holdfast::sync
