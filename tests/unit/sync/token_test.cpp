// SPDX-License-Identifier: Apache-2.0
// Who waits for a lock of tokens is told by clients of ours, and by no other program.
#include "unit/sync/stage.hpp"

#include <holdfast/token_mutex.hpp>

namespace holdfast::sync {
namespace {

class Token : public on_stage {
protected:
    /// When `who` looked, in ms after the beginning.
    std::vector<std::int64_t> looks(const actor& who) {
        std::vector<std::int64_t> moments;
        for (const sent& each : who.all(verb::look))
            moments.push_back((each.at - start()).count());
        return moments;
    }
};

TEST_F(Token, BehindAnotherProgramAWaiterAsksFourTimesASecond) {
    actor& bob = enter({.poll_bound = 1h});
    token_mutex his{bob, "stock"};
    server.occupy("stock", duration::max(), lock_kind::token);
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(800ms);
    EXPECT_EQ(looks(bob), (std::vector<std::int64_t>{0, 0, 250, 500, 750}));
    EXPECT_TRUE(server.vacate("stock"));
    run_for(199ms);
    EXPECT_FALSE(waiting.done()) << "nobody tells";
    run_for(1ms);
    EXPECT_TRUE(waiting.well());
}

TEST_F(Token, AsksAreJitteredAndNoneComesAfterTheEndOfTheLease) {
    actor& bob = enter({.poll_bound = 1h});
    token_mutex his{bob, "stock"};
    bob.dice = 30; // of 0 to 50 ms
    server.occupy("stock", 600ms, lock_kind::token);
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(601ms);
    EXPECT_EQ(looks(bob), (std::vector<std::int64_t>{0, 0, 220, 440, 601}));
    EXPECT_TRUE(waiting.well());
}

TEST_F(Token, BehindOneOfOursAWaiterSleepsUntilItIsTold) {
    actor &alice = enter(), &bob = enter({.poll_bound = 1h});
    token_mutex hers{alice, "stock"}, his{bob, "stock"};
    lease held = taken(hers);
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(25s);
    EXPECT_EQ(looks(bob), (std::vector<std::int64_t>{0, 0}));
    held.async_unlock(said{}.handler());
    settle();
    EXPECT_TRUE(waiting.well());
    EXPECT_EQ(bob.count(verb::look), 3u);
}

TEST_F(Token, AHoldIsHandedOnWithinAClientAndToNoOtherKind) {
    actor& alice = enter();
    token_mutex one{alice, "stock"}, two{alice, "stock"};
    mutex plain{alice, "stock"};
    lease held = taken(one);
    said<lease> waiting, other;
    two.async_lock(waiting.handler());
    plain.async_lock(other.handler());
    settle();
    EXPECT_TRUE(other.failed(errc::refused)) << "it queues at another gate, and is refused";
    held.async_unlock(said{}.handler());
    settle();
    EXPECT_TRUE(waiting.well());
    EXPECT_EQ(alice.count(verb::release), 0u);
    EXPECT_EQ(server.held_count(), 1u);
}

TEST_F(Token, WaitingUntilItIsFreeAsksAsOften) {
    actor& bob = enter({.poll_bound = 1h});
    server.occupy("stock", duration::max(), lock_kind::token);
    said<bool> free;
    static_cast<client&>(bob).async_wait_free("stock", duration::max(), free.handler());
    run_for(600ms);
    EXPECT_TRUE(server.vacate("stock"));
    run_for(250ms);
    EXPECT_TRUE(free.done());
}

} // namespace
} // namespace holdfast::sync
