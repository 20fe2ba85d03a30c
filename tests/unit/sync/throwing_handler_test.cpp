// SPDX-License-Identifier: Apache-2.0
// A user's handler that throws, on an executor whose owner catches and runs on: it comes out there,
// as always in Asio, and nothing of ours ends with it.
#include "unit/sync/stage.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace holdfast::sync {
namespace {

class ThrowingHandler : public on_stage {
protected:
    actor& alice = enter({.release_patience = 3s, .close_patience = 5s}, 1s);
    mutex stock{alice, "stock"};
    said<> released;

    /// Throws what our own code catches, too.
    static auto throwing() {
        return [](const error_code&, auto...) {
            throw boost::system::system_error{make_error_code(errc::unreachable), "the user's"};
        };
    }

    /// How many came out meanwhile.
    int run_on(duration length) {
        const time_point end = clock.now() + length;
        for (int thrown = 0;; ++thrown)
            try {
                clock.run_until(end);
                return thrown;
            } catch (const boost::system::system_error&) {
            }
    }
};

TEST_F(ThrowingHandler, OfAnAcquisitionLeavesTheLockFree) {
    alice.planned.emplace_back(verb::look, fate{.answer_delay = 10ms});
    stock.async_lock(throwing());
    EXPECT_EQ(run_on(10ms), 1);
    EXPECT_EQ(server.held_count(), 0u) << "its lease ended with it";
    EXPECT_TRUE(is_idle(alice));
    EXPECT_TRUE(taken(stock).owns_lock());
}

TEST_F(ThrowingHandler, OfAFailedAcquisitionLetsTheNextTryItsLuck) {
    said<lease> next;
    server.occupy("stock", 1h);
    stock.async_lock(throwing());
    stock.async_lock(next.handler());
    run_for(1s);
    alice.meddling.objects = [](verb) { return make_error_code(store_errc::no_permission); };
    server.vacate("stock");
    EXPECT_EQ(run_on(0ms), 1);
    EXPECT_TRUE(next.failed(errc::refused));
}

TEST_F(ThrowingHandler, OfWhoseTimeIsOverLeavesTheOthersTheirDeadlines) {
    const lease held = taken(stock);
    said<std::optional<lease>> same_time, later, begun_after;
    stock.async_try_lock_for(1s, throwing());
    stock.async_try_lock_for(1s, same_time.handler());
    stock.async_try_lock_for(2s, later.handler());
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_TRUE(same_time.well());
    stock.async_try_lock_for(500ms, begun_after.handler());
    EXPECT_EQ(run_on(500ms), 0);
    EXPECT_TRUE(begun_after.well());
    EXPECT_EQ(run_on(500ms), 0);
    EXPECT_TRUE(later.well());
}

TEST_F(ThrowingHandler, OfWhoInheritsLetsTheUnlockReturnAndTheLockGo) {
    lease held = taken(stock);
    said<lease> next;
    stock.async_lock(throwing());
    stock.async_lock(next.handler());
    held.async_unlock(released.handler());
    EXPECT_EQ(run_on(0ms), 1);
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(next.well());
}

TEST_F(ThrowingHandler, OfAReleaseComesOutAndIsNoFailureOfTheRelease) {
    taken(stock).async_unlock(throwing());
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_EQ(alice.count(verb::release), 1u);
    EXPECT_EQ(alice.ear->count(event_kind::release_failed), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(ThrowingHandler, OfAReleaseThatFailsDoesNotEndItsRepeating) {
    lease held = taken(stock);
    alice.always.refused = true;
    held.async_unlock(throwing());
    EXPECT_EQ(run_on(4s), 1);
    alice.always.refused = false;
    EXPECT_EQ(run_on(1s), 0);
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(ThrowingHandler, OfAnExtensionComesOutOnce) {
    lease held = taken(stock);
    held.async_extend(lease_time{1min}, throwing());
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_TRUE(held.owns_lock());
    server.evict("stock");
    EXPECT_EQ(run_on(1min), 0);
    held.async_extend(lease_time{1min}, throwing()); // refused before anything is sent
    EXPECT_EQ(run_on(1s), 1);
}

TEST_F(ThrowingHandler, OfAWaiterDoesNotKeepTheClientFromClosing) {
    server.occupy("stock", 1h);
    said<lease> other;
    stock.async_lock(throwing());
    stock.async_lock(throwing());
    stock.async_lock(other.handler());
    run_for(1s);
    const said<> closed = close(alice);
    EXPECT_EQ(run_on(0ms), 2);
    EXPECT_TRUE(other.failed(errc::closed));
    EXPECT_TRUE(closed.well());
}

TEST_F(ThrowingHandler, OfACloseDoesNotKeepTheOthersFromHearing) {
    lease held = taken(stock);
    alice.program->async_close(throwing());
    const said<> closed = close(alice);
    run_for(1s);
    held.async_unlock(released.handler());
    EXPECT_EQ(run_on(0ms), 1);
    EXPECT_TRUE(closed.well());
    alice.program->async_close(throwing()); // of what is closed already
    EXPECT_EQ(run_on(0ms), 1);
}

TEST_F(ThrowingHandler, OfAReleaseDoesNotKeepAClosingClientFromReleasingTheRest) {
    actor& bob = enter({.close_patience = 1s, .release_on_close = true}, 1s);
    mutex his{bob, "shelf"}, other{bob, "attic"};
    lease first = taken(his);
    const lease second = taken(other);
    const said<> closed = close(bob);
    first.async_unlock(throwing());
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(ThrowingHandler, OfWhoIsCancelledLeavesNothing) {
    server.occupy("stock", 1h);
    asio::cancellation_signal stop;
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), throwing()));
    run_for(1s);
    stop.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_TRUE(is_idle(alice));
    EXPECT_EQ(server.listener_count(), 0u);
}

} // namespace
} // namespace holdfast::sync
