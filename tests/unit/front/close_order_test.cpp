// SPDX-License-Identifier: Apache-2.0
// After close() a user's clock and executor are not touched: they may be destroyed in any order.
// What is wrong here shows under AddressSanitizer.
#include "support/sim_clock.hpp"
#include "unit/front/real_time.hpp"

#include <boost/asio/detached.hpp>

#include <optional>

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
            own->get_executor(), options{.store = server.connect(), .close_patience = 0ms});
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

} // namespace
} // namespace holdfast
