// SPDX-License-Identifier: Apache-2.0
// A thread that blocks for what an executor should do, and nobody runs that executor.
#include "unit/front/real_time.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <stop_token>

namespace holdfast {
namespace {

class UnrunExecutor : public testing::Test {
protected:
    memory::server server;
    meter sent;
    asio::io_context io;
    client home{io.get_executor(),
                options{.store = server.connect(sent.as_faults()), .release_patience = 10ms}};
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
    EXPECT_EQ(server.held_count(), 0u);
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
    EXPECT_EQ(server.held_count(), 1u) << "forced long after its caller had given up";
}

TEST_F(UnrunExecutor, ThatStoppedHalfWayLeavesTheOutcomeUnknownAndGivesBackWhatItBrought) {
    sent.set({.answer_delay = 20ms});
    auto tries = elsewhere([&] { return thrown_by([&] { (void)stock.try_lock(); }); });
    while (sent.count(verb::look) == 0) {
        io.restart();
        io.run_one_for(10ms);
    }
    EXPECT_EQ(soon(std::move(tries)).code, errc::outcome_unknown);
    EXPECT_EQ(server.held_count(), 1u);
    io.restart();
    io.run_for(500ms);
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(UnrunExecutor, EndsAnUnlockWhoseReleaseIsSentWhenItRunsAgain) {
    EXPECT_EQ(server.held_count(), 0u);
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
    EXPECT_EQ(server.held_count(), 1u);
    io.restart();
    io.run_for(100ms);
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(UnrunExecutor, IsNotOneThatIsSlow) {
    sent.set({.request_delay = 1200ms, .answer_delay = 1200ms});
    auto tries = elsewhere([&] { return stock.try_lock(); });
    auto busy = asio::make_work_guard(io);
    std::thread runs{[&] { io.run(); }};
    EXPECT_TRUE(soon(std::move(tries)));
    busy.reset();
    io.stop();
    runs.join();
}

} // namespace
} // namespace holdfast
