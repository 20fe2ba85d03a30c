// SPDX-License-Identifier: Apache-2.0
// A client on an executor of the user's, which may have many threads.
#include "support/loop_thread.hpp"
#include "unit/front/real_time.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <atomic>

namespace holdfast {
namespace {

class OwnExecutor : public in_real_time {
protected:
    options on_server() { return {.store = server.connect(), .close_patience = 0ms}; }
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
    EXPECT_EQ(server.held_count(), 0u);
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

} // namespace
} // namespace holdfast
