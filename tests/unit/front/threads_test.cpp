// SPDX-License-Identifier: Apache-2.0
// Blocking functions: which thread owns a hold, when a call returns, and what happens when a thread
// ends.
#include "unit/front/real_time.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/fair_mutex.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/quorum_mutex.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/spin_mutex.hpp>
#include <holdfast/store.hpp>
#include <holdfast/token_mutex.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <latch>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

// Blocking verbs tie a hold to its thread: who may unlock, and what happens when it ends.

class Threads : public in_real_time {
protected:
    mutex stock{alice, "stock"};
    error_code ec;
};

TEST_F(Threads, AnotherThreadCannotUnlock) {
    stock.lock();
    soon(elsewhere([this] {
        error_code of_other;
        stock.unlock(of_other);
        EXPECT_EQ(of_other, errc::not_owner);
    }));
    EXPECT_FALSE(is_free("stock"));
    EXPECT_TRUE(stock.is_held_by_this_thread());
    stock.unlock(ec);
    EXPECT_FALSE(ec);
}

TEST_F(Threads, UnlockingTwiceIsToldTheSecondTime) {
    stock.lock();
    stock.unlock(ec);
    EXPECT_FALSE(ec);
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
    EXPECT_THAT(ec.message(), HasSubstr("does not hold"));
}

TEST_F(Threads, UnlockingWhatWasNeverLockedIsTold) {
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
    EXPECT_EQ(sent.all(), 0u);
}

TEST_F(Threads, UnlockingAfterALossIsTold) {
    stock.lock();
    mutex of_bob{bob, "stock"};
    ASSERT_TRUE(of_bob.force_unlock());
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost);
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
}

TEST_F(Threads, UnlockingAfterCloseIsTold) {
    stock.lock();
    alice.close();
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::closed);
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::closed);
}

TEST_F(Threads, APlainUnlockOfALostHoldIsReportedToTheObserver) {
    stock.lock();
    mutex of_bob{bob, "stock"};
    ASSERT_TRUE(of_bob.force_unlock());
    stock.unlock();
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::lost) == 1; }));
    EXPECT_EQ(ear->count(event_kind::misuse), 0u);
}

TEST_F(Threads, UnlockWithAnErrorCodeOfALockThatIsNotHeldIsReportedAsMisuse) {
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::misuse) == 1; }));
    EXPECT_EQ(ear->last(event_kind::misuse)->name, "stock");
    EXPECT_EQ(ear->last(event_kind::misuse)->code, errc::not_owner);
}

TEST_F(Threads, UnlockWithAnErrorCodeIsReportedAsMisuseForEveryKind) {
    fair_mutex fair{alice, "fair"};
    fenced_mutex fenced{alice, "fenced"};
    spin_mutex spin{alice, "spin"};
    token_mutex token{alice, "token"};
    shared_mutex prices{alice, "prices"};
    multi_mutex both{stock, fair};
    quorum_mutex votes{{alice, bob}, "votes"};
    std::size_t reported = 0;
    for (basic_mutex* const each : std::initializer_list<basic_mutex*>{
             &fair, &fenced, &spin, &token, &prices, &prices.shared(), &both, &votes}) {
        each->unlock(ec);
        EXPECT_EQ(ec, errc::not_owner);
        ++reported;
        EXPECT_TRUE(eventually([&] { return ear->count(event_kind::misuse) == reported; }))
            << "number " << reported;
    }
}

using ThreadsDeathTest = Threads;

#ifndef NDEBUG
TEST_F(ThreadsDeathTest, UnlockingWhatIsNotHeldIsABug) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(stock.unlock(), "does not hold");
}
#else
TEST_F(ThreadsDeathTest, UnlockingWhatIsNotHeldIsReported) {
    stock.unlock();
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::misuse) == 1; }));
    EXPECT_EQ(ear->last(event_kind::misuse)->name, "stock");
    EXPECT_EQ(ear->last(event_kind::misuse)->code, errc::not_owner);
}
#endif

