// SPDX-License-Identifier: Apache-2.0
// A client on an executor of the user's, which may have many threads.
#include "runtime/monitor.hpp"
#include "support/loop_thread.hpp"
#include "unit/front/real_time.hpp"

#include <holdfast/multi_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

namespace holdfast {
namespace {

class OwnExecutor : public in_real_time {
protected:
    options on_server() { return {.store = server.connect(), .close_timeout = 0ms}; }
};

/// Takes and releases it so often; counts how many are inside, and how many came through.
struct turnstile {
    std::atomic<int> inside = 0, passed = 0;

    asio::awaitable<void> pass(mutex& stock, int rounds) {
        for (int i = 0; i < rounds; ++i) {
            lease held = co_await stock.async_lock(asio::use_awaitable);
            EXPECT_EQ(++inside, 1);
            --inside;
            ++passed;
            co_await held.async_unlock(asio::use_awaitable);
        }
    }
};

TEST_F(OwnExecutor, WithManyThreadsIsUsedByManyAtOnce) {
    constexpr int names = 4, walkers = 16, rounds = 50;
    asio::thread_pool pool{4};
    client home{pool.get_executor(), on_server()};
    std::array<turnstile, names> doors;
    std::vector<std::unique_ptr<mutex>> locks;
    for (int i = 0; i < names; ++i)
        locks.push_back(std::make_unique<mutex>(home, "door" + std::to_string(i)));
    std::vector<std::future<void>> all;
    for (int i = 0; i < walkers * names; ++i) {
        const auto n = static_cast<std::size_t>(i % names);
        all.push_back(asio::co_spawn(pool, doors[n].pass(*locks[n], rounds), asio::use_future));
    }
    for (auto& each : all)
        soon(std::move(each));
    for (const turnstile& door : doors)
        EXPECT_EQ(door.passed, walkers * rounds);
    home.close();
    pool.join();
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(OwnExecutor, BlockingAndAsynchronousCallsMix) {
    asio::thread_pool pool{2};
    client home{pool.get_executor(), on_server()};
    mutex stock{home, "stock"};
    turnstile door;
    auto coroutine = asio::co_spawn(pool, door.pass(stock, 200), asio::use_future);
    for (int i = 0; i < 200; ++i) {
        const std::scoped_lock held{stock};
        EXPECT_EQ(++door.inside, 1);
        --door.inside;
    }
    soon(std::move(coroutine));
    EXPECT_EQ(door.passed, 200);
    home.close();
    pool.join();
}

TEST_F(OwnExecutor, ThatIsAStrandAlready) {
    asio::thread_pool pool{4};
    options how = on_server();
    how.executor_is_serial = true;
    client home{asio::make_strand(pool), std::move(how)};
    mutex stock{home, "stock"};
    turnstile door;
    std::vector<std::future<void>> all;
    for (int i = 0; i < 16; ++i)
        all.push_back(asio::co_spawn(pool, door.pass(stock, 50), asio::use_future));
    for (auto& each : all)
        soon(std::move(each));
    EXPECT_EQ(door.passed, 16 * 50);
    home.close();
    pool.join();
}

TEST_F(OwnExecutor, OfOneThreadNeedsNoStrand) {
    support::loop_thread loop;
    options how = on_server();
    how.executor_is_serial = true;
    client home{loop.io().get_executor(), std::move(how)};
    mutex stock{home, "stock"};
    turnstile door;
    soon(asio::co_spawn(loop.io(), door.pass(stock, 200), asio::use_future));
    stock.lock();
    stock.unlock();
    home.close();
}

TEST_F(OwnExecutor, ItsHandlersAreNeverRunInsideTheCallThatStartsThem) {
    support::loop_thread loop;
    client home{loop.io().get_executor(), on_server()};
    mutex stock{home, "stock"};
    std::promise<bool> told;
    asio::post(loop.io(), [&] {
        auto inside = std::make_shared<bool>(true);
        stock.async_lock([&told, inside](error_code, lease) { told.set_value(*inside); });
        *inside = false;
    });
    EXPECT_FALSE(soon(told.get_future()));
    home.close();
}

TEST_F(OwnExecutor, NorIsAHandlerOfACallThatIsRefusedAtOnce) {
    support::loop_thread loop;
    options how = on_server();
    how.executor_is_serial = true; // else the call begins in a strand, later
    client home{loop.io().get_executor(), std::move(how)};
    mutex stock{home, "stock"};
    home.close();
    std::promise<bool> told;
    asio::post(loop.io(), [&] {
        auto inside = std::make_shared<bool>(true);
        stock.async_lock([&told, inside](error_code ec, lease) {
            EXPECT_EQ(ec, errc::closed);
            told.set_value(*inside);
        });
        *inside = false;
    });
    EXPECT_FALSE(soon(told.get_future()));
}

// A thread that blocks for what an executor should do, and nobody runs that executor.

class UnrunExecutor : public testing::Test {
protected:
    memory::server server;
    meter sent;
    asio::io_context io;
    client home{io.get_executor(),
                options{.store = server.connect(sent.as_faults()), .release_timeout = 10ms}};
    mutex stock{home, "stock"};
};

TEST_F(UnrunExecutor, IsUnreachableForATryAndWhatWasAskedIsNeverSent) {
    const auto began = std::chrono::steady_clock::now();
    auto timed = elsewhere([&] { return thrown_by([&] { (void)stock.try_lock_for(100ms); }); });
    auto untimed = elsewhere([&] { return thrown_by([&] { (void)stock.try_lock(); }); });
    const support::thrown why = soon(std::move(timed));
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, HasSubstr("nobody runs the client's executor"));
    EXPECT_EQ(soon(std::move(untimed)).code, errc::unreachable);
    EXPECT_GE(std::chrono::steady_clock::now() - began, 1s);
    io.poll();
    EXPECT_EQ(sent.all(), 0u);
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(UnrunExecutor, EndsALockThatIsCancelled) {
    std::stop_source stop;
    auto waits = elsewhere([&] { return thrown_by([&] { stock.lock(stop.get_token()); }); });
    stop.request_stop();
    EXPECT_EQ(soon(std::move(waits)).code, errc::unreachable);
}

TEST_F(UnrunExecutor, LeavesAQuestionUnansweredAndAnOrderUndone) {
    server.occupy("stock", 1h);
    auto asks = elsewhere([&] { return thrown_by([&] { (void)stock.is_locked(); }); });
    auto forces = elsewhere([&] { return thrown_by([&] { stock.force_unlock(); }); });
    EXPECT_EQ(soon(std::move(asks)).code, errc::outcome_unknown);
    EXPECT_EQ(soon(std::move(forces)).code, errc::outcome_unknown);
    io.poll();
    EXPECT_EQ(held_count(server), 1u) << "forced long after its caller had given up";
}

TEST_F(UnrunExecutor, ThatStoppedHalfWayLeavesTheOutcomeUnknownAndGivesBackWhatItBrought) {
    sent.set({.answer_delay = 20ms});
    auto tries = elsewhere([&] { return thrown_by([&] { (void)stock.try_lock(); }); });
    while (sent.count(verb::look) == 0) {
        io.restart();
        io.run_one_for(10ms);
    }
    EXPECT_EQ(soon(std::move(tries)).code, errc::outcome_unknown);
    EXPECT_EQ(held_count(server), 1u);
    io.restart();
    io.run_for(500ms);
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(UnrunExecutor, EndsAnUnlockWhoseReleaseIsSentWhenItRunsAgain) {
    EXPECT_EQ(held_count(server), 0u);
    const auto busy = asio::make_work_guard(io);
    error_code ec;
    auto works = elsewhere([&] {
        stock.lock();
        io.stop();
        stock.unlock(ec);
    });
    io.run();
    soon(std::move(works));
    EXPECT_EQ(ec, errc::outcome_unknown);
    EXPECT_EQ(held_count(server), 1u);
    io.restart();
    io.run_for(100ms);
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(UnrunExecutor, IsNotOneThatIsSlow) {
    sent.set({.request_delay = 1200ms, .answer_delay = 1200ms});
    const auto busy = asio::make_work_guard(io);
    std::latch is_run{1};
    asio::post(io, [&] { is_run.count_down(); });
    const std::jthread runs{[&] { io.run(); }};
    // It ends the context before it joins the thread, also if the try throws.
    const std::shared_ptr<void> ends{nullptr, [this](void*) { io.stop(); }};
    is_run.wait(); // or the try might find that nobody runs it yet
    auto tries = elsewhere([&] { return stock.try_lock(); });
    EXPECT_TRUE(soon(std::move(tries)));
}

// A blocking call on the executor that has to finish it is refused, wherever that can be told.

class WouldDeadlock : public in_real_time {
protected:
    /// All verbs that block, each of which must refuse.
    static void expect_refusals(client& home) {
        recursive_mutex stock{home, "stock"};
        const std::vector<std::function<void()>> verbs{
            [&] { stock.lock(); },
            [&] { stock.lock(lease_time{1s}); },
            [&] { (void)stock.try_lock(); },
            [&] { (void)stock.try_lock(lease_time{1s}); },
            [&] { (void)stock.try_lock_for(1s); },
            [&] { (void)stock.try_lock_until(std::chrono::steady_clock::now() + 1s); },
            [&] { (void)stock.is_locked(); },
            [&] { (void)stock.remaining_lease(); },
            [&] { (void)stock.force_unlock(); },
        };
        for (const auto& verb : verbs) {
            const auto refused = thrown_by(verb);
            EXPECT_EQ(refused.code, errc::would_deadlock);
            EXPECT_THAT(refused.text, HasSubstr("async_"));
        }
        EXPECT_FALSE(stock.is_held_by_this_thread()); // these may be asked anywhere
        EXPECT_EQ(stock.hold_count(), 0u);
    }

    /// On each executor: refused there, and fine on a thread that is not its own.
    void check(asio::any_io_executor executor) {
        auto home = std::make_unique<client>(
            executor, options{.store = server.connect(sent.as_faults()), .close_timeout = 0ms});
        std::promise<void> done;
        asio::post(executor, [&] {
            expect_refusals(*home);
            done.set_value();
        });
        soon(done.get_future());
        EXPECT_EQ(sent.all(), 0u) << "it was sent all the same";

        mutex stock{*home, "stock"};
        stock.lock();
        stock.unlock();
        EXPECT_EQ(sent.all(), 2u);
        home->close();
    }
};

TEST_F(WouldDeadlock, InAHandlerOnTheClientsOwnThread) {
    mutex shelf{alice, "shelf"};
    std::promise<void> done;
    shelf.async_is_locked([&](error_code, bool) {
        expect_refusals(alice);
        done.set_value();
    });
    soon(done.get_future());
    EXPECT_EQ(sent.count(verb::look), 0u);
}

TEST_F(WouldDeadlock, InAStopCallback) {
    mutex shelf{alice, "shelf"};
    lease held = soon(shelf.async_lock(asio::use_future));
    std::promise<void> done;
    const std::stop_callback on_loss{held.lost(), [&] {
                                         expect_refusals(alice);
                                         done.set_value();
                                     }};
    EXPECT_TRUE(shelf.force_unlock());
    soon(done.get_future());
}

TEST_F(WouldDeadlock, InAnObserver) {
    struct asking final : observer {
        std::function<void()> on_event;
        void notify(const event&) noexcept override { on_event(); }
    };
    const auto curious = std::make_shared<asking>();
    client home{options{.store = server.connect(), .observer = curious}};
    mutex stock{home, "stock"}, shelf{home, "shelf"};
    std::promise<error_code> told;
    curious->on_event = [&, first = true]() mutable {
        if (std::exchange(first, false))
            told.set_value(thrown_by([&] { shelf.lock(); }).code);
    };
    stock.lock();
    EXPECT_EQ(soon(told.get_future()), errc::would_deadlock);
    stock.unlock();
    home.close();
}

TEST_F(WouldDeadlock, OnAnIoContext) {
    support::loop_thread loop;
    check(loop.io().get_executor());
}

TEST_F(WouldDeadlock, OnAStrandOfAnIoContext) {
    support::loop_thread loop;
    check(asio::make_strand(loop.io()));
}

TEST_F(WouldDeadlock, OnAThreadPool) {
    asio::thread_pool pool{1};
    check(pool.get_executor());
    pool.join();
}

TEST_F(WouldDeadlock, OnAStrandOfAThreadPool) {
    asio::thread_pool pool{2};
    check(asio::make_strand(pool));
    pool.join();
}

TEST_F(WouldDeadlock, OnAStrandOfAnythingThatRunsThere) {
    support::loop_thread loop;
    check(asio::make_strand(asio::any_io_executor{loop.io().get_executor()}));
}

TEST_F(WouldDeadlock, BesideAStrandOnTheOnlyThreadThatRunsIt) {
    support::loop_thread loop;
    const asio::any_io_executor strand = asio::make_strand(loop.io());
    std::promise<bool> told;
    asio::post(loop.io(), [&] { told.set_value(runtime::runs_here(strand)); });
    EXPECT_TRUE(soon(told.get_future())) << "a blocking call there would never return";
    EXPECT_FALSE(runtime::runs_here(strand));
}

TEST_F(WouldDeadlock, CannotBeToldOfAnUnknownExecutor) {
    EXPECT_FALSE(runtime::runs_here(asio::system_executor{}));
    EXPECT_FALSE(runtime::runs_here(asio::any_io_executor{}));
}

TEST_F(WouldDeadlock, ALeaseIsReleasedThereAllTheSame) {
    mutex shelf{alice, "shelf"};
    std::promise<error_code> extended, released;
    shelf.async_lock(lease_time{1min}, [&](error_code, lease held) {
        extended.set_value(thrown_by([&] { held.extend(lease_time{1h}); }).code);
        error_code ec;
        held.unlock(ec);
        released.set_value(ec);
    });
    EXPECT_EQ(soon(extended.get_future()), errc::would_deadlock);
    EXPECT_EQ(soon(released.get_future()), errc::would_deadlock);
    EXPECT_TRUE(eventually([this] { return is_free("shelf"); }));
}

TEST_F(WouldDeadlock, OnTheExecutorOfAMembersClient) {
    support::loop_thread loop;
    client other{loop.io().get_executor(), options{.store = server.connect()}};
    mutex shelf{alice, "shelf"}, stock{other, "stock"};
    multi_mutex both{shelf, stock};
    std::optional<lease> held = soon(both.async_lock(lease_time{1min}, asio::use_future));
    std::vector<error_code> refused;
    error_code released;
    std::promise<void> done;
    asio::post(loop.io(), [&] {
        refused.push_back(thrown_by([&] { held->extend(lease_time{1h}); }).code);
        refused.push_back(thrown_by([&] { (void)both.is_locked(); }).code);
        refused.push_back(thrown_by([&] { (void)both.remaining_lease(); }).code);
        refused.push_back(thrown_by([&] { (void)both.force_unlock(); }).code);
        held->unlock(released);
        done.set_value();
    });
    soon(done.get_future());
    EXPECT_THAT(refused, ::testing::Each(errc::would_deadlock));
    EXPECT_EQ(released, errc::would_deadlock);
    EXPECT_TRUE(eventually([this] { return is_free("shelf") && is_free("stock"); }));
    other.close();
}

TEST_F(WouldDeadlock, ReentryThatSendsNothingIsFineThere) {
    asio::io_context io;
    const auto work = asio::make_work_guard(io); // else it stops where there is nothing to do yet
    auto home = std::make_unique<client>(io.get_executor(), options{.store = server.connect()});
    recursive_mutex stock{*home, "stock"};
    auto runner = elsewhere([&] { io.run_for(support::far_too_long); });
    stock.lock();
    io.stop();
    soon(std::move(runner));

    bool entered = false;
    asio::post(io, [&] {
        stock.lock();
        stock.unlock();
        entered = true;
    });
    io.restart();
    io.poll(); // now this thread, which holds the lock, runs the executor
    EXPECT_TRUE(entered);
    home.reset();
    io.poll();
}

TEST_F(WouldDeadlock, CloseThereBeginsAndReturns) {
    mutex shelf{alice, "shelf"};
    std::promise<void> done;
    shelf.async_is_locked([&](error_code, bool) {
        alice.close();
        done.set_value();
    });
    soon(done.get_future());
    alice.close();
    EXPECT_EQ(thrown_by([&] { shelf.lock(); }).code, errc::closed);
}

} // namespace
} // namespace holdfast
