// SPDX-License-Identifier: Apache-2.0
// A blocking call on the executor that has to finish it is refused, wherever that can be told.
#include "runtime/loop.hpp"
#include "support/loop_thread.hpp"
#include "unit/front/real_time.hpp"

#include <holdfast/multi_mutex.hpp>

#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include <functional>
#include <utility>

namespace holdfast {
namespace {

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
            executor, options{.store = server.connect(sent.as_faults()), .close_patience = 0ms});
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