TEST_F(Threads, OneThatEndsWhileHoldingAbandonsTheHold) {
    mutex brief{alice, "brief", lease_time{4500ms}};
    soon(elsewhere([&] { std::thread{[&] { brief.lock(); }}.join(); }));
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::abandoned) == 1; }));
    EXPECT_EQ(ear->last(event_kind::abandoned)->name, "brief");
    EXPECT_TRUE(eventually([&] { return is_free("brief"); })) << "it is still renewed";
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::lost) == 1; }));
    EXPECT_EQ(ear->last(event_kind::lost)->cause, event_cause::term_ended);
    EXPECT_TRUE(brief.try_lock_for(support::far_too_long));
    brief.unlock();
}

TEST_F(Threads, ANewThreadNeverInheritsAHold) {
    // The system gives a new thread the id of one that ended.
    std::thread{[&] { stock.lock(); }}.join();
    std::thread{[&] {
        EXPECT_FALSE(stock.is_held_by_this_thread());
        EXPECT_FALSE(stock.try_lock());
        error_code of_other;
        stock.unlock(of_other);
        EXPECT_EQ(of_other, errc::not_owner);
    }}.join();
    EXPECT_FALSE(is_free("stock"));
}

TEST_F(Threads, OneThatEndsAfterItsClientDoesNoHarm) {
    std::latch locked{1}, closed{1};
    auto temporary =
        std::make_unique<client>(options{.store = server.connect(), .close_timeout = 0ms});
    auto holder = elsewhere([&] {
        mutex brief{*temporary, "brief"};
        brief.lock();
        locked.count_down();
        closed.wait();
    });
    locked.wait();
    temporary.reset();
    closed.count_down();
    soon(std::move(holder));
}

TEST_F(Threads, HoldsOfTwoClientsAreApart) {
    mutex of_bob{bob, "shelf"};
    stock.lock();
    of_bob.lock();
    mutex alices{alice, "shelf"};
    EXPECT_FALSE(alices.is_held_by_this_thread());
    EXPECT_FALSE(alices.try_lock());
    of_bob.unlock();
    stock.unlock();
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Threads, ALeaseBelongsToNobodyAndMayBeReleasedAnywhere) {
    lease held = soon(stock.async_lock(asio::use_future));
    EXPECT_FALSE(stock.is_held_by_this_thread());
    EXPECT_FALSE(stock.try_lock()) << "two owners";
    soon(elsewhere([&] {
        error_code of_other;
        held.unlock(of_other);
        EXPECT_FALSE(of_other);
    }));
    EXPECT_TRUE(is_free("stock"));
}

// The locks stand where std's do.

template <typename Lock>
class StdLocks : public in_real_time {
protected:
    Lock stock{alice, "stock"}, shelf{alice, "shelf"};
    Lock bobs{bob, "stock"}, bobs_shelf{bob, "shelf"};
};

using locks = testing::Types<mutex, recursive_mutex>;
TYPED_TEST_SUITE(StdLocks, locks);

TYPED_TEST(StdLocks, LockGuard) {
    {
        const std::lock_guard held{this->stock};
        EXPECT_TRUE(this->stock.is_held_by_this_thread());
        EXPECT_FALSE(this->bobs.try_lock());
    }
    EXPECT_TRUE(this->is_free("stock"));
}

TYPED_TEST(StdLocks, ScopedLockOfTwo) {
    {
        const std::scoped_lock held{this->stock, this->shelf};
        EXPECT_FALSE(this->is_free("stock"));
        EXPECT_FALSE(this->is_free("shelf"));
    }
    EXPECT_EQ(held_count(this->server), 0u);
}

TYPED_TEST(StdLocks, UniqueLockTriesAndDefers) {
    std::unique_lock mine{this->stock, std::defer_lock};
    EXPECT_FALSE(mine.owns_lock());
    mine.lock();
    EXPECT_TRUE(mine.owns_lock());
    const std::unique_lock his{this->bobs, std::try_to_lock};
    EXPECT_FALSE(his.owns_lock());
    mine.unlock();
    EXPECT_TRUE(mine.try_lock());
}

