// SPDX-License-Identifier: Apache-2.0
// Whatever clients do goes on while the Sentinels appoint another primary: nothing fails, and
// nobody is forgotten.
#include "sentinel/with_sentinels.hpp"

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::thrown_by;

class ThroughFailover : public with_sentinels {
protected:
    /// Threads that do something again and again, until the object goes. What they do must not
    /// fail.
    class workers {
    public:
        ~workers() { stop(); }
        void add(std::function<void()> work) {
            rounds_.push_back(std::make_unique<std::atomic<int>>(0));
            threads_.emplace_back([this, work = std::move(work), &mine = *rounds_.back()] {
                while (!stopped_) {
                    const auto why = thrown_by(work);
                    EXPECT_FALSE(why.code) << why.text;
                    ++mine;
                }
            });
        }
        /// Each of them has begun and ended another round.
        [[nodiscard]] bool go_on() const {
            std::vector<int> before;
            for (const auto& each : rounds_)
                before.push_back(*each);
            return eventually([&] {
                for (std::size_t i = 0; i < before.size(); ++i)
                    if (*rounds_[i] < before[i] + 2)
                        return false;
                return true;
            });
        }
        void stop() {
            stopped_ = true;
            for (std::thread& each : threads_)
                each.join();
            threads_.clear();
        }

    private:
        std::atomic<bool> stopped_ = false;
        std::vector<std::unique_ptr<std::atomic<int>>> rounds_;
        std::vector<std::thread> threads_;
    };

    /// Everything that the servers are asked for.
    void use_all(workers& all, client& home, client& other) {
        for (client* const each : {&home, &other}) {
            all.add([each] {
                mutex lock{*each, "L"};
                const std::scoped_lock held{lock};
            });
            all.add([each] { soon(mutex{*each, "L"}.async_lock(asio::use_future)).unlock(); });
            all.add([each] {
                fair_mutex lock{*each, "F"};
                const std::scoped_lock held{lock};
            });
            all.add([each] {
                shared_mutex lock{*each, "R"};
                lock.lock_shared();
                lock.unlock_shared();
            });
        }
        all.add([&home] {
            shared_mutex lock{home, "R"};
            const std::scoped_lock held{lock};
        });
        all.add([&home] { counting_semaphore{home, "S"}.release(); });
        all.add([&other] { counting_semaphore{other, "S"}.acquire(); });
        all.add([&home] { (void)rate_limiter{home, "Q"}.try_acquire(); });
    }
};
HOLDFAST_ON_EACH_SERVER(ThroughFailover);

TEST_P(ThroughFailover, EverythingGoesOnWhenItIsOrdered) {
    client home{how()}, other{how()};
    rate_limiter{home, "Q"}.set_rate({.permits = 1000, .per = 1s});
    await_replicas();
    workers all;
    use_all(all, home, other);
    ASSERT_TRUE(all.go_on());
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved, 2));
    EXPECT_TRUE(all.go_on());
}

TEST_P(ThroughFailover, EverythingGoesOnWhenThePrimaryIsKilled) {
    client home{how()}, other{how()};
    rate_limiter{home, "Q"}.set_rate({.permits = 1000, .per = 1s});
    await_replicas();
    workers all;
    use_all(all, home, other);
    ASSERT_TRUE(all.go_on());
    servers().primary().stop();
    ASSERT_TRUE(told(event_kind::moved, 2));
    EXPECT_TRUE(all.go_on());
}

TEST_P(ThroughFailover, HoldsOfEachKindAreKeptRenewedAndReleased) {
    holdfast::options brief = how();
    brief.lease_time = 6s;
    client home{brief};
    ASSERT_TRUE((leased_semaphore{home, "P"}.try_set_permits(2)));
    mutex plain{home, "plain"};
    fenced_mutex fenced{home, "fenced"};
    fair_mutex fair{home, "fair"};
    shared_mutex shared{home, "shared"};
    token_mutex token{home, "token"};
    leased_semaphore seats{home, "P"};
    std::vector<lease> all;
    all.push_back(soon(plain.async_lock(asio::use_future)));
    all.push_back(soon(fenced.async_lock(asio::use_future)));
    all.push_back(soon(fair.async_lock(asio::use_future)));
    all.push_back(soon(shared.async_lock_shared(asio::use_future)));
    all.push_back(soon(token.async_lock(asio::use_future)));
    all.push_back(seats.acquire());
    await_replicas();
    std::vector<decltype(end_of(all.front()))> ends;
    for (const lease& each : all)
        ends.push_back(end_of(each));
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved));
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_TRUE(eventually([&] { return end_of(all[i]) > ends[i] + 300ms; })) << i;
    EXPECT_EQ(told_->count(event_kind::lost), 0u);
    for (lease& each : all)
        each.unlock();
    for (const char* const name : {"plain", "fenced", "fair", "shared", "token"})
        EXPECT_TRUE(eventually([&] { return !is_at_primary(name); })) << name;
}

