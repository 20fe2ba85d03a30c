// SPDX-License-Identifier: Apache-2.0
// Every asynchronous verb with every kind of completion token.
#include "support/loop_thread.hpp"
#include "unit/front/real_time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <list>
#include <optional>
#include <thread>

namespace holdfast {
namespace {

/// How a verb is started and its answer awaited: four ways to the same.
///
/// `start(token)` calls the verb; `T` is what it completes with, beside the code.
template <typename T>
struct spoken {
    error_code code;
    std::optional<T> value;
};

template <typename T, typename Start>
spoken<T> by_callback(Start start) {
    auto heard = std::make_shared<std::promise<spoken<T>>>();
    start([heard](error_code ec, T value) {
        spoken<T> all{ec, std::nullopt};
        all.value.emplace(std::move(value));
        heard->set_value(std::move(all));
    });
    return soon(heard->get_future());
}

template <typename T, typename Start>
spoken<T> by_future(Start start) {
    std::future<T> coming = start(asio::use_future);
    spoken<T> all;
    all.code = thrown_by([&] { all.value.emplace(soon(std::move(coming))); }).code;
    return all;
}

template <typename T, typename Start>
spoken<T> by_coroutine(Start start) {
    support::loop_thread loop;
    auto story = [&start]() -> asio::awaitable<T> {
        co_return co_await start(asio::use_awaitable);
    };
    std::future<T> coming = asio::co_spawn(loop.io(), story(), asio::use_future);
    spoken<T> all;
    all.code = thrown_by([&] { all.value.emplace(soon(std::move(coming))); }).code;
    return all;
}

template <typename T, typename Start>
spoken<T> by_deferred(Start start) {
    auto operation = start(asio::deferred);
    return by_callback<T>([&](auto handler) { std::move(operation)(std::move(handler)); });
}

/// Runs `check` on what each kind of token brings.
template <typename T, typename Start>
void with_every_token(Start start, std::function<void(spoken<T>)> check) {
    {
        SCOPED_TRACE("a callback");
        check(by_callback<T>(start));
    }
    {
        SCOPED_TRACE("use_future");
        check(by_future<T>(start));
    }
    {
        SCOPED_TRACE("use_awaitable");
        check(by_coroutine<T>(start));
    }
    {
        SCOPED_TRACE("deferred");
        check(by_deferred<T>(start));
    }
}

/// The same for verbs that complete with a code alone.
template <typename Start>
void each_without_value(Start start, std::function<void(error_code)> check) {
    std::promise<error_code> heard;
    start([&](error_code ec) { heard.set_value(ec); });
    check(soon(heard.get_future()));

    std::future<void> coming = start(asio::use_future);
    check(thrown_by([&] { (void)soon(std::move(coming)); }).code);

    support::loop_thread loop;
    auto story = [&start]() -> asio::awaitable<void> { co_await start(asio::use_awaitable); };
    std::future<void> told = asio::co_spawn(loop.io(), story(), asio::use_future);
    check(thrown_by([&] { soon(std::move(told)); }).code);

    std::promise<error_code> later;
    auto operation = start(asio::deferred);
    std::move(operation)([&](error_code ec) { later.set_value(ec); });
    check(soon(later.get_future()));
}

class Tokens : public in_real_time {
protected:
    using maybe = std::optional<lease>;
    recursive_mutex stock{alice, "stock"};