TYPED_TEST(StdLocks, UniqueLockWaitsForATimeAndUntilAMoment) {
    const std::unique_lock mine{this->stock, 10s};
    EXPECT_TRUE(mine.owns_lock());
    const std::unique_lock his{this->bobs, 5ms};
    EXPECT_FALSE(his.owns_lock());
    const std::unique_lock until{this->bobs, std::chrono::steady_clock::now() + 5ms};
    EXPECT_FALSE(until.owns_lock());
    const std::unique_lock by_date{this->bobs, std::chrono::system_clock::now() + 5ms};
    EXPECT_FALSE(by_date.owns_lock());
    std::unique_lock past{this->bobs, std::defer_lock};
    EXPECT_FALSE(past.try_lock_for(-1h));
    EXPECT_FALSE(past.try_lock_until(std::chrono::steady_clock::now() - 1h));
}

TYPED_TEST(StdLocks, UniqueLockMovesWithinItsThread) {
    std::unique_lock first{this->stock};
    std::unique_lock second = std::move(first);
    EXPECT_FALSE(first.owns_lock());
    second.unlock();
    EXPECT_TRUE(this->is_free("stock"));
}

TYPED_TEST(StdLocks, LockOfTwoInEitherOrderNeverDeadlocks) {
    constexpr int rounds = 50;
    int inside = 0, entered = 0;
    const auto work = [&](auto& first, auto& second) {
        for (int i = 0; i < rounds; ++i) {
            std::lock(first, second);
            EXPECT_EQ(++inside, 1);
            ++entered;
            --inside;
            first.unlock();
            second.unlock();
        }
    };
    auto one = elsewhere([&] { work(this->stock, this->shelf); });
    auto two = elsewhere([&] { work(this->bobs_shelf, this->bobs); });
    soon(std::move(one));
    soon(std::move(two));
    EXPECT_EQ(entered, 2 * rounds);
    EXPECT_EQ(held_count(this->server), 0u);
}

TYPED_TEST(StdLocks, TryLockOfTwoTakesBothOrNone) {
    this->server.occupy("shelf", 1h);
    EXPECT_EQ(std::try_lock(this->stock, this->shelf), 1);
    EXPECT_TRUE(this->is_free("stock"));
    this->server.vacate("shelf");
    EXPECT_EQ(std::try_lock(this->stock, this->shelf), -1);
    this->stock.unlock();
    this->shelf.unlock();
}

TYPED_TEST(StdLocks, AConditionVariableLetsGoOfThemWhileItWaits) {
    std::condition_variable_any changed;
    bool ready = false;
    auto producer = elsewhere([&] {
        const std::lock_guard held{this->stock};
        ready = true;
        changed.notify_one();
    });
    std::unique_lock held{this->stock};
    EXPECT_TRUE(changed.wait_for(held, support::far_too_long, [&] { return ready; }));
    EXPECT_TRUE(this->stock.is_held_by_this_thread());
    held.unlock();
    soon(std::move(producer));
}

TYPED_TEST(StdLocks, ThreadsOfOneClientExcludeEachOther) {
    constexpr int threads = 8, rounds = 50;
    int inside = 0, entered = 0;
    std::vector<std::future<void>> all;
    for (int i = 0; i < threads; ++i)
        all.push_back(elsewhere([&] {
            for (int round = 0; round < rounds; ++round) {
                const std::scoped_lock held{this->stock};
                EXPECT_EQ(++inside, 1);
                ++entered;
                --inside;
            }
        }));
    for (auto& each : all)
        soon(std::move(each));
    EXPECT_EQ(entered, threads * rounds);
}

// Set-up of a store before the first lock: `client::set_up()`.

/// The memory server, with one table to make.
class store_with_a_table final : public store {
public:
    store_with_a_table(std::unique_ptr<store> real, bool may_make)
        : real_{std::move(real)}
        , may_make_{may_make} {}

    lock_store& locks() noexcept override { return real_->locks(); }
    inspector& operators_view() noexcept override { return real_->operators_view(); }
    asio::awaitable<std::vector<finding>> examine(ask trial) override {
        return real_->examine(std::move(trial));
    }
    asio::awaitable<std::vector<finding>> set_up() override {
        if (!may_make_)
            throw boost::system::system_error{make_error_code(store_errc::no_permission),
                                              "GRANT CREATE is missing"};
        std::vector<finding> made;
        made.push_back({severity::fine, "tables", is_made_ ? "is there" : "made", ""});
        is_made_ = true;
        co_return made;
    }
    void close() noexcept override { real_->close(); }

private:
    std::unique_ptr<store> real_;
    bool may_make_;
    bool is_made_ = false;
};

