// SPDX-License-Identifier: Apache-2.0
// A call that is cancelled, at any moment, leaves nothing: no hold, no place, no listener.
#include "unit/sync/stage.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace holdfast::sync {
namespace {

class Cancellation : public on_stage {
protected:
    actor& alice = enter({}, 1s);
    mutex stock{alice, "stock"};
    asio::cancellation_signal stop;
    said<lease> held;

    void start() { stock.async_lock(asio::bind_cancellation_slot(stop.slot(), held.handler())); }
    void cancel() { stop.emit(asio::cancellation_type::terminal); }
    bool aborted() const { return held.failed(asio::error::operation_aborted); }
};

TEST_F(Cancellation, CompletesAtOnceWhateverIsUnderWay) {
    alice.always.request_delay = 500ms;
    start();
    run_for(100ms);
    cancel();
    settle();
    EXPECT_TRUE(aborted());
}

TEST_F(Cancellation, EveryTypeIsHonoured) {
    server.occupy("stock", 1h);
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        said<lease> each;
        asio::cancellation_signal signal;
        stock.async_lock(asio::bind_cancellation_slot(signal.slot(), each.handler()));
        run_for(10ms);
        signal.emit(type);
        settle();
        EXPECT_TRUE(each.failed(asio::error::operation_aborted));
    }
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Cancellation, BeforeItBeginsNothingIsSent) {
    start();
    cancel();
    settle();
    EXPECT_TRUE(aborted() || held.well());
    EXPECT_EQ(server.held_count(), held.well() ? 1u : 0u);
}

TEST_F(Cancellation, AfterItsEndDoesNothing) {
    start();
    settle();
    ASSERT_TRUE(held.well());
    cancel();
    settle();
    EXPECT_TRUE(held.value().owns_lock());
}

TEST_F(Cancellation, AGrantThatComesAfterItIsReleased) {
    alice.always.answer_delay = 300ms;
    start();
    run_for(100ms);
    EXPECT_EQ(server.held_count(), 1u);
    cancel();
    run_for(1s);
    EXPECT_TRUE(aborted());
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Cancellation, ARequestThatArrivesAfterTheFirstReleaseIsReleasedOnceMore) {
    // Its answer is never awaited to the end: it is late, but in time for the server's deadline.
    actor& bob = enter({}, 1s);
    mutex his{bob, "stock"};
    (void)taken(his); // so that he knows the server's clock
    settle();
    bob.planned.emplace_back(verb::look, fate{.request_delay = 999ms, .answer_lost = true});
    said<lease> wanted;
    his.async_lock(asio::bind_cancellation_slot(stop.slot(), wanted.handler()));
    run_for(10ms);
    cancel();
    run_for(1h);
    EXPECT_TRUE(wanted.failed(asio::error::operation_aborted));
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_GE(bob.count(verb::release), 2u);
    EXPECT_TRUE(is_idle(bob));
}

TEST_F(Cancellation, ARequestThatIsLostIsReleasedAfterItsDeadlineToo) {
    alice.planned.emplace_back(verb::look, fate{.request_lost = true});
    start();
    run_for(100ms);
    cancel();
    run_for(1h);
    const std::vector<sent> releases = alice.all(verb::release);
    ASSERT_GE(releases.size(), 2u);
    EXPECT_GE(releases.back().at - stage::start(), 1s) << "before the deadline of the request";
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Cancellation, TheReleaseBehindItSurvivesAnOutage) {
    alice.always.answer_delay = 300ms;
    start();
    run_for(100ms);
    cancel();
    alice.always = fate{.refused = true};
    run_for(5s);
    EXPECT_EQ(server.held_count(), 1u);
    alice.always = fate{};
    run_for(2s);
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Cancellation, TheNextLocalWaiterIsServed) {
    server.occupy("stock", 1h);
    said<lease> next;
    start();
    stock.async_lock(next.handler());
    run_for(1s);
    cancel();
    server.vacate("stock");
    settle();
    EXPECT_TRUE(aborted());
    EXPECT_TRUE(next.well());
}

TEST_F(Cancellation, AWakeUpThatWasConsumedIsNotLost) {
    server.occupy("stock", 1h);
    said<lease> next;
    start();
    stock.async_lock(next.handler());
    alice.always.request_delay = 10ms;
    run_for(1s);
    server.vacate("stock");
    run_for(5ms); // woken, and asking
    cancel();
    run_for(100ms);
    EXPECT_TRUE(aborted());
    EXPECT_TRUE(next.well()) << "the wake-up went with who was cancelled";
}

/// One story: Alice waits while a foreigner holds, and is told to stop after `moment`.
void cancel_at(duration moment, const fate& weather) {
    SCOPED_TRACE(moment.count());
    stage all;
    actor& alice = all.enter({.poll_bound = 40ms}, 50ms);
    alice.always = weather;
    mutex stock{alice, "stock"};
    all.server.occupy("stock", 60ms);
    asio::cancellation_signal stop;
    said<lease> held;
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), held.handler()));
    all.run_for(moment);
    stop.emit(asio::cancellation_type::total);
    all.settle();
    ASSERT_TRUE(held.done());
    ASSERT_TRUE(held.well() || held.failed(asio::error::operation_aborted));
    alice.always = {};
    if (held.well())
        held.take().async_unlock(said{}.handler());
    all.run_for(5s);
    EXPECT_EQ(all.server.held_count(), 0u);
    EXPECT_EQ(all.server.listener_count(), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST(CancellationAnywhere, LeavesNothing) {
    for (duration moment = 0ms; moment < 150ms; ++moment)
        cancel_at(moment, fate{.request_delay = 7ms, .answer_delay = 6ms});
}

TEST(CancellationAnywhere, LeavesNothingWhenAnswersAreLost) {
    for (duration moment = 0ms; moment < 250ms; ++moment)
        cancel_at(moment, fate{.request_delay = 7ms, .answer_lost = true});
}

TEST(CancellationAnywhere, LeavesNothingWhenTheStoreIsAway) {
    for (duration moment = 0ms; moment < 150ms; ++moment)
        cancel_at(moment, fate{.refused = true});
}

} // namespace
} // namespace holdfast::sync
