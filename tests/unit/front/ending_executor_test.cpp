// SPDX-License-Identifier: Apache-2.0
// A user's executor and clock end while other threads use the client. Errors in this code show
// under AddressSanitizer and ThreadSanitizer, and rarely without them.
#include "unit/front/real_time.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/quorum_mutex.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/shared_mutex.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <latch>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

/// A context of a user's, and the threads that run it.
class user_context {
public:
    explicit user_context(int threads) {
        for (int i = 0; i < threads; ++i)
            run_.emplace_back([this] { io_->run(); });
    }
    user_context(const user_context&) = delete;
    ~user_context() { end(); }

    asio::any_io_executor executor() { return io_->get_executor(); }
    asio::io_context& io() { return *io_; }
    void end() {
        if (!io_)
            return;
        work_.reset();
        io_->stop();
        run_.clear();
        io_.reset();
    }

private:
    std::optional<asio::io_context> io_{std::in_place};
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_->get_executor()};
    std::vector<std::jthread> run_;
};

/// A clock of a user's. Its threads may be slow in it.
class user_clock final : public clock {
public:
    explicit user_clock(asio::io_context& io)
        : io_{io} {}
    time_point now() const noexcept override {
        if (in_now)
            in_now();
        return boot_clock::now();
    }
    std::unique_ptr<alarm> make_alarm() override { return std::make_unique<bell>(io_); }

    static inline thread_local std::function<void()> in_now{};

private:
    class bell final : public alarm {
    public:
        explicit bell(asio::io_context& io)
            : timer_{io} {}
        asio::awaitable<void> wait_until(time_point when) override {
            if (std::exchange(rung_, false))
                co_return;
            const duration left = std::min<duration>(when - boot_clock::now(), 1h);
            timer_.expires_after(left);
            error_code ec;
            co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ec));
            rung_ = false;
        }
        void ring() noexcept override {
            rung_ = true;
            timer_.cancel();
        }

    private:
        asio::steady_timer timer_;
        bool rung_ = false;
    };

    asio::io_context& io_;
};

/// Operations that each thread repeats.
struct repeated {
    std::string name;
    std::function<void(client&)> verb;
};

class EndingExecutor : public testing::TestWithParam<repeated> {
protected:
    memory::server server;
};

TEST_P(EndingExecutor, CloseThenDestructionWhileThreadsRepeatAVerb) {
    for (int round = 0; round < 20; ++round) {
        const bool one_thread = round % 2 == 0;
        user_context context{one_thread ? 1 : 3};
        client home{context.executor(), options{.store = server.connect(),
                                                .close_timeout = 1ms,
                                                .executor_is_serial = one_thread}};
        std::latch busy{3};
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back([&] {
                bool counted = false;
                for (error_code ec; ec != errc::closed;) {
                    try {
                        GetParam().verb(home);
                    } catch (const boost::system::system_error& e) {
                        ec = e.code();
                    }
                    if (!std::exchange(counted, true))
                        busy.count_down();
                }
            });
        busy.wait();
        home.close();
        context.end();
    }
}