class SetUp : public in_real_time {
protected:
    client with_a_table(bool may_make) {
        options how;
        how.store = [real = server.connect(), may_make](store_context context) {
            return std::make_unique<store_with_a_table>(real(std::move(context)), may_make);
        };
        return client{std::move(how)};
    }
};

TEST_F(SetUp, SaysWhatWasMadeAndWhatWasThere) {
    client home = with_a_table(true);
    const diagnosis made = home.set_up();
    ASSERT_EQ(made.findings.size(), 1u);
    EXPECT_EQ(made.findings[0].what, "made");
    const diagnosis again = home.async_set_up(asio::use_future).get();
    ASSERT_EQ(again.findings.size(), 1u);
    EXPECT_EQ(again.findings[0].what, "is there");
}

TEST_F(SetUp, IsRefusedByAStoreThatNeedsNone) {
    const auto refused = thrown_by([&] { alice.set_up(); });
    EXPECT_EQ(refused.code, errc::invalid_argument);
    EXPECT_THAT(refused.text, HasSubstr("needs no set-up"));
    const auto later = thrown_by([&] { alice.async_set_up(asio::use_future).get(); });
    EXPECT_EQ(later.code, errc::invalid_argument);
}

TEST_F(SetUp, ThatTheStoreRefusesIsThrown) {
    client home = with_a_table(false);
    const auto refused = thrown_by([&] { home.set_up(); });
    EXPECT_EQ(refused.code, errc::refused);
    EXPECT_THAT(refused.text, HasSubstr("GRANT CREATE"));
}

TEST_F(SetUp, FailsOnAClosedClient) {
    alice.close();
    EXPECT_EQ(thrown_by([&] { alice.set_up(); }).code, errc::closed);
}

// A thread that ends while it has a shared hold, beside threads of the same client that go on.

/// Thread that locks something, and ends when it is told to, at the latest with this object. A
/// std::thread would end the program if the test left early.
class thread_until_told {
public:
    /// Returns when the thread has counted down the first latch. The thread waits for the second.
    template <typename Work>
    explicit thread_until_told(Work work)
        : thread_{[this, work] { work(locked_, may_end_); }} {
        locked_.wait();
    }
    thread_until_told(const thread_until_told&) = delete;
    ~thread_until_told() { end(); }

    void end() {
        if (!thread_.joinable())
            return;
        may_end_.count_down();
        thread_.join();
    }

private:
    std::latch locked_{1}, may_end_{1};
    std::thread thread_;
};

class ThreadEndsWithSharedHold : public in_real_time {
protected:
    // Long enough that a second reader always shares the hold of the first one.
    client home{options{.store = server.connect(sent.as_faults()),
                        .lease_time = 6s,
                        .close_timeout = 0ms,
                        .poll_bound = 20ms,
                        .hand_off = {.within = 1h},
                        .observer = ear}};
    shared_mutex stock{home, "stock"};

    std::size_t count_wire_holds() const { return inspect(server, "stock")->owners.size(); }
};

TEST_F(ThreadEndsWithSharedHold, UpgradeOfAnotherThreadIsGranted) {
    stock.lock_shared();
    std::thread{[&] { stock.lock_shared(); }}.join();
    ASSERT_TRUE(stock.try_upgrade_for(support::far_too_long));
    stock.unlock();
    stock.unlock_shared();
}

TEST_F(ThreadEndsWithSharedHold, UpgradeThatWaitsForItIsGranted) {
    stock.lock_shared();
    thread_until_told ends{[&](std::latch& shared, std::latch& may_end) {
        stock.lock_shared();
        shared.count_down();
        may_end.wait();
    }};
    EXPECT_FALSE(stock.try_upgrade_for(0ms)) << "the other thread still reads";
    ends.end();
    EXPECT_TRUE(stock.try_upgrade_for(support::far_too_long));
    stock.unlock();
    stock.unlock_shared();
}

