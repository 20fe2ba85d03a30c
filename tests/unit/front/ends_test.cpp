// SPDX-License-Identifier: Apache-2.0
// After close(), the client does not use the user's clock and executor, so they may be destroyed in
// any order. Errors in this code show under AddressSanitizer.
#include "support/clocks.hpp"
#include "support/loop_thread.hpp"
#include "unit/front/real_time.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <latch>
#include <optional>
#include <thread>

namespace holdfast {
namespace {

/// A client on a context and a clock of its own, with something under way of every kind.
class CloseOrder : public testing::Test {
protected:
    memory::server server;
    std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>();
    std::unique_ptr<sim::sim_clock> time = std::make_unique<sim::sim_clock>(*io);
    std::unique_ptr<client> home;
    std::unique_ptr<mutex> stock;
    std::optional<lease> held;

    void begin() {
        home = std::make_unique<client>(io->get_executor(), *time,
                                        options{.store = server.connect(), .poll_bound = 10s});
        stock = std::make_unique<mutex>(*home, "stock");
        stock->async_lock([this](error_code, lease got) { held = std::move(got); });
        time->run_for(1s);
        ASSERT_TRUE(held);
        stock->async_try_lock_for(1h, [](error_code ec, const std::optional<lease>&) {
            EXPECT_EQ(ec, errc::closed); // it waits at the gate
        });
        server.occupy("other", 1h);
        mutex other{*home, "other"};
        other.async_lock([](error_code ec, const lease&) { EXPECT_EQ(ec, errc::closed); });
        time->run_for(1s);
    }

    void close() {
        bool closed = false;
        home->async_close([&](error_code) { closed = true; });
        while (!closed)
            if (!time->step() && !time->jump_to_next(time_point::max()))
                break;
        ASSERT_TRUE(closed);
    }

    /// All that may be asked of what outlives its client's close.
    void ask_around() {
        EXPECT_FALSE(held->owns_lock());
        EXPECT_EQ(held->remaining(), 0ms);
        EXPECT_TRUE(held->lost().stop_requested());
        EXPECT_EQ(thrown_by([&] { held->extend(lease_time{10s}); }).code, errc::closed);
        error_code ec;
        held->unlock(ec);
        EXPECT_EQ(ec, errc::closed);
        EXPECT_EQ(thrown_by([&] { (void)stock->try_lock(); }).code, errc::closed);
        EXPECT_EQ(thrown_by([&] { (void)stock->is_locked(); }).code, errc::closed);
        EXPECT_EQ(thrown_by([&] { (void)home->inspect("stock"); }).code, errc::closed);
        EXPECT_FALSE(stock->is_held_by_this_thread());
        home->close();
    }
};

TEST_F(CloseOrder, TheClientFirst) {
    begin();
    close();
    held.reset();
    stock.reset();
    home.reset();
    io->poll();
    time.reset();
    io.reset();
}

TEST_F(CloseOrder, TheClockFirst) {
    begin();
    close();
    time.reset();
    io->restart();
    io->poll(); // nothing that was left behind looks at it
    ask_around();
    held.reset();
    stock.reset();
    home.reset();
    io->poll();
    io.reset();
}

TEST_F(CloseOrder, TheExecutorFirst) {
    begin();
    close();
    time.reset(); // it is made on the executor
    io.reset();
    ask_around();
    EXPECT_EQ(thrown_by([&] { const mutex late{*home, "late"}; }).code, errc::closed);
    std::promise<error_code> told;
    stock->async_lock([&](error_code ec, const lease&) { told.set_value(ec); });
    EXPECT_EQ(soon(told.get_future()), errc::closed);
    held.reset();
    stock.reset();
    home.reset();
}

TEST_F(CloseOrder, TheExecutorFirstWithTheMachinesClock) {
    for (const bool closes : {true, false}) {
        auto own = std::make_unique<asio::io_context>();
        auto user = std::make_unique<client>(
            own->get_executor(), options{.store = server.connect(), .close_timeout = 0ms});
        mutex door{*user, "door"};
        std::optional<lease> got;
        door.async_lock([&](error_code, lease l) { got = std::move(l); });
        while (!got)
            own->run_one();
        if (closes) {
            user->async_close(asio::detached);
            own->run_for(1s);
        }
        own.reset();
        error_code ec;
        got->unlock(ec);
        EXPECT_EQ(ec, errc::closed);
        server.restart_empty();
    }
}

TEST_F(CloseOrder, AnAsynchronousVerbAfterItIsAnsweredThroughTheExecutor) {
    begin();
    close();
    time.reset();
    error_code told;
    stock->async_lock([&](error_code ec, const lease&) { told = ec; });
    EXPECT_FALSE(told);
    io->restart();
    io->poll();
    EXPECT_EQ(told, errc::closed);
    held.reset();
}

// Every object may be destroyed in every state. What is wrong here shows under AddressSanitizer.

class Destruction : public testing::Test {
protected:
    std::unique_ptr<memory::server> server = std::make_unique<memory::server>();
    meter sent;