TEST_P(ThroughFailover, WaitersOfEachKindAreServedByAReleaseAfterIt) {
    client home{how()}, other{how()};
    mutex plain{home, "plain"}, others_plain{other, "plain"};
    fair_mutex fair{home, "fair"}, others_fair{other, "fair"};
    latch gate{home, "gate"}, others_gate{other, "gate"};
    counting_semaphore seats{home, "seats"}, others_seats{other, "seats"};
    lease first = soon(plain.async_lock(asio::use_future));
    lease second = soon(fair.async_lock(asio::use_future));
    ASSERT_TRUE(gate.try_set_count(1));
    ASSERT_TRUE(seats.try_set_permits(0));
    std::vector<std::future<void>> waiting;
    waiting.push_back(std::async(std::launch::async, [&] { others_plain.lock(); }));
    waiting.push_back(std::async(std::launch::async, [&] { others_fair.lock(); }));
    waiting.push_back(std::async(std::launch::async, [&] { others_gate.wait(); }));
    waiting.push_back(std::async(std::launch::async, [&] { others_seats.acquire(); }));
    const auto all_listen = [&] {
        const auto channels = servers().primary().command({"PUBSUB", "CHANNELS"}).items.size();
        return channels >= waiting.size();
    };
    ASSERT_TRUE(eventually(all_listen));
    await_replicas();
    servers().failover();
    ASSERT_TRUE(eventually(all_listen));
    first.unlock();
    second.unlock();
    gate.count_down();
    seats.release();
    for (std::future<void>& each : waiting)
        EXPECT_NO_THROW(soon(std::move(each)));
}

TEST_P(ThroughFailover, AReleaseThatFindsNobodyIsRepeatedAtTheNewPrimary) {
    client home{how()};
    mutex lock{home, "L"};
    lease held = soon(lock.async_lock(asio::use_future));
    await_replicas();
    servers().primary().stop();
    held.unlock();
    ASSERT_TRUE(told(event_kind::moved));
    EXPECT_TRUE(eventually([&] { return !is_at_primary("L"); }));
    EXPECT_TRUE(told(event_kind::released));
}

TEST_P(ThroughFailover, WithRequiredReplicasTheHoldIsThereAndTheNextOneIsConfirmed) {
    holdfast::options safe = how();
    safe.required_replicas = 1;
    client home{safe}, other{safe};
    mutex lock{home, "held"}, theirs{other, "held"}, next{other, "next"};
    const lease held = soon(lock.async_lock(asio::use_future));
    servers().primary().stop();
    next.lock();
    EXPECT_TRUE(is_at_primary("next"));
    EXPECT_EQ(exists(servers().replica(), "next"), 1);
    next.unlock();
    EXPECT_FALSE(theirs.try_lock_for(10ms));
    EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(ThroughFailover, SeveralOfThemInARowAreFollowed) {
    client home{how()};
    mutex lock{home, "L"};
    const lease held = soon(mutex{home, "held"}.async_lock(asio::use_future));
    for (std::size_t i = 1; i <= 2; ++i) {
        await_replicas();
        servers().failover();
        ASSERT_TRUE(told(event_kind::moved, i));
        EXPECT_EQ(moved_to(), address_of(servers().primary()));
        const std::scoped_lock here{lock};
        EXPECT_TRUE(is_at_primary("L"));
        EXPECT_TRUE(eventually([&] { return is_at_primary("held"); }));
    }
    EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(ThroughFailover, TheEndOfAClientWaitsForNoneOfThemWhenAllAreDown) {
    holdfast::options patient = how();
    patient.unavailable_patience = 24h;
    patient.close_patience = 0ms;
    auto home = std::make_unique<client>(patient);
    mutex lock{*home, "L"};
    lock.lock();
    for (const std::size_t each : {0U, 1U, 2U}) {
        servers().server(each).stop();
        servers().sentinel(each).stop();
    }
    auto waiting = std::async(std::launch::async, [&] {
        return thrown_by([&] { mutex{*home, "other"}.lock(); });
    });
    ASSERT_TRUE(told(event_kind::disconnected));
    home->close();
    EXPECT_EQ(soon(std::move(waiting)).code, errc::closed);
    soon(std::async(std::launch::async, [&] { home.reset(); }));
}

TEST_P(ThroughFailover, AForkedProcessHasNothingAndDisturbsNobody) {
    client home{how()};
    mutex lock{home, "L"};
    const lease held = soon(mutex{home, "held"}.async_lock(asio::use_future));
    await_replicas();
    const pid_t child = ::fork();
    if (child == 0) {
        const bool is_forked = thrown_by([&] { lock.lock(); }).code == errc::forked;
        ::_exit(is_forked ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved));
    const std::scoped_lock here{lock};
    EXPECT_TRUE(is_at_primary("L"));
    EXPECT_FALSE(held.lost().stop_requested());
}

} // namespace
} // namespace holdfast