TEST_F(ThreadEndsWithSharedHold, UpgradeIsGrantedWhenAWireHoldOfItsOwnHasExpired) {
    client alone{options{.store = server.connect(),
                         .lease_time = 4500ms,
                         .close_timeout = 0ms,
                         .poll_bound = 20ms,
                         .hand_off = {.within = 0ms}}};
    shared_mutex shelf{alone, "shelf"};
    shelf.lock_shared();
    std::thread{[&] { shelf.lock_shared(); }}.join();
    EXPECT_TRUE(shelf.try_upgrade_for(support::far_too_long));
    shelf.unlock();
    shelf.unlock_shared();
}

/// Locks `what` by an object that is destroyed after the library has noticed the end of the thread.
template <typename Lock, typename Mutex>
void lock_until_even_later(Mutex& what, std::latch& locked, std::latch& may_end) {
    thread_local Lock held; // made before the thread holds anything, so it is destroyed last
    held = Lock{what};
    locked.count_down();
    may_end.wait();
}

TEST_F(ThreadEndsWithSharedHold, ThreadLocalLockLeavesTheHoldOfALivingThreadAlone) {
    thread_until_told ends{[&](std::latch& locked, std::latch& may_end) {
        lock_until_even_later<std::shared_lock<shared_mutex>>(stock, locked, may_end);
    }};
    stock.lock_shared();
    ASSERT_EQ(count_wire_holds(), 1u) << "both threads shall share one hold";
    ends.end();
    const auto renewals = [this] { return sent.count(verb::renew); };
    const std::size_t before = renewals();
    EXPECT_TRUE(eventually([&] { return renewals() > before + 1; }))
        << "it is not renewed any more";
    EXPECT_TRUE(stock.shared().is_held_by_this_thread());
    EXPECT_EQ(ear->count(event_kind::abandoned), 0u);
    stock.unlock_shared();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(ThreadEndsWithSharedHold, ThreadLocalLockOfSeveralLeavesTheHoldOfALivingThreadAlone) {
    mutex shelf{home, "shelf"};
    multi_mutex both{stock.shared(), shelf};
    thread_until_told ends{[&](std::latch& locked, std::latch& may_end) {
        lock_until_even_later<std::unique_lock<multi_mutex>>(both, locked, may_end);
    }};
    stock.lock_shared();
    ends.end();
    EXPECT_TRUE(eventually([&] { return is_free("shelf"); }));
    const std::size_t before = sent.count(verb::renew);
    EXPECT_TRUE(eventually([&] { return sent.count(verb::renew) > before + 1; }));
    EXPECT_TRUE(stock.shared().is_held_by_this_thread());
    stock.unlock_shared();
    EXPECT_TRUE(eventually([&] { return is_free("stock"); }));
}

// Calls at a latch beside another thread of the same client that waits for it.

class LatchBesideAWaiter : public in_real_time {
protected:
    latch gate{alice, "gate"};
    std::thread waiter;

    /// A waiter that hears nothing of the opening, so that only its own poll could tell it.
    void begin_to_wait() {
        fate never_woken;
        never_woken.wake_up_lost = true;
        sent.set(never_woken);
        ASSERT_TRUE(gate.try_set_count(1));
        waiter = std::thread{[this] { gate.wait(); }};
        ASSERT_TRUE(
            eventually([this] { return counter(server, "gate") && sent.count(verb::count) > 1; }));
    }
    ~LatchBesideAWaiter() override {
        if (waiter.joinable())
            waiter.join();
    }
};

TEST_F(LatchBesideAWaiter, TryWaitSeesTheLatchThatThisThreadOpened) {
    begin_to_wait();
    EXPECT_FALSE(gate.try_wait());
    gate.count_down();
    EXPECT_TRUE(gate.try_wait());
}

TEST_F(LatchBesideAWaiter, WaitForSeesTheLatchThatThisThreadOpened) {
    begin_to_wait();
    EXPECT_FALSE(gate.wait_for(1ms));
    gate.count_down();
    EXPECT_TRUE(gate.wait_for(1ms));
}

// A call that waits does not return before its time is over: the machine's clock is rounded down.

using steady = std::chrono::steady_clock;

struct timed_verb {
    std::string name;
    std::function<bool(client&, std::chrono::microseconds)> wait;
};

class Timeout : public testing::TestWithParam<timed_verb> {
protected:
    memory::server server;
    client home{options{.store = server.connect()}};
};

TEST_P(Timeout, IsNeverOverTooEarly) {
    server.occupy("stock", 1h);
    server.occupy("token", 1h, lock_kind::token);
    server.occupy("written", 1h, lock_kind::write);
    server.occupy("read", 1h, lock_kind::read);
    shared_mutex read{home, "read"};
    const std::shared_lock<shared_mutex> beside_the_other_reader{read};
    (void)latch{home, "gate"}.try_set_count(1);
    rate_limiter rate{home, "rate"};
    (void)rate.try_set_rate({.permits = 1, .per = 1h});
    rate.acquire();
    for (const std::chrono::microseconds timeout : {1us, 900us, 1'000us, 1'500us, 3'000us})
        for (int i = 0; i < 20; ++i) {
            const steady::time_point began = steady::now();
            EXPECT_FALSE(GetParam().wait(home, timeout));
            EXPECT_GE(steady::now() - began, timeout);
        }
}

INSTANTIATE_TEST_SUITE_P(
    Each, Timeout,
    testing::Values(
        timed_verb{"TryLockFor",
                   [](client& c, auto p) {
                       return mutex{c, "stock"}.try_lock_for(p);
                   }},
        timed_verb{"TryLockUntil",
                   [](client& c, auto p) {
                       return mutex{c, "stock"}.try_lock_until(steady::now() + p);
                   }},
        timed_verb{"AsyncTryLockFor",
                   [](client& c, auto p) {
                       mutex lock{c, "stock"};
                       return lock.async_try_lock_for(p, asio::use_future).get().has_value();
                   }},
        timed_verb{"TryAcquireFor",
                   [](client& c, auto p) {
                       return counting_semaphore{c, "none"}.try_acquire_for(p);
                   }},
        timed_verb{"LeasedTryAcquireFor",
                   [](client& c, auto p) {
                       return leased_semaphore{c, "none"}.try_acquire_for(p).has_value();
                   }},
        timed_verb{"TokenTryLockFor",
                   [](client& c, auto p) {
                       return token_mutex{c, "token"}.try_lock_for(p);
                   }},
        timed_verb{"SpinTryLockFor",
                   [](client& c, auto p) {
                       return spin_mutex{c, "stock"}.try_lock_for(p);
                   }},
        timed_verb{"FairTryLockFor",
                   [](client& c, auto p) {
                       return fair_mutex{c, "stock"}.try_lock_for(p);
                   }},
        timed_verb{"TryLockSharedFor",
                   [](client& c, auto p) {
                       return shared_mutex{c, "written"}.try_lock_shared_for(p);
                   }},
        timed_verb{"TryLockSharedUntil",
                   [](client& c, auto p) {
                       return shared_mutex{c, "written"}.try_lock_shared_until(steady::now() + p);
                   }},
        timed_verb{"TryUpgradeFor",
                   [](client& c, auto p) {
                       return shared_mutex{c, "read"}.try_upgrade_for(p);
                   }},
        timed_verb{"QuorumTryLockFor",
                   [](client& c, auto p) {
                       return quorum_mutex{quorum_mutex::nodes{c}, "stock"}.try_lock_for(p);
                   }},
        timed_verb{"RateTryAcquireFor",
                   [](client& c, auto p) {
                       return rate_limiter{c, "rate"}.try_acquire_for(p);
                   }},
        timed_verb{"LatchWaitFor",
                   [](client& c, auto p) {
                       return latch{c, "gate"}.wait_for(p);
                   }},
        timed_verb{"MultiTryLockFor",
                   [](client& c, auto p) {
                       mutex a{c, "stock"}, b{c, "free"};
                       multi_mutex both{a, b};
                       return both.try_lock_for(p);
                   }},
        timed_verb{"WaitFree", [](client& c, auto p) { return c.wait_free("stock", p); }}),
    [](const auto& which) { return which.param.name; });

} // namespace
} // namespace holdfast