INSTANTIATE_TEST_SUITE_P(
    Each, EndingExecutor,
    testing::Values(repeated{"TryLockFor",
                             [](client& c) {
                                 mutex m{c, "m"};
                                 error_code ec;
                                 if (m.try_lock_for(5ms))
                                     m.unlock(ec);
                             }},
                    repeated{"IsLocked",
                             [](client& c) {
                                 (void)mutex{c, "m"}.is_locked();
                             }},
                    repeated{"ForceUnlock",
                             [](client& c) {
                                 mutex{c, "m"}.force_unlock();
                             }},
                    repeated{"Semaphore",
                             [](client& c) {
                                 counting_semaphore s{c, "s"};
                                 (void)s.try_set_permits(100);
                                 if (s.try_acquire())
                                     s.release();
                             }},
                    repeated{"LeaseThatIsDestroyed",
                             [](client& c) {
                                 leased_semaphore s{c, "l"};
                                 (void)s.try_set_permits(100);
                                 const std::optional<lease> l = s.try_acquire();
                             }},
                    repeated{"DeferredRelease",
                             [](client& c) {
                                 mutex m{c, "d", deferred_release};
                                 error_code ec;
                                 if (m.try_lock())
                                     m.unlock(ec);
                             }},
                    repeated{"Multi",
                             [](client& c) {
                                 mutex a{c, "a"}, b{c, "b"};
                                 multi_mutex m{a, b};
                                 error_code ec;
                                 if (m.try_lock_for(5ms))
                                     m.unlock(ec);
                             }},
                    repeated{"ThreadThatEndsHolding",
                             [](client& c) {
                                 mutex m{c, "t"};
                                 std::jthread{[&] { // its own error is of no interest
                                     try {
                                         (void)m.try_lock();
                                     } catch (const boost::system::system_error&) {
                                         return;
                                     }
                                 }}
                                     .join();
                                 m.force_unlock();
                             }},
                    repeated{"Latch",
                             [](client& c) {
                                 latch gate{c, "gate"};
                                 (void)gate.try_set_count(3);
                                 (void)gate.wait_for(1ms);
                                 gate.count_down();
                                 (void)gate.try_wait();
                             }},
                    repeated{"RateLimiter",
                             [](client& c) {
                                 rate_limiter r{c, "r"};
                                 (void)r.try_set_rate({.permits = 100, .per = 1ms});
                                 (void)r.try_acquire_for(1ms);
                                 (void)r.current_rate();
                             }},
                    repeated{"Upgrade",
                             [](client& c) {
                                 shared_mutex s{c, "rw"};
                                 error_code ec;
                                 if (!s.try_lock_shared_for(5ms))
                                     return;
                                 if (s.try_upgrade_for(1ms))
                                     s.unlock(ec);
                                 s.unlock_shared(ec);
                             }},
                    repeated{"Quorum",
                             [](client& c) {
                                 quorum_mutex q{quorum_mutex::nodes{c}, "q"};
                                 error_code ec;
                                 if (q.try_lock_for(5ms))
                                     q.unlock(ec);
                             }},
                    repeated{"Extend",
                             [](client& c) {
                                 leased_semaphore s{c, "l"};
                                 (void)s.try_set_permits(100);
                                 if (std::optional<lease> l = s.try_acquire(lease_time{1h}))
                                     l->extend(lease_time{2h});
                             }},
                    repeated{"ChangesByPermitId",
                             [](client& c) {
                                 leased_semaphore s{c, "l"};
                                 (void)s.try_set_permits(100);
                                 const std::optional<lease> l = s.try_acquire(lease_time{1h});
                                 for (const std::string& id : l.value().permit_ids()) {
                                     (void)s.set_lease(id, lease_time{2h});
                                     (void)s.release(id);
                                 }
                             }},
                    repeated{"Tickets",
                             [](client& c) {
                                 leased_semaphore s{c, "l"};
                                 (void)s.try_set_permits(1'000);
                                 std::optional<lease> l = s.try_acquire(lease_time{1h});
                                 const ticket mine = l.value().detach();
                                 (void)c.renew(mine, lease_time{2h});
                                 (void)c.give(mine);
                             }},
                    repeated{"AdoptionOfAHoldThatIsOver",
                             [](client& c) {
                                 ticket of_another;
                                 of_another.name = "adopted";
                                 of_another.owner.number = 1;
                                 const lease l = c.adopt(of_another, lease_time{1h});
                             }},
                    repeated{"Questions",
                             [](client& c) {
                                 (void)c.inspect("m");
                                 (void)c.inspect("s", counter_kind::semaphore);
                                 (void)c.list();
                                 (void)c.list(counter_kind::semaphore);
                                 (void)c.ask_for("m");
                             }},
                    repeated{"WaitFree", [](client& c) { (void)c.wait_free("m", 1ms); }}),
    [](const auto& which) { return which.param.name; });

class EndingClock : public testing::Test {
protected:
    memory::server server;
};

TEST_F(EndingClock, CloseWaitsForAThreadThatIsInsideTheClock) {
    user_context context{1};
    user_clock time{context.io()};
    client home{context.executor(), time, options{.store = server.connect()}};
    mutex stock{home, "stock"};
    std::latch inside{1};
    std::atomic<bool> slow = true, left = false;
    auto locks = elsewhere([&] {
        user_clock::in_now = [&] {
            if (!slow.exchange(false))
                return;
            inside.count_down();
            std::this_thread::sleep_for(50ms); // as if it were preempted here
            left = true;
        };
        const support::thrown why = thrown_by([&] { stock.lock(); });
        user_clock::in_now = {};
        return why;
    });
    inside.wait();
    home.close();
    EXPECT_TRUE(left) << "a thread is inside the clock when close() has returned";
    const error_code code = soon(std::move(locks)).code;
    EXPECT_TRUE(code == errc::closed || code == errc::outcome_unknown) << code.message();
}

TEST_F(EndingClock, ClockIsDestroyedBehindTheCloseWhileThreadsAskALease) {
    for (int round = 0; round < 20; ++round) {
        user_context context{1};
        auto time = std::make_unique<user_clock>(context.io());
        client home{context.executor(), *time,
                    options{.store = server.connect(), .close_timeout = 1ms}};
        mutex stock{home, "stock" + std::to_string(round)};
        const lease held = stock.async_lock(asio::use_future).get();
        std::latch busy{1};
        std::atomic<bool> stop = false;
        std::jthread asks{[&] {
            busy.count_down();
            while (!stop) {
                (void)held.remaining();
                (void)held.lost();
            }
        }};
        busy.wait();
        home.close();
        time.reset();
        EXPECT_FALSE(held.owns_lock());
        stop = true;
    }
}

/// A verb that waits when the context ends without a close.
struct waiting {
    std::string name;
    std::function<void(client&, std::stop_token)> verb;
};

class EndingContext : public testing::TestWithParam<waiting> {
protected:
    memory::server server;
};

TEST_P(EndingContext, EndsTheWaitOfABlockingVerb) {
    server.occupy("stock", 1h);
    user_context context{1};
    meter sent;
    client home{context.executor(), options{.store = server.connect(sent.as_faults())}};
    (void)latch{home, "gate"}.try_set_count(1);
    const std::size_t before = sent.all();
    std::stop_source stop;
    auto waits =
        elsewhere([&] { return thrown_by([&] { GetParam().verb(home, stop.get_token()); }); });
    ASSERT_TRUE(eventually([&] { return sent.all() > before + 1; })) << "it is to be busy";
    context.end();
    const support::thrown why = soon(std::move(waits));
    EXPECT_TRUE(why.code == errc::closed || why.code == errc::outcome_unknown) << why.text;
    stop.request_stop();
    EXPECT_EQ(thrown_by([&] { (void)mutex{home, "stock"}.try_lock(); }).code, errc::closed);
}

INSTANTIATE_TEST_SUITE_P(
    Each, EndingContext,
    testing::Values(waiting{"Lock",
                            [](client& c, auto) {
                                mutex{c, "stock"}.lock();
                            }},
                    waiting{"LockWithStopToken",
                            [](client& c, std::stop_token s) {
                                mutex{c, "stock"}.lock(std::move(s));
                            }},
                    waiting{"TryLockFor",
                            [](client& c, auto) {
                                (void)mutex{c, "stock"}.try_lock_for(1h);
                            }},
                    waiting{"TryAcquireFor",
                            [](client& c, auto) {
                                (void)counting_semaphore{c, "none"}.try_acquire_for(1h);
                            }},
                    waiting{"LatchWaitFor",
                            [](client& c, auto) {
                                (void)latch{c, "gate"}.wait_for(1h);
                            }},
                    waiting{"WaitFree", [](client& c, auto) { (void)c.wait_free("stock", 1h); }}),
    [](const auto& which) { return which.param.name; });

/// Observer whose destruction takes long, as if its thread were preempted there.
class slow_observer final : public observer {
public:
    slow_observer(std::latch& begun, std::atomic<bool>& over)
        : begun_{begun}
        , over_{over} {}
    ~slow_observer() override {
        begun_.count_down();
        std::this_thread::sleep_for(50ms);
        over_ = true;
    }

    void notify(const event&) noexcept override {}

private:
    std::latch& begun_;
    std::atomic<bool>& over_;
};

TEST(EndOfAContext, WaitsForAThreadThatDestroysTheLastObjectOfAClient) {
    memory::server server;
    user_context context{1};
    std::latch begun{1};
    std::atomic<bool> over = false;
    std::optional<client> home{std::in_place, context.executor(),
                               options{.store = server.connect(),
                                       .observer = std::make_shared<slow_observer>(begun, over)}};
    std::optional<mutex> stock{std::in_place, *home, "stock"};
    home->close();
    home.reset();
    std::jthread destroys{[&] { stock.reset(); }};
    begun.wait();
    context.end();
    EXPECT_TRUE(over) << "the client uses the context until it is destroyed";
}

TEST(MemoryServer, ResumesAfterAClientThatHadAskedItIsGone) {
    memory::server server;
    server.stop(0);
    for (int i = 0; i < 3; ++i) {
        client home{options{.store = server.connect({}, 20ms), .unavailable_timeout = 20ms}};
        EXPECT_TRUE(thrown_by([&] { (void)mutex{home, "stock"}.try_lock(); }).code);
    }
    server.resume(0);
    EXPECT_EQ(held_count(server), 0u);
}

TEST(MemoryServer, PromotesWhileClientsEndOnAnotherThread) {
    memory::server server;
    server.replicate(1);
    std::atomic<bool> stop = false;
    std::jthread promotes{[&] {
        for (std::size_t next = 1; !stop; next = 1 - next)
            server.promote(next);
    }};
    for (int i = 0; i < 100; ++i)
        const client home{options{.store = server.connect({}, 50ms), .close_timeout = 0ms}};
    stop = true;
}

TEST(MemoryServer, AnnouncesWhileClientsEndOnAnotherThread) {
    memory::server server;
    server.replicate(1);
    std::atomic<bool> stop = false;
    std::jthread announces{[&] {
        while (!stop)
            announce(server, primary_number(server));
    }};
    for (int i = 0; i < 100; ++i)
        const client home{options{.store = server.connect({}, 50ms), .close_timeout = 0ms}};
    stop = true;
}

} // namespace
} // namespace holdfast
