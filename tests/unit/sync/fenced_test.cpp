// SPDX-License-Identifier: Apache-2.0
// Each hold of a fenced lock has a greater token than all earlier holds of any client.
#include "unit/sync/stage.hpp"

#include <holdfast/fenced_mutex.hpp>
#include <holdfast/token_mutex.hpp>

namespace holdfast::sync {
namespace {

class Fenced : public on_stage {
protected:
    /// Released at once, and what its token was.
    std::uint64_t token_of(lease held) {
        const std::uint64_t token = held.fencing_token();
        held.async_unlock(said{}.handler());
        settle();
        return token;
    }
    std::uint64_t last_token(const fenced_mutex& lock) {
        said<std::uint64_t> last;
        lock.async_last_token(last.handler());
        settle();
        return last.value();
    }
    /// Of one who holds and of those who queue behind him, in their order.
    std::vector<std::uint64_t> tokens_of_a_queue(fenced_mutex& lock, std::size_t waiters) {
        std::list<said<lease>> queue;
        std::vector<std::uint64_t> tokens;
        lease held = taken(lock);
        for (std::size_t i = 0; i < waiters; ++i)
            lock.async_lock(queue.emplace_back().handler());
        settle();
        for (said<lease>& each : queue) {
            tokens.push_back(token_of(std::move(held)));
            held = each.take();
        }
        tokens.push_back(token_of(std::move(held)));
        return tokens;
    }
};

TEST_F(Fenced, TokensGrowByOneFromClientToClient) {
    actor &alice = enter(), &bob = enter();
    fenced_mutex hers{alice, "stock"}, his{bob, "stock"};
    EXPECT_EQ(last_token(hers), 0u);
    EXPECT_EQ(token_of(taken(hers)), 1u);
    EXPECT_EQ(token_of(taken(his)), 2u);
    EXPECT_EQ(token_of(taken(hers)), 3u);
    EXPECT_EQ(last_token(his), 3u);
}

TEST_F(Fenced, ALeaseOfAnotherLockHasNone) {
    actor& alice = enter();
    mutex plain{alice, "plain"};
    EXPECT_EQ(token_of(taken(plain)), 0u);
    EXPECT_EQ(lease{}.fencing_token(), 0u);
}

TEST_F(Fenced, TokensGrowOverHandOffsWithoutAMessage) {
    actor &alice = enter(), &bob = enter();
    fenced_mutex hers{alice, "stock"}, his{bob, "stock"};
    said<lease> first, second, third;
    lease held = taken(his);
    for (said<lease>* each : {&first, &second, &third})
        hers.async_lock(each->handler());
    settle();
    EXPECT_EQ(token_of(std::move(held)), 1u);
    const std::size_t looks = alice.count(verb::look);
    EXPECT_EQ(token_of(first.take()), 2u);
    EXPECT_EQ(token_of(second.take()), 3u);
    EXPECT_EQ(token_of(third.take()), 4u);
    EXPECT_LE(alice.count(verb::look), looks + 1u);
    EXPECT_GT(token_of(taken(his)), 4u) << "what was reserved and not used is skipped";
}

TEST_F(Fenced, AHoldWithoutATokenLeftIsReleased) {
    actor& alice = enter({.hand_off = {.times_max = 1, .within = 1s}});
    fenced_mutex lock{alice, "stock"};
    EXPECT_EQ(tokens_of_a_queue(lock, 5), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(last_token(lock), 6u);
}

TEST_F(Fenced, DatedTokensGrowAlthoughTheServerForgets) {
    actor& alice = enter();
    fenced_mutex lock{alice, "stock", {.numbers = fencing::dated}};
    const std::uint64_t before = token_of(taken(lock));
    EXPECT_GE(before, 1'000'000'000'000'000u) << "the server's date in µs";
    EXPECT_EQ(token_of(taken(lock)), before + 1) << "no time has passed";
    run_for(1ms);
    server.restart_empty();
    EXPECT_EQ(token_of(taken(lock)), before + 1000);
}

TEST_F(Fenced, CountedTokensBeginAgainWhenTheServerForgets) {
    actor& alice = enter();
    fenced_mutex lock{alice, "stock"};
    token_of(taken(lock));
    token_of(taken(lock));
    server.restart_empty();
    EXPECT_EQ(token_of(taken(lock)), 1u);
}

TEST_F(Fenced, ALostAnswerHasTheSameTokenWhenItIsAskedForAgain) {
    actor& alice = enter({}, 100ms);
    fenced_mutex lock{alice, "stock"};
    alice.planned.emplace_back(verb::look, fate{.answer_lost = true});
    said<lease> held;
    lock.async_lock(held.handler());
    run_for(1s);
    ASSERT_TRUE(held.well());
    EXPECT_EQ(token_of(held.take()), 1u);
}

TEST_F(Fenced, AForcedLockKeepsItsTokens) {
    actor &alice = enter(), &bob = enter();
    fenced_mutex hers{alice, "stock"}, his{bob, "stock"};
    lease held = taken(hers);
    said<bool> forced;
    his.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(forced.value());
    EXPECT_EQ(token_of(taken(his)), 2u);
    EXPECT_EQ(held.fencing_token(), 1u);
}

TEST_F(Fenced, ReentryHasTheTokenOfItsHold) {
    actor& alice = enter();
    fenced_mutex lock{alice, "stock", {.again = recursion::counted}};
    const lease outer = taken(lock);
    said<lease> inner;
    lock.async_lock(outer, inner.handler());
    settle();
    EXPECT_EQ(inner.value().fencing_token(), 1u);
    EXPECT_EQ(alice.count(verb::look), 1u);
}

TEST_F(Fenced, ReentryIsRefusedUnlessItIsCounted) {
    actor& alice = enter();
    fenced_mutex lock{alice, "stock"};
    const lease outer = taken(lock);
    said<lease> inner;
    lock.async_lock(outer, inner.handler());
    settle();
    EXPECT_TRUE(inner.failed(errc::already_held));
}

TEST_F(Fenced, AFencedAndAPlainLockOfOneNameExcludeEachOther) {
    actor& alice = enter();
    fenced_mutex fenced{alice, "stock"};
    mutex plain{alice, "stock"};
    said<lease> waiting;
    const lease held = taken(plain);
    fenced.async_lock(waiting.handler());
    run_for(1s);
    EXPECT_FALSE(waiting.done());
}

TEST_F(Fenced, AHoldIsNotHandedOnToAPlainLockOfItsName) {
    actor& alice = enter();
    fenced_mutex fenced{alice, "stock"};
    mutex plain{alice, "stock"};
    lease held = taken(plain);
    said<lease> waiting;
    fenced.async_lock(waiting.handler());
    settle();
    held.async_unlock(said{}.handler());
    settle();
    ASSERT_TRUE(waiting.well());
    EXPECT_EQ(waiting.value().fencing_token(), 1u);
    EXPECT_EQ(alice.count(verb::release), 1u);
}

// A waiter for a token lock is notified by holdfast clients, but by no other program.

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

TEST_F(Token, BehindAnotherProgramAReleaseShortlyBeforeTheEndOfTheTimeoutIsSeen) {
    actor& bob = enter({.poll_bound = 1h});
    token_mutex his{bob, "stock"};
    server.occupy("stock", duration::max(), lock_kind::token);
    said<std::optional<lease>> tried;
    his.async_try_lock_for(900ms, tried.handler());
    run_for(800ms);
    EXPECT_TRUE(server.vacate("stock"));
    run_for(100ms);
    ASSERT_TRUE(tried.well());
    EXPECT_TRUE(tried.value());
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
    EXPECT_EQ(held_count(server), 1u);
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
