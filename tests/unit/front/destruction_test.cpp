// SPDX-License-Identifier: Apache-2.0
// Every object may be destroyed in every state. What is wrong here shows under AddressSanitizer.
#include "support/loop_thread.hpp"
#include "unit/front/real_time.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <latch>
#include <thread>

namespace holdfast {
namespace {

class Destruction : public testing::Test {
protected:
    std::unique_ptr<memory::server> server = std::make_unique<memory::server>();
    meter sent;

    options how() { return {.store = server->connect(sent.as_faults()), .close_patience = 0ms}; }
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
    EXPECT_TRUE(eventually([&] { return server->held_count() == 0; }));
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
    EXPECT_TRUE(eventually([&] { return server->listener_count() == 1; }));
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
    EXPECT_EQ(server->held_count(), 0u);
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
    EXPECT_TRUE(eventually([&] { return server->listener_count() == 1; }));
    home.reset();
    EXPECT_EQ(thrown_by([&] { (void)soon(std::move(coming)); }).code, errc::closed);
    const auto thrown = soon(std::move(blocked));
    EXPECT_EQ(thrown.code, errc::closed);
    EXPECT_THAT(thrown.text, HasSubstr("closed"));
    // Who waits is told before its call has ended, and the destructor waits for neither.
    EXPECT_TRUE(eventually([&] { return server->listener_count() == 0; }));
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
    EXPECT_TRUE(eventually([&] { return server->held_count() == 0; }));
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
    while (server->listener_count() == 0)
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
        options{.store = server->connect(), .lease_time = 150ms, .close_patience = 0ms});
    mutex stock{*brief, "stock"};
    const lease held = taken(stock);
    brief.reset();
    EXPECT_TRUE(eventually([&] { return server->held_count() == 0; }));
}

TEST_F(Destruction, OfAClientWhileAThreadHolds) {
    auto ear = std::make_shared<support::recorder>();
    const std::weak_ptr<support::recorder> watched = ear;
    options with_ear = how();
    with_ear.observer = std::move(ear);
    auto home = std::make_unique<client>(std::move(with_ear));
    const thread_that_holds holder{*home};
    home.reset();
    EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

// Found at the exit of this very program: its main thread held something of a context long gone.
TEST_F(Destruction, OfAContextWhileAThreadHolds) {
    auto ear = std::make_shared<support::recorder>();
    const std::weak_ptr<support::recorder> watched = ear;
    options with_ear = how();
    with_ear.observer = std::move(ear);
    auto loop = std::make_unique<support::loop_thread>();
    auto home = std::make_unique<client>(loop->io().get_executor(), std::move(with_ear));
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

} // namespace
} // namespace holdfast
