// SPDX-License-Identifier: Apache-2.0
// std::stop_token at every point where a blocking call can wait, and cancellation of coroutines.
#include "support/loop_thread.hpp"
#include "unit/front/real_time.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <thread>

namespace holdfast {
namespace {

class Stopping : public in_real_time {
protected:
    mutex stock{alice, "stock"};
    std::stop_source stop;

    /// Blocks in `call` on a thread of its own, is told to stop when `ready`, and must then throw.
    void expect_stopped(const std::function<void(std::stop_token)>& call,
                        const std::function<bool()>& ready) {
        auto waiter = elsewhere([&] { return thrown_by([&] { call(stop.get_token()); }).code; });
        EXPECT_TRUE(eventually(ready));
        stop.request_stop();
        EXPECT_EQ(soon(std::move(waiter)), asio::error::operation_aborted);
    }
    bool nothing_left() {
        return eventually([this] { return server.held_count() + server.listener_count() == 0; });
    }
};

TEST_F(Stopping, ATokenThatIsStoppedAlreadyKeepsItFromWaiting) {
    server.occupy("stock", 1h);
    stop.request_stop();
    expect_stopped([this](std::stop_token t) { stock.lock(t); }, [] { return true; });
    server.vacate("stock");
    EXPECT_TRUE(nothing_left());
}

TEST_F(Stopping, EveryVerbThatWaitsCanBeStopped) {
    const std::vector<std::function<void(std::stop_token)>> verbs{
        [this](std::stop_token t) { stock.lock(t); },
        [this](std::stop_token t) { stock.lock(lease_time{1min}, t); },
        [this](std::stop_token t) { (void)stock.try_lock_for(1h, t); },
        [this](std::stop_token t) { (void)stock.try_lock_for(1h, lease_time{1min}, t); },
        [this](std::stop_token t) {
            (void)stock.try_lock_until(std::chrono::steady_clock::now() + 1h, t);
        },
        [this](std::stop_token t) {
            (void)stock.try_lock_until(std::chrono::steady_clock::now() + 1h, lease_time{1min}, t);
        },
    };
    for (const auto& verb : verbs) {
        server.occupy("stock", 1h);
        stop = std::stop_source{};
        expect_stopped(verb, [this] { return server.listener_count() == 1; });
        server.vacate("stock");
        EXPECT_TRUE(nothing_left());
    }
}

TEST_F(Stopping, WhileAnotherThreadOfThisClientHolds) {
    stock.lock();
    std::promise<void> begun;
    expect_stopped(
        [&](std::stop_token t) {
            begun.set_value();
            stock.lock(t);
        },
        [coming = begun.get_future().share()] {
            return coming.wait_for(0s) == std::future_status::ready;
        });
    stock.unlock();
    EXPECT_TRUE(nothing_left());
}

TEST_F(Stopping, WhileTheRequestIsOnItsWay) {
    sent.set({.request_delay = 200ms});
    expect_stopped([this](std::stop_token t) { stock.lock(t); },
                   [this] { return sent.count(verb::look) == 1; });
    EXPECT_TRUE(eventually([this] { return sent.count(verb::release) >= 1; }));
    EXPECT_TRUE(nothing_left());
}

TEST_F(Stopping, WhileTheAnswerIsOnItsWay) {
    sent.set({.answer_delay = 200ms});
    expect_stopped([this](std::stop_token t) { stock.lock(t); },
                   [this] { return server.held_count() == 1; });
    EXPECT_TRUE(nothing_left()) << "what was granted is still held";
}

TEST_F(Stopping, WhileTheStoreIsAway) {
    sent.set({.refused = true});
    expect_stopped([this](std::stop_token t) { stock.lock(t); },
                   [this] { return sent.count(verb::look) >= 3; });
}

TEST_F(Stopping, AfterItsEndDoesNothing) {
    stock.lock(stop.get_token());
    stop.request_stop();
    EXPECT_TRUE(stock.is_held_by_this_thread());
    stock.unlock();
}

TEST_F(Stopping, AJthreadsTokenEndsItsWait) {
    server.occupy("stock", 1h);
    std::promise<error_code> ended;
    {
        const std::jthread waiter{
            [&](std::stop_token t) { ended.set_value(thrown_by([&] { stock.lock(t); }).code); }};
        EXPECT_TRUE(eventually([this] { return server.listener_count() == 1; }));
    }
    EXPECT_EQ(soon(ended.get_future()), asio::error::operation_aborted);
}

TEST_F(Stopping, TheNextOneIsServed) {
    server.occupy("stock", 1h);
    std::promise<void> begun;
    expect_stopped([this](std::stop_token t) { stock.lock(t); },
                   [this] { return server.listener_count() == 1; });
    auto next = elsewhere([this] {
        stock.lock();
        stock.unlock();
    });
    server.vacate("stock");
    soon(std::move(next));
}

TEST_F(Stopping, ACoroutineIsCancelledThroughItsSlot) {
    support::loop_thread loop;
    asio::cancellation_signal signal;
    server.occupy("stock", 1h);
    auto story = [this]() -> asio::awaitable<void> {
        (void)co_await stock.async_lock(asio::use_awaitable);
    };
    std::promise<std::exception_ptr> ended;
    asio::co_spawn(loop.io(), story(),
                   asio::bind_cancellation_slot(signal.slot(),
                                                [&](std::exception_ptr e) { ended.set_value(e); }));
    EXPECT_TRUE(eventually([this] { return server.listener_count() == 1; }));
    asio::post(loop.io(), [&] { signal.emit(asio::cancellation_type::terminal); });
    const std::exception_ptr thrown = soon(ended.get_future());
    ASSERT_TRUE(thrown);
    EXPECT_EQ(thrown_by([&] { std::rethrow_exception(thrown); }).code,
              asio::error::operation_aborted);
    server.vacate("stock");
    EXPECT_TRUE(nothing_left());
}

TEST_F(Stopping, WhoeverLosesTheRaceAgainstATimerLeavesNothing) {
    using namespace asio::experimental::awaitable_operators;
    support::loop_thread loop;
    server.occupy("stock", 1h);
    auto story = [&]() -> asio::awaitable<bool> {
        asio::steady_timer timer{loop.io(), 20ms};
        auto first = co_await (stock.async_lock(asio::use_awaitable) ||
                               timer.async_wait(asio::use_awaitable));
        co_return first.index() == 0;
    };
    EXPECT_FALSE(soon(asio::co_spawn(loop.io(), story(), asio::use_future)));
    server.vacate("stock");
    EXPECT_TRUE(nothing_left());
    EXPECT_TRUE(soon(asio::co_spawn(loop.io(), story(), asio::use_future)));
    EXPECT_TRUE(nothing_left()) << "the lease in the variant was not released";
}

} // namespace
} // namespace holdfast
