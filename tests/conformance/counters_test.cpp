// SPDX-License-Identifier: Apache-2.0
// The contract of counting_semaphore and latch, and what `client::list()` finds of counters, on
// every store.
#include "conformance/suite.hpp"
#include "support/recorder.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::conformance {
namespace {

// The contract of counting_semaphore, on every store.

using support::code_of;
using support::soon;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Semaphore : public suite {
protected:
    bool somebody_listens() {
        return support::eventually([&] { return store().listeners() > 0; });
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(Semaphore, counter_kind::semaphore);

TEST_P(Semaphore, HasAsManyPermitsAsWereSet) {
    client home = make_client();
    counting_semaphore seats{home, "seats"};
    EXPECT_EQ(seats.available_permits(), 0);
    EXPECT_FALSE(seats.try_acquire());
    EXPECT_TRUE(seats.try_set_permits(3));
    EXPECT_FALSE(seats.try_set_permits(5));
    EXPECT_TRUE(seats.try_acquire(2));
    EXPECT_FALSE(seats.try_acquire(2));
    EXPECT_EQ(seats.available_permits(), 1);
    EXPECT_EQ(store().counter("seats"), 1);
    seats.release(2);
    EXPECT_EQ(seats.available_permits(), 3);
    EXPECT_EQ(seats.drain_permits(), 3);
    EXPECT_EQ(seats.drain_permits(), 0);
    seats.add_permits(4);
    seats.add_permits(-5);
    EXPECT_EQ(seats.available_permits(), -1);
    EXPECT_TRUE(seats.release_if_exists());
    EXPECT_TRUE(seats.erase());
    EXPECT_FALSE(seats.erase());
    EXPECT_FALSE(seats.release_if_exists());
    EXPECT_EQ(store().counter("seats"), std::nullopt);
}

TEST_P(Semaphore, NothingIsHadAndGivenBackWithoutAMessage) {
    client home = make_client();
    counting_semaphore seats{home, "seats"};
    const std::size_t sent = requests_during([&] {
        seats.acquire(0);
        EXPECT_TRUE(seats.try_acquire(0));
        EXPECT_TRUE(soon(seats.async_try_acquire(0, asio::use_future)));
        seats.release(0);
        EXPECT_FALSE(seats.release_if_exists(0));
        seats.add_permits(0);
    });
    EXPECT_EQ(sent, 0u);
}

TEST_P(Semaphore, RefusesAmountsThatCannotBe) {
    client home = make_client();
    counting_semaphore seats{home, "seats"};
    constexpr std::int64_t too_many = counting_semaphore::max() + 1;
    const std::size_t sent = requests_during([&] {
        for (const std::int64_t wrong : {std::int64_t{-1}, too_many}) {
            EXPECT_EQ(code_of([&] { seats.acquire(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { (void)seats.try_acquire(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { seats.release(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { (void)seats.try_set_permits(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { soon(seats.async_release(wrong, asio::use_future)); }),
                      errc::invalid_argument);
            EXPECT_EQ(code_of([&] { soon(seats.async_acquire(wrong, asio::use_future)); }),
                      errc::invalid_argument);
        }
        EXPECT_EQ(code_of([&] { seats.add_permits(-too_many); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { (void)seats.try_set_permits(1, 0ms); }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] { counting_semaphore{home, ""}; }), errc::invalid_argument);
        EXPECT_EQ(code_of([&] {
                      counting_semaphore{home, "seats", {.most = -1}};
                  }),
                  errc::invalid_argument);
    });
    EXPECT_EQ(sent, 0u);
}

TEST_P(Semaphore, AReleaseBeyondTheBoundIsRefusedAndDoesNothing) {
    client home = make_client();
    counting_semaphore seats{home, "seats", {.most = 2}};
    seats.release(2);
    EXPECT_EQ(code_of([&] { seats.release(); }), errc::refused);
    EXPECT_EQ(code_of([&] { seats.add_permits(1); }), errc::refused);
    EXPECT_EQ(code_of([&] { seats.release_if_exists(); }), errc::refused);
    EXPECT_EQ(code_of([&] { soon(seats.async_release(1, asio::use_future)); }), errc::refused);
    EXPECT_EQ(store().counter("seats"), 2);
    counting_semaphore unbounded{home, "seats"};
    EXPECT_EQ(code_of([&] { unbounded.release(counting_semaphore::max()); }), errc::refused);
    EXPECT_EQ(store().counter("seats"), 2);
}

TEST_P(Semaphore, AWaiterIsWokenByAReleaseOfAnother) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    counting_semaphore wanted{home, "seats"}, given{other, "seats"};
    std::future<void> waiting = wanted.async_acquire(2, asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)wanted.available_permits(); // behind its second look
    given.release();
    EXPECT_FALSE(support::is_ready(waiting));
    given.release();
    soon(std::move(waiting));
    EXPECT_EQ(store().counter("seats"), 0);
}

TEST_P(Semaphore, AWaiterIsWokenByAStrangersRelease) {
    client home = make_client({.poll_bound = hardly_ever});
    counting_semaphore wanted{home, "seats"};
    std::future<void> waiting = wanted.async_acquire(1, asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)wanted.available_permits();
    store().stranger_adds("seats", 3);
    soon(std::move(waiting));
    EXPECT_EQ(store().counter("seats"), 2);
}

TEST_P(Semaphore, GivesUpInTimeAndTakesNothing) {
    client home = make_client();
    counting_semaphore seats{home, "seats"};
    EXPECT_FALSE(seats.try_acquire_for(30ms));
    EXPECT_FALSE(seats.try_acquire_until(std::chrono::steady_clock::now() + 30ms));
    EXPECT_FALSE(soon(seats.async_try_acquire_for(30ms, 1, asio::use_future)));
    seats.release();
    EXPECT_EQ(store().counter("seats"), 1);
}

TEST_P(Semaphore, ACancelledCallEndsAtOnce) {
    client home = make_client({.poll_bound = hardly_ever});
    counting_semaphore seats{home, "seats"};
    std::stop_source stop;
    auto waiting = std::async(std::launch::async,
                              [&] { return code_of([&] { seats.acquire(1, stop.get_token()); }); });
    ASSERT_TRUE(somebody_listens());
    stop.request_stop();
    EXPECT_EQ(soon(std::move(waiting)), asio::error::operation_aborted);
    seats.release();
    EXPECT_EQ(store().counter("seats"), 1);
}

TEST_P(Semaphore, WaitersOfAClientAreServedInOrder) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    counting_semaphore wanted{home, "seats"}, given{other, "seats"};
    std::future<void> many = wanted.async_acquire(3, asio::use_future);
    ASSERT_TRUE(somebody_listens());
    std::future<void> few = wanted.async_acquire(1, asio::use_future);
    (void)wanted.available_permits();
    given.release(2);
    EXPECT_FALSE(wanted.try_acquire()) << "it came later than two who wait";
    EXPECT_FALSE(support::is_ready(few));
    given.release(2);
    soon(std::move(many));
    soon(std::move(few));
    EXPECT_EQ(store().counter("seats"), 0);
}

TEST_P(Semaphore, AReleaseServesWaitersOfItsClientWithoutAMessage) {
    client home = make_client({.poll_bound = hardly_ever, .hand_off = {.within = 1h}});
    counting_semaphore seats{home, "seats"};
    ASSERT_TRUE(seats.try_set_permits(1));
    seats.acquire();
    const std::size_t asked = store().requests();
    std::future<void> waiting = seats.async_acquire(1, asio::use_future);
    // A waiter looks once before it listens and once after that.
    ASSERT_TRUE(support::eventually(
        [&] { return store().listeners() > 0 && store().requests() >= asked + 2; }));
    const std::size_t sent = requests_during([&] {
        seats.release();
        soon(std::move(waiting));
    });
    EXPECT_EQ(sent, 0u);
    EXPECT_EQ(store().counter("seats"), 0);
    seats.release();
    EXPECT_EQ(store().counter("seats"), 1);
}

TEST_P(Semaphore, AReleaseWhoseAnswerIsLostCountsOnce) {
    options how;
    store().reach_badly(how);
    client home{std::move(how)};
    counting_semaphore seats{home, "seats"};
    seats.release();
    store().lose_answer_about("seats");
    seats.release();
    EXPECT_EQ(store().counter("seats"), 2);
    store().lose_answer_about("seats");
    seats.acquire();
    EXPECT_EQ(store().counter("seats"), 1);
    store().lose_answer_about("seats");
    EXPECT_EQ(seats.drain_permits(), 1);
    EXPECT_EQ(store().counter("seats"), 0);
    store().lose_answer_about("seats");
    EXPECT_TRUE(seats.erase());
    store().lose_answer_about("seats");
    EXPECT_TRUE(seats.try_set_permits(7));
    EXPECT_EQ(store().counter("seats"), 7);
}

TEST_P(Semaphore, KeepsTheTimeForWhichItIsKept) {
    moving_client home{store(), {}};
    counting_semaphore seats{home.get(), "seats"};
    EXPECT_TRUE(seats.try_set_permits(5, 20s));
    seats.release(2);
    EXPECT_EQ(seats.drain_permits(), 7);
    home.pass(20s + 10ms);
    EXPECT_EQ(store().counter("seats"), std::nullopt);
}

TEST_P(Semaphore, FailsWhereSomethingElseHasTheName) {
    client home = make_client();
    counting_semaphore seats{home, "seats"};
    if (!store().put_something_else("seats"))
        GTEST_SKIP() << "this store holds nothing but locks";
    EXPECT_EQ(code_of([&] { (void)seats.try_acquire(); }), errc::refused);
    EXPECT_EQ(code_of([&] { seats.release(); }), errc::refused);
    EXPECT_EQ(code_of([&] { (void)seats.available_permits(); }), errc::refused);
}

TEST_P(Semaphore, AClosedClientEndsItsWaiters) {
    client home = make_client({.poll_bound = hardly_ever});
    counting_semaphore seats{home, "seats"};
    std::future<void> waiting = seats.async_acquire(1, asio::use_future);
    ASSERT_TRUE(somebody_listens());
    home.close();
    EXPECT_EQ(code_of([&] { soon(std::move(waiting)); }), errc::closed);
    EXPECT_EQ(code_of([&] { seats.release(); }), errc::closed);
    EXPECT_EQ(code_of([&] { soon(seats.async_release(1, asio::use_future)); }), errc::closed);
}

TEST_P(Semaphore, LetsInNoMoreThanItHas) {
    client home = make_client(), other = make_client();
    counting_semaphore here{home, "seats"}, there{other, "seats"};
    ASSERT_TRUE(here.try_set_permits(3));
    std::atomic<int> inside = 0, most = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < 8; ++i)
        all.emplace_back([&, i] {
            counting_semaphore& seats = i % 2 == 0 ? here : there;
            for (int turn = 0; turn < scaled(30, 300); ++turn) {
                seats.acquire();
                const int now = ++inside;
                for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                }
                --inside;
                seats.release();
            }
        });
    for (std::thread& each : all)
        each.join();
    EXPECT_LE(most, 3);
    // If a poll took permits for a caller that had been served in the meantime, the client gives
    // them back in the background.
    EXPECT_TRUE(support::eventually([&] { return store().counter("seats") == 3; }));
}

// The contract of latch, on every store.

class Latch : public suite {
protected:
    bool somebody_listens() {
        return support::eventually([&] { return store().listeners() > 0; });
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(Latch, counter_kind::latch);

TEST_P(Latch, IsOpenUntilItIsSetAndWhenItWasCountedDown) {
    client home = make_client();
    latch ready{home, "ready"};
    EXPECT_TRUE(ready.try_wait());
    EXPECT_EQ(ready.count(), 0);
    EXPECT_TRUE(ready.try_set_count(3));
    EXPECT_FALSE(ready.try_set_count(4));
    EXPECT_FALSE(ready.try_wait());
    EXPECT_TRUE(ready.count_down());
    EXPECT_EQ(ready.count(), 2);
    EXPECT_EQ(store().counter("ready"), 2);
    ready.count_down(5);
    EXPECT_TRUE(ready.try_wait());
    EXPECT_EQ(store().counter("ready"), std::nullopt);
    ready.count_down();
    EXPECT_EQ(ready.count(), 0);
    EXPECT_TRUE(ready.try_set_count(1));
    ready.arrive_and_wait();
    EXPECT_FALSE(ready.erase());
}

TEST_P(Latch, CountDownReturnsFalseOnlyIfTheLatchIsOpen) {
    client home = make_client();
    latch ready{home, "ready"};
    EXPECT_FALSE(ready.count_down());
    ready.try_set_count(4);
    EXPECT_TRUE(ready.count_down()); // the latch stays closed
    EXPECT_TRUE(soon(ready.async_count_down(1, asio::use_future)));
    EXPECT_TRUE(ready.count_down(5)); // the latch opens
    EXPECT_FALSE(ready.count_down());
    EXPECT_FALSE(soon(ready.async_count_down(1, asio::use_future)));
}

TEST_P(Latch, RefusesCountsThatCannotBe) {
    client home = make_client();
    latch ready{home, "ready"};
    const std::size_t sent = requests_during([&] {
        for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{0}, latch::max() + 1}) {
            EXPECT_EQ(code_of([&] { (void)ready.try_set_count(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { ready.count_down(wrong); }), errc::invalid_argument);
            EXPECT_EQ(code_of([&] { soon(ready.async_count_down(wrong, asio::use_future)); }),
                      errc::invalid_argument);
        }
        EXPECT_EQ(code_of([&] { latch{home, ""}; }), errc::invalid_argument);
    });
    EXPECT_EQ(sent, 0u);
}

TEST_P(Latch, AllWhoWaitAreLetThrough) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    latch wanted{home, "ready"}, counted{other, "ready"};
    ASSERT_TRUE(counted.try_set_count(2));
    std::vector<std::future<void>> waiting;
    for (int i = 0; i < 10; ++i)
        waiting.push_back(wanted.async_wait(asio::use_future));
    ASSERT_TRUE(somebody_listens());
    (void)wanted.count(); // behind its second look
    counted.count_down();
    EXPECT_FALSE(support::is_ready(waiting.front()));
    counted.count_down();
    for (std::future<void>& each : waiting)
        soon(std::move(each));
}

TEST_P(Latch, AStrangerOpensIt) {
    client home = make_client({.poll_bound = hardly_ever});
    latch ready{home, "ready"};
    ASSERT_TRUE(ready.try_set_count(1));
    std::future<void> waiting = ready.async_wait(asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)ready.count();
    store().stranger_counts_down("ready");
    soon(std::move(waiting));
}

TEST_P(Latch, ErasingItLetsThroughWhoWaits) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    latch wanted{home, "ready"}, erased{other, "ready"};
    ASSERT_TRUE(erased.try_set_count(1));
    std::future<void> waiting = wanted.async_wait(asio::use_future);
    ASSERT_TRUE(somebody_listens());
    (void)wanted.count();
    EXPECT_TRUE(erased.erase());
    soon(std::move(waiting));
}

TEST_P(Latch, GivesUpInTime) {
    client home = make_client();
    latch ready{home, "ready"};
    ASSERT_TRUE(ready.try_set_count(1));
    EXPECT_FALSE(ready.wait_for(30ms));
    EXPECT_FALSE(ready.wait_until(std::chrono::steady_clock::now() + 30ms));
    EXPECT_FALSE(soon(ready.async_wait_for(30ms, asio::use_future)));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(code_of([&] { ready.wait(stop.get_token()); }), asio::error::operation_aborted);
}

TEST_P(Latch, ACountDownWhoseAnswerIsLostCountsOnce) {
    options how;
    store().reach_badly(how);
    client home{std::move(how)};
    latch ready{home, "ready"};
    store().lose_answer_about("ready");
    EXPECT_TRUE(ready.try_set_count(3));
    store().lose_answer_about("ready");
    ready.count_down();
    EXPECT_EQ(store().counter("ready"), 2);
    ready.count_down(2);
    EXPECT_EQ(store().counter("ready"), std::nullopt);
}

TEST_P(Latch, AClosedClientEndsItsWaiters) {
    client home = make_client({.poll_bound = hardly_ever});
    latch ready{home, "ready"};
    ASSERT_TRUE(ready.try_set_count(1));
    std::future<void> waiting = ready.async_wait(asio::use_future);
    ASSERT_TRUE(somebody_listens());
    home.close();
    EXPECT_EQ(code_of([&] { soon(std::move(waiting)); }), errc::closed);
}

// Counters in the result of `client::list()`, on every store.

class CounterList : public suite {
protected:
    void SetUp() override {
        if (GetParam().label.ends_with("-acl"))
            GTEST_SKIP() << "an operator's rights are tried in tests/redis/acl_test.cpp";
        suite::SetUp();
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(CounterList, counter_kind::rate, counter_kind::semaphore,
                                counter_kind::permits);

TEST_P(CounterList, HasThoseOfOneKind) {
    client home = make_client();
    for (const char* const name : {"mails", "calls", "other"})
        rate_limiter{home, name}.set_rate({.permits = 3, .per = 1h});
    counting_semaphore{home, "seats"}.add_permits(2);
    const counter_list all = home.list(counter_kind::rate);
    ASSERT_EQ(all.counters.size(), 3u);
    EXPECT_TRUE(all.complete);
    EXPECT_EQ(all.counters[0].name, "calls");
    EXPECT_EQ(all.counters[0].state.of.per, 1h);
    EXPECT_EQ(home.list(counter_kind::rate, "*ls").counters.size(), 2u);
    EXPECT_FALSE(home.list(counter_kind::rate, "*", 1).complete);
    const counter_list numbers = home.list(counter_kind::semaphore);
    ASSERT_EQ(numbers.counters.size(), 1u);
    EXPECT_EQ(numbers.counters[0].state.value, 2);
    EXPECT_TRUE(home.list(counter_kind::permits).counters.empty());
    leased_semaphore leases{home, "leases"};
    leases.set_permits(2);
    const lease held = leases.acquire();
    const counter_list leased = home.list(counter_kind::permits);
    ASSERT_EQ(leased.counters.size(), 1u);
    EXPECT_EQ(leased.counters[0].state.taken, 1);
}

class PermitList : public CounterList {
protected:
    static std::vector<std::string> names_in(const counter_list& all) {
        std::vector<std::string> names;
        for (const counter_list::entry& each : all.counters)
            names.push_back(each.name);
        return names;
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(PermitList, counter_kind::permits);

TEST_P(PermitList, OmitsSemaphoresWithoutHeldPermits) {
    client home = make_client();
    leased_semaphore idle{home, "idle"}, used{home, "used"};
    idle.set_permits(2);
    used.set_permits(2);
    EXPECT_THAT(names_in(home.list(counter_kind::permits)), IsEmpty());
    lease held = used.acquire();
    EXPECT_THAT(names_in(home.list(counter_kind::permits)), ElementsAre("used"));
    EXPECT_TRUE(home.list(counter_kind::permits, "*", 1).complete);
    held.unlock();
    EXPECT_THAT(names_in(home.list(counter_kind::permits)), IsEmpty());
    EXPECT_TRUE(home.inspect("idle", counter_kind::permits).exists);
}

TEST_P(PermitList, OmitsSemaphoresWhosePermitsHaveExpired) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client();
    leased_semaphore seats{home, "seats"};
    seats.set_permits(1);
    store().stranger_takes_permit("seats", 10s);
    EXPECT_THAT(names_in(home.list(counter_kind::permits)), ElementsAre("seats"));
    store().pass(10s + 10ms);
    EXPECT_THAT(names_in(home.list(counter_kind::permits)), IsEmpty());
}

TEST_P(PermitList, HasTheNamesThatMatchThePattern) {
    client home = make_client();
    std::vector<lease> held;
    for (const char* const name : {"!", "a", "b", "\xc3\xa4"}) { // the last is a-umlaut
        leased_semaphore seats{home, name};
        seats.set_permits(1);
        held.push_back(seats.acquire());
    }
    EXPECT_THAT(names_in(home.list(counter_kind::permits, "[!a]")), ElementsAre("!", "b"));
    EXPECT_THAT(names_in(home.list(counter_kind::permits, "[^a]")), ElementsAre("!", "b"));
    EXPECT_THAT(names_in(home.list(counter_kind::permits, "?")), ElementsAre("!", "a", "b"));
}

// More changes of one counter at once than a client has request slots for.

class ManyChanges : public suite {};
HOLDFAST_ON_EACH_STORE_THAT_HAS(ManyChanges, counter_kind::semaphore);

TEST_P(ManyChanges, ReleasesAtOnceAreAllCarriedOut) {
    constexpr int releases = 2000; // a client on Redis has 1,024 request slots
    client home = make_client();
    counting_semaphore seats{home, "seats"};
    ASSERT_TRUE(seats.try_set_permits(0));
    std::vector<std::future<void>> all;
    for (int i = 0; i < releases; ++i)
        all.push_back(seats.async_release(1, asio::use_future));
    for (std::future<void>& each : all)
        EXPECT_NO_THROW(each.get());
    EXPECT_EQ(seats.available_permits(), releases);
}

} // namespace
} // namespace holdfast::conformance
