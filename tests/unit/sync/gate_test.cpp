// SPDX-License-Identifier: Apache-2.0
#include "sync/gate.hpp"
#include "unit/sync/stage.hpp"

#include <gtest/gtest.h>

namespace holdfast::sync {
namespace {

/// Counts its rings; nobody waits on it here.
struct bell final : alarm {
    int rung = 0;
    asio::awaitable<void> wait_until(time_point) override { co_return; }
    void ring() noexcept override { ++rung; }
};

class Gate : public on_stage {
protected:
    gate stock{"stock"};
    bell first, second, third;

    std::shared_ptr<wire_hold> a_hold(std::uint64_t number = 1) {
        const grant got{clock.now(), 30s, 0, time_point::min()};
        return std::make_shared<wire_hold>(owner_.program->engine(),
                                           hold{"stock", owner_id{{}, number}, lock_kind::plain},
                                           30s, true, got);
    }
    void line_up_three() {
        stock.line_up(first);
        stock.line_up(second);
        stock.line_up(third);
    }

private:
    actor& owner_ = enter();
};

TEST_F(Gate, OnlyTheFirstMayNegotiate) {
    line_up_three();
    EXPECT_TRUE(stock.may_negotiate(first));
    EXPECT_FALSE(stock.may_negotiate(second));
    EXPECT_FALSE(stock.may_negotiate(third));
    EXPECT_EQ(first.rung + second.rung + third.rung, 0);
}

TEST_F(Gate, WhoLeavesFromTheHeadRingsTheNext) {
    line_up_three();
    stock.leave(first);
    EXPECT_EQ(second.rung, 1);
    EXPECT_EQ(third.rung, 0);
    EXPECT_TRUE(stock.may_negotiate(second));
}

TEST_F(Gate, WhoLeavesFromTheMiddleRingsNobody) {
    line_up_three();
    stock.leave(second);
    EXPECT_EQ(first.rung + third.rung, 0);
    EXPECT_TRUE(stock.may_negotiate(first));
    stock.leave(first);
    EXPECT_TRUE(stock.may_negotiate(third));
}

TEST_F(Gate, NobodyNegotiatesWhileAHoldOfThisClientLasts) {
    const auto held = a_hold();
    stock.line_up(first);
    stock.take(held);
    stock.leave(first);
    stock.line_up(second);
    EXPECT_FALSE(stock.may_negotiate(second));
    EXPECT_EQ(second.rung, 0);
    stock.hold_over(*held);
    EXPECT_TRUE(stock.may_negotiate(second));
    EXPECT_EQ(second.rung, 1);
}

TEST_F(Gate, WhoLeavesWithTheHoldRingsNobody) {
    line_up_three();
    const auto held = a_hold();
    stock.take(held);
    stock.leave(first);
    EXPECT_EQ(second.rung, 0);
    stock.hold_over(*held);
}

TEST_F(Gate, TheEndOfAnEarlierHoldChangesNothing) {
    const auto earlier = a_hold(1), present = a_hold(2);
    stock.take(present);
    stock.line_up(first);
    stock.hold_over(*earlier);
    EXPECT_EQ(stock.holder(), present);
    EXPECT_EQ(first.rung, 0);
    stock.hold_over(*present);
}

TEST_F(Gate, AHoldMayEndTwice) {
    const auto held = a_hold();
    stock.take(held);
    stock.line_up(first);
    stock.hold_over(*held);
    stock.hold_over(*held);
    EXPECT_EQ(first.rung, 1);
}

TEST_F(Gate, ItIsFreeWhenNobodyHoldsOrWaits) {
    EXPECT_TRUE(stock.free());
    stock.line_up(first);
    EXPECT_FALSE(stock.free());
    const auto held = a_hold();
    stock.take(held);
    stock.leave(first);
    EXPECT_FALSE(stock.free());
    stock.hold_over(*held);
    EXPECT_TRUE(stock.free());
}

TEST_F(Gate, GatesAreThereWhileSomebodyHoldsOrWaits) {
    gates all;
    EXPECT_EQ(all.find("stock"), nullptr);
    {
        const turn here{all, "stock", first};
        EXPECT_EQ(all.count(), 1u);
        EXPECT_TRUE(here.may_negotiate());
        const turn there{all, "shelf", second};
        EXPECT_EQ(all.count(), 2u);
        EXPECT_TRUE(there.may_negotiate());
    }
    EXPECT_EQ(all.count(), 0u);
}

TEST_F(Gate, AGateStaysForItsHoldUntilThatIsOver) {
    gates all;
    const auto held = a_hold();
    {
        turn here{all, "stock", first};
        here.take(held);
    }
    EXPECT_EQ(all.count(), 1u);
    all.hold_over(*held);
    EXPECT_EQ(all.count(), 0u);
    all.hold_over(*held);
}

} // namespace
} // namespace holdfast::sync
