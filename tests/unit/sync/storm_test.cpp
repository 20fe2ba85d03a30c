// SPDX-License-Identifier: Apache-2.0
// Anybody may publish on a lock's channel, as often as it likes: a storm of messages is no storm of
// requests, and one message is answered at once.
#include "sync/look_pace.hpp"
#include "unit/sync/stage.hpp"

namespace holdfast::sync {
namespace {

class Storm : public on_stage {
protected:
    actor& alice = enter({.poll_bound = 10s}, 1s);
    mutex stock{alice, "stock"};
    said<lease> held;
    said<bool> seen_free;

    /// A message every millisecond, and never free when somebody looks.
    void storm_for(duration length) {
        for (const time_point end = clock.now() + length; clock.now() < end; run_for(1ms)) {
            server.vacate("stock");
            server.occupy("stock", 1h);
        }
    }
    static constexpr std::size_t most_in(duration length) {
        return static_cast<std::size_t>(length / look_pace::between_looks) +
               look_pace::prompt_looks;
    }
};

TEST_F(Storm, OfMessagesIsNoStormOfRequests) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    run_for(1s);
    const std::size_t before = alice.count(verb::look);
    storm_for(1s);
    EXPECT_LE(alice.count(verb::look) - before, most_in(1s));
    EXPECT_GE(alice.count(verb::look) - before, most_in(1s) / 2);
}

TEST_F(Storm, TheFirstMessagesAreAnsweredAtOnce) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    run_for(1s);
    std::size_t before = alice.count(verb::look);
    for (int i = 1; i < look_pace::prompt_looks; ++i) {
        storm_for(1ms);
        EXPECT_EQ(alice.count(verb::look), ++before);
    }
}

TEST_F(Storm, WhenItIsOverAReleaseIsAnsweredAtOnceAgain) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    storm_for(100ms);
    run_for(look_pace::between_looks * look_pace::prompt_looks);
    EXPECT_FALSE(held.done());
    server.vacate("stock");
    settle();
    EXPECT_TRUE(held.well());
}

TEST_F(Storm, AReleaseWithinItIsSeenAfterOnePause) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    storm_for(100ms);
    server.vacate("stock");
    run_for(look_pace::between_looks);
    EXPECT_TRUE(held.well());
}

TEST_F(Storm, ACallThatIsOverDoesNotWaitForItsPace) {
    server.occupy("stock", 1h);
    said<std::optional<lease>> tried;
    stock.async_try_lock_for(102ms, tried.handler());
    storm_for(102ms);
    settle();
    EXPECT_TRUE(tried.well());
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(closed.well());
}

TEST_F(Storm, WhoOnlyWaitsForItToBeFreeKeepsThePaceToo) {
    server.occupy("stock", 1h);
    alice.program->async_wait_free("stock", 1h, seen_free.handler());
    run_for(1s);
    const std::size_t before = alice.count(verb::inspect);
    storm_for(1s);
    EXPECT_LE(alice.count(verb::inspect) - before, most_in(1s));
    EXPECT_GE(alice.count(verb::inspect) - before, most_in(1s) / 2);
    run_for(look_pace::between_looks * look_pace::prompt_looks);
    server.vacate("stock");
    settle();
    EXPECT_TRUE(seen_free.well() && seen_free.value());
}

} // namespace
} // namespace holdfast::sync