    /// The call got the lock. The test releases it, so that the next call can get it.
    void holds(spoken<lease> got) {
        EXPECT_FALSE(got.code) << got.code.message();
        ASSERT_TRUE(got.value);
        EXPECT_TRUE(got.value->owns_lock());
        got.value->unlock();
    }
    void holds_maybe(spoken<maybe> got) {
        EXPECT_FALSE(got.code) << got.code.message();
        ASSERT_TRUE(got.value && *got.value);
        EXPECT_TRUE((*got.value)->owns_lock());
        (*got.value)->unlock();
    }
    void expect_lock(auto start) {
        with_every_token<lease>(start, [this](spoken<lease> got) { holds(std::move(got)); });
    }
    void expect_maybe(auto start) {
        with_every_token<maybe>(start, [this](spoken<maybe> got) { holds_maybe(std::move(got)); });
    }
};

TEST_F(Tokens, AsyncLock) {
    expect_lock([this](auto&& token) { return stock.async_lock(token); });
    expect_lock([this](auto&& token) { return stock.async_lock(lease_time{20s}, token); });
}

TEST_F(Tokens, AsyncTryLock) {
    expect_maybe([this](auto&& token) { return stock.async_try_lock(token); });
    expect_maybe([this](auto&& token) { return stock.async_try_lock(lease_time{20s}, token); });
}

TEST_F(Tokens, AsyncTryLockFor) {
    expect_maybe([this](auto&& token) { return stock.async_try_lock_for(1s, token); });
    expect_maybe(
        [this](auto&& token) { return stock.async_try_lock_for(1s, lease_time{20s}, token); });
}

TEST_F(Tokens, AsyncTryLockUntil) {
    const auto deadline = std::chrono::steady_clock::now() + 1h;
    expect_maybe([&](auto&& token) { return stock.async_try_lock_until(deadline, token); });
    expect_maybe(
        [&](auto&& token) { return stock.async_try_lock_until(deadline, lease_time{20s}, token); });
}

TEST_F(Tokens, BusyIsAnAnswerAndNoError) {
    server.occupy("stock", 1h);
    with_every_token<maybe>([this](auto&& token) { return stock.async_try_lock(token); },
                            [](spoken<maybe> got) {
                                EXPECT_FALSE(got.code);
                                ASSERT_TRUE(got.value);
                                EXPECT_FALSE(*got.value);
                            });
}

TEST_F(Tokens, AsyncReentry) {
    lease outer = soon(stock.async_lock(asio::use_future));
    with_every_token<lease>([&](auto&& token) { return stock.async_lock(outer, token); },
                            [&](spoken<lease> got) {
                                EXPECT_FALSE(got.code);
                                ASSERT_TRUE(got.value);
                                EXPECT_EQ(got.value->owner(), outer.owner());
                            });
    EXPECT_TRUE(outer.owns_lock());
}

TEST_F(Tokens, AsyncQuestions) {
    server.occupy("stock", 1h);
    with_every_token<bool>([this](auto&& token) { return stock.async_is_locked(token); },
                           [](spoken<bool> got) { EXPECT_EQ(got.value, true); });
    using length = std::optional<duration>;
    with_every_token<length>(
        [this](auto&& token) { return stock.async_remaining_lease(token); },
        [](spoken<length> got) { EXPECT_GT(got.value.value().value(), 50min); });
}

TEST_F(Tokens, AsyncForceUnlock) {
    with_every_token<bool>(
        [this](auto&& token) {
            server.occupy("stock", 1h);
            return stock.async_force_unlock(token);
        },
        [this](spoken<bool> got) {
            EXPECT_EQ(got.value, true);
            EXPECT_TRUE(is_free("stock"));
        });
}

TEST_F(Tokens, AsyncUnlock) {
    std::list<lease> held;
    each_without_value(
        [&](auto&& token) {
            held.push_back(soon(stock.async_lock(asio::use_future)));
            return held.back().async_unlock(token);
        },
        [this](error_code ec) {
            EXPECT_FALSE(ec);
            EXPECT_TRUE(is_free("stock"));
        });
}

TEST_F(Tokens, AsyncExtend) {
    lease held = soon(stock.async_lock(lease_time{1min}, asio::use_future));
    each_without_value([&](auto&& token) { return held.async_extend(lease_time{1h}, token); },
                       [&](error_code ec) {
                           EXPECT_FALSE(ec);
                           EXPECT_GT(held.remaining(), 50min);
                       });
}

TEST_F(Tokens, AsyncClose) {
    each_without_value([this](auto&& token) { return alice.async_close(token); },
                       [](error_code ec) { EXPECT_FALSE(ec); });
}

TEST_F(Tokens, ErrorsComeAsTheTokenWantsThem) {
    alice.close();
    with_every_token<lease>([this](auto&& token) { return stock.async_lock(token); },
                            [](spoken<lease> got) { EXPECT_EQ(got.code, errc::closed); });
    with_every_token<maybe>([this](auto&& token) { return stock.async_try_lock(token); },
                            [](spoken<maybe> got) { EXPECT_EQ(got.code, errc::closed); });
    with_every_token<bool>([this](auto&& token) { return stock.async_is_locked(token); },
                           [](spoken<bool> got) { EXPECT_EQ(got.code, errc::closed); });
}

TEST_F(Tokens, AnImpossibleLeaseIsAnErrorToTheHandlerAndNotToTheCaller) {
    const auto check = [](spoken<lease> got) { EXPECT_EQ(got.code, errc::invalid_argument); };
    with_every_token<lease>(
        [this](auto&& token) { return stock.async_lock(lease_time{0s}, token); }, check);
    EXPECT_EQ(sent.all(), 0u);
}

TEST_F(Tokens, ADeferredOperationThatIsNotStartedDoesNothing) {
    { auto operation = stock.async_lock(asio::deferred); }
    EXPECT_EQ(sent.all(), 0u);
}

TEST_F(Tokens, AHandlerRunsOnItsOwnExecutorAndNeverInsideTheCall) {
    support::loop_thread loop;
    std::promise<std::thread::id> ran_on, loop_is;
    asio::post(loop.io(), [&] { loop_is.set_value(std::this_thread::get_id()); });
    const auto handler = [&](error_code, lease) { ran_on.set_value(std::this_thread::get_id()); };
    stock.async_lock(asio::bind_executor(loop.io(), handler));
    EXPECT_EQ(soon(ran_on.get_future()), soon(loop_is.get_future()));
}

TEST_F(Tokens, AHandlerWithoutAnExecutorRunsOnTheClientsThread) {
    std::promise<std::thread::id> first, second;
    stock.async_is_locked([&](error_code, bool) { first.set_value(std::this_thread::get_id()); });
    stock.async_is_locked([&](error_code, bool) { second.set_value(std::this_thread::get_id()); });
    const std::thread::id one = soon(first.get_future());
    EXPECT_EQ(one, soon(second.get_future()));
    EXPECT_NE(one, std::this_thread::get_id());
}

TEST_F(Tokens, AnExecutorThatWaitsForAHandlerIsKeptBusy) {
    asio::io_context io;
    bool heard = false;
    server.occupy("stock", 1h);
    stock.async_lock(asio::bind_executor(io, [&](error_code ec, lease) {
        EXPECT_FALSE(ec);
        heard = true;
    }));
    EXPECT_TRUE(eventually([this] { return listener_count(server) == 1; }));
    auto runner = elsewhere([&] { io.run(); });
    server.vacate("stock");
    soon(std::move(runner));
    EXPECT_TRUE(heard) << "io.run() returned while an operation was under way";
}

TEST_F(Tokens, SoIsAnExecutorThatWaitsForAnAnswerOrForTheEnd) {
    asio::io_context io;
    int heard = 0;
    const auto hears = [&] {
        return asio::bind_executor(io, [&](error_code, auto...) { ++heard; });
    };
    lease held = soon(stock.async_lock(asio::use_future));
    stock.async_is_locked(hears());
    held.async_unlock(hears());
    alice.async_close(hears());
    io.run();
    EXPECT_EQ(heard, 3) << "io.run() returned while an operation was under way";
}

TEST_F(Tokens, AMoveOnlyHandlerIsFine) {
    std::promise<void> heard;
    stock.async_lock([mine = std::make_unique<int>(1), &heard](error_code, lease) {
        EXPECT_TRUE(mine);
        heard.set_value();
    });
    soon(heard.get_future());
}

// Requests of a thread after an unlock() that did not wait arrive after its release, on every
// connection.

class DeferredRelease : public in_real_time {
protected:
    mutex stock{alice, "stock", deferred_release};
};

TEST_F(DeferredRelease, ComesBeforeTheNextTryOfTheSameThread) {
    sent.set({.request_delay = 2ms, .answer_delay = 2ms});
    stock.lock();
    for (int i = 0; i < 50; ++i) {
        stock.unlock();
        ASSERT_TRUE(stock.try_lock()) << "round " << i;
    }
    stock.unlock();
}

TEST_F(DeferredRelease, ComesBeforeATryThroughAnotherObject) {
    sent.set({.request_delay = 2ms});
    mutex again{alice, "stock"};
    stock.lock();
    stock.unlock();
    ASSERT_TRUE(again.try_lock_for(1ms));
    again.unlock();
}

TEST_F(DeferredRelease, ComesBeforeAnAsynchronousTry) {
    sent.set({.request_delay = 2ms});
    stock.lock();
    stock.unlock();
    const std::optional<lease> held = soon(stock.async_try_lock(asio::use_future));
    EXPECT_TRUE(held && held->owns_lock());
}

TEST_F(DeferredRelease, IsNotWaitedForByATryBehindAWaiter) {
    sent.set({.request_delay = 20ms});
    stock.lock();
    stock.unlock();
    std::future<lease> waits = stock.async_lock(asio::use_future);
    EXPECT_FALSE(soon(stock.async_try_lock(asio::use_future)));
    EXPECT_TRUE(soon(std::move(waits)).owns_lock());
}

TEST_F(DeferredRelease, ThatFailsLetsTheTryAskForItself) {
    stock.lock();
    sent.set({.request_delay = 20ms, .refused = true});
    stock.unlock();
    EXPECT_EQ(thrown_by([&] { (void)stock.try_lock(); }).code, errc::unreachable);
}

TEST_F(DeferredRelease, OfOneThreadIsNoReasonToWaitForARival) {
    stock.lock();
    stock.unlock();
    EXPECT_TRUE(eventually([&] { return is_free("stock"); }));
    server.occupy("stock", 1h);
    EXPECT_FALSE(stock.try_lock());
}

} // namespace
} // namespace holdfast