    options how() { return {.store = server->connect(sent.as_faults()), .close_timeout = 0ms}; }
    std::unique_ptr<client> make_client() { return std::make_unique<client>(how()); }
    static lease taken(mutex& m) { return soon(m.async_lock(asio::use_future)); }
};

/// Locked something, and lives on without unlocking it for as long as this.
class thread_that_holds {
public:
    explicit thread_that_holds(client& home)
        : thread_{[this, &home] {
            mutex{home, "stock"}.lock();
            locked_.count_down();
            over_.wait();
        }} {
        locked_.wait();
    }
    ~thread_that_holds() {
        over_.count_down();
        thread_.join();
    }
    thread_that_holds(const thread_that_holds&) = delete;

private:
    std::latch locked_{1}, over_{1};
    std::thread thread_;
};

TEST_F(Destruction, OfALeaseReleasesIt) {
    const auto home = make_client();
    mutex stock{*home, "stock"};
    { const lease held = taken(stock); }
    EXPECT_TRUE(eventually([&] { return held_count(*server) == 0; }));
}

TEST_F(Destruction, OfALeaseAfterItsClient) {
    auto home = make_client();
    auto stock = std::make_unique<mutex>(*home, "stock");
    lease held = taken(*stock);
    const std::stop_token lost = held.lost();
    home.reset();
    stock.reset();
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_FALSE(held.owns_lock());
    error_code ec;
    held.unlock(ec);
    EXPECT_EQ(ec, errc::closed);
}

TEST_F(Destruction, OfALeaseAfterItsClientAndTheServer) {
    lease held;
    {
        const auto home = make_client();
        mutex stock{*home, "stock"};
        held = taken(stock);
    }
    server.reset();
    EXPECT_FALSE(held.owns_lock());
}

TEST_F(Destruction, OfALockWithACallUnderWay) {
    const auto home = make_client();
    server->occupy("stock", 1h);
    auto stock = std::make_unique<mutex>(*home, "stock");
    std::future<lease> coming = stock->async_lock(asio::use_future);
    EXPECT_TRUE(eventually([&] { return listener_count(*server) == 1; }));
    stock.reset();
    server->vacate("stock");
    EXPECT_TRUE(soon(std::move(coming)).owns_lock());
}

TEST_F(Destruction, OfALockThatIsHeld) {
    const auto home = make_client();
    {
        mutex stock{*home, "stock"};
        stock.lock();
    }
    mutex again{*home, "stock"};
    EXPECT_TRUE(again.is_held_by_this_thread());
    again.unlock();
    EXPECT_EQ(held_count(*server), 0u);
}

TEST_F(Destruction, OfALockAfterItsClient) {
    auto home = make_client();
    mutex stock{*home, "stock"};
    stock.lock();
    home.reset();
    EXPECT_EQ(thrown_by([&] { (void)stock.is_locked(); }).code, errc::closed);
    EXPECT_EQ(thrown_by([&] { stock.force_unlock(); }).code, errc::closed);
    error_code ec;
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::closed);
    EXPECT_EQ(thrown_by([&] { stock.lock(); }).code, errc::closed);
}

TEST_F(Destruction, OfAClientFailsWhoeverWaits) {
    auto home = make_client();
    server->occupy("stock", 1h);
    mutex stock{*home, "stock"};
    auto blocked = elsewhere([&] { return thrown_by([&] { stock.lock(); }); });
    std::future<lease> coming = stock.async_lock(asio::use_future);
    EXPECT_TRUE(eventually([&] { return listener_count(*server) == 1; }));
    home.reset();
    EXPECT_EQ(thrown_by([&] { (void)soon(std::move(coming)); }).code, errc::closed);
    const auto thrown = soon(std::move(blocked));
    EXPECT_EQ(thrown.code, errc::closed);
    EXPECT_THAT(thrown.text, HasSubstr("closed"));
    // A waiting call is completed before the other call has ended, and the destructor waits for
    // neither of them.
    EXPECT_TRUE(eventually([&] { return listener_count(*server) == 0; }));
}

TEST_F(Destruction, OfAClientWhileARequestIsUnderWay) {
    auto home = make_client();
    mutex stock{*home, "stock"};
    sent.set({.request_delay = 50ms, .answer_delay = 50ms});
    std::future<lease> coming = stock.async_lock(asio::use_future);
    EXPECT_TRUE(eventually([&] { return sent.count(verb::look) == 1; }));
    home.reset();
    EXPECT_EQ(thrown_by([&] { (void)soon(std::move(coming)); }).code, errc::closed);
}

TEST_F(Destruction, OfAClientOnItsOwnThread) {
    auto home = make_client();
    std::promise<void> done;
    {
        mutex stock{*home, "stock"};
        stock.async_lock([&](error_code, lease) {
            home.reset();
            done.set_value();
        });
    }
    soon(done.get_future());
}

TEST_F(Destruction, OfTheLastThingInAHandlerOfItsOwnThread) {
    auto home = std::make_unique<client>(options{.store = server->connect()});
    auto stock = std::make_unique<mutex>(*home, "stock");
    std::promise<void> done;
    stock->async_lock([&](error_code, lease held) {
        home.reset();
        stock.reset();
        { const lease last = std::move(held); }
        done.set_value();
    });
    soon(done.get_future());
    EXPECT_TRUE(eventually([&] { return held_count(*server) == 0; }));
}

TEST_F(Destruction, OfAMovedClient) {
    client first{how()};
    client second{std::move(first)};
    mutex stock{second, "stock"};
    stock.lock();
    client third{how()};
    third = std::move(second);
    EXPECT_TRUE(stock.is_held_by_this_thread());
    stock.unlock();
    first.close(); // it is nobody's client any more
}

TEST_F(Destruction, OfAMovedLease) {
    const auto home = make_client();
    mutex stock{*home, "stock"};
    lease first = taken(stock);
    lease second = std::move(first);
    lease third;
    third = std::move(second);
    EXPECT_TRUE(third.owns_lock());
    EXPECT_EQ(sent.count(verb::release), 0u);
}

TEST_F(Destruction, OfAnExecutorThatNeverRan) {
    asio::io_context io;
    std::future<lease> never;
    {
        client home{io.get_executor(), how()};
        mutex stock{home, "stock"};
        never = stock.async_lock(asio::use_future);
        stock.async_try_lock_for(1s, [](error_code, std::optional<lease>) { FAIL(); });
        stock.async_is_locked([](error_code, bool) { FAIL(); });
    }
}

TEST_F(Destruction, OfAnExecutorThatStoppedHalfWay) {
    server->occupy("stock", 1h);
    asio::io_context io;
    client home{io.get_executor(), how()};
    mutex stock{home, "stock"};
    auto story = [&]() -> asio::awaitable<void> {
        const lease held = co_await stock.async_lock(asio::use_awaitable);
        ADD_FAILURE() << "it was never free";
    };
    asio::co_spawn(io, story(), asio::detached);
    while (listener_count(*server) == 0)
        io.run_one();
}

TEST_F(Destruction, OfALeaseWhoseExecutorNobodyRunsAnyMore) {
    support::loop_thread loop;
    client home{loop.io().get_executor(), how()};
    mutex stock{home, "stock"};
    lease held = taken(stock);
    home.close();
    loop.finish();
    held = lease{};
}

TEST_F(Destruction, OfAClientOnAUsersExecutorDoesNotWait) {
    asio::io_context io; // nobody runs it: waiting would last for ever
    auto home = std::make_unique<client>(io.get_executor(), how());
    mutex stock{*home, "stock"};
    home.reset();
    io.poll();
    std::promise<error_code> told;
    stock.async_lock([&](error_code ec, lease) { told.set_value(ec); });
    io.restart();
    io.poll();
    EXPECT_EQ(soon(told.get_future()), errc::closed);
}

TEST_F(Destruction, OfAClientWithLeasesStopsTheirRenewal) {
    auto brief = std::make_unique<client>(
        options{.store = server->connect(), .lease_time = 150ms, .close_timeout = 0ms});
    mutex stock{*brief, "stock"};
    const lease held = taken(stock);
    brief.reset();
    EXPECT_TRUE(eventually([&] { return held_count(*server) == 0; }));
}

TEST_F(Destruction, OfAClientWhileAThreadHolds) {
    auto ear = std::make_shared<support::recorder>();
    const std::weak_ptr<support::recorder> watched = ear;
    options with_subscriber = how();
    with_subscriber.observer = std::move(ear);
    auto home = std::make_unique<client>(std::move(with_subscriber));
    const thread_that_holds holder{*home};
    home.reset();
    EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

// Found at the exit of this very program: its main thread held something of a context long gone.
TEST_F(Destruction, OfAContextWhileAThreadHolds) {
    auto ear = std::make_shared<support::recorder>();
    const std::weak_ptr<support::recorder> watched = ear;
    options with_subscriber = how();
    with_subscriber.observer = std::move(ear);
    auto loop = std::make_unique<support::loop_thread>();
    auto home = std::make_unique<client>(loop->io().get_executor(), std::move(with_subscriber));
    const thread_that_holds holder{*home};
    loop->io().stop();
    loop->finish();
    home.reset(); // nobody runs what this posts
    loop.reset();
    EXPECT_TRUE(watched.expired());
}

TEST_F(Destruction, OfAnObserverWithItsClient) {
    auto ear = std::make_shared<support::recorder>();
    const std::weak_ptr<support::recorder> watched = ear;
    {
        client home{options{.store = server->connect(), .observer = std::move(ear)}};
        mutex stock{home, "stock"};
        stock.lock();
        stock.unlock();
    }
    EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

// std::stop_token at every point where a blocking call can wait, and cancellation of coroutines.

class Stopping : public in_real_time {
protected:
    mutex stock{alice, "stock"};
    std::stop_source stop;

    /// Runs the blocking `call` on its own thread and requests a stop when `ready` returns true.
    /// The call must then throw.
    void expect_stopped(const std::function<void(std::stop_token)>& call,
                        const std::function<bool()>& ready) {
        auto waiter = elsewhere([&] { return thrown_by([&] { call(stop.get_token()); }).code; });
        EXPECT_TRUE(eventually(ready));
        stop.request_stop();
        EXPECT_EQ(soon(std::move(waiter)), asio::error::operation_aborted);
    }
    bool nothing_left() {
        return eventually([this] { return held_count(server) + listener_count(server) == 0; });
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
        expect_stopped(verb, [this] { return listener_count(server) == 1; });
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
    sent.set({.request_delay = 2s});
    expect_stopped([this](std::stop_token t) { stock.lock(t); },
                   [this] { return sent.count(verb::look) == 1; });
    EXPECT_TRUE(eventually([this] { return sent.count(verb::release) >= 1; }));
    EXPECT_TRUE(nothing_left());
}

TEST_F(Stopping, WhileTheAnswerIsOnItsWay) {
    sent.set({.answer_delay = 2s});
    expect_stopped([this](std::stop_token t) { stock.lock(t); },
                   [this] { return held_count(server) == 1; });
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
        EXPECT_TRUE(eventually([this] { return listener_count(server) == 1; }));
    }
    EXPECT_EQ(soon(ended.get_future()), asio::error::operation_aborted);
}

TEST_F(Stopping, TheNextOneIsServed) {
    server.occupy("stock", 1h);
    std::promise<void> begun;
    expect_stopped([this](std::stop_token t) { stock.lock(t); },
                   [this] { return listener_count(server) == 1; });
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
    EXPECT_TRUE(eventually([this] { return listener_count(server) == 1; }));
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
