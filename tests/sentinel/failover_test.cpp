// SPDX-License-Identifier: Apache-2.0
// Holds, waits and releases while the Sentinels make another server the primary.
#include "sentinel/with_sentinels.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/redis_replicas.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::redis_sentinels;
using support::redis_server;

class SentinelFailover : public support::on_each_topology<redis_sentinels> {
protected:
    void SetUp() override {
        on_each_topology::SetUp();
        if (!IsSkipped())
            client_ = std::make_unique<client>(how());
    }

    holdfast::options how() {
        holdfast::options made;
        made.store = redis::make_store(servers().client_options());
        made.lease_time = 20s; // so that it outlives a failover on a busy machine
        made.observer = seen_;
        return made;
    }

    /// At the primary.
    std::int64_t listeners(const std::string& name) {
        const std::string channel = "redisson_lock__channel:{" + name + "}";
        return servers().primary().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer;
    }

    bool told(event_kind kind) {
        return eventually([&] { return seen_->count(kind) > 0; });
    }

    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
    std::unique_ptr<client> client_;
};
HOLDFAST_ON_EACH_SERVER(SentinelFailover);

TEST_P(SentinelFailover, AHoldIsKeptAndReleasedAtTheNewPrimary) {
    mutex lock{*client_, "kept"};
    lock.lock();
    ASSERT_EQ(servers().primary().command({"WAIT", "2", "5000"}).integer, 2);
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved));
    std::int64_t left = servers().primary().command({"PTTL", "kept"}).integer;
    EXPECT_TRUE(eventually([&] { // it is renewed
        const std::int64_t before =
            std::exchange(left, servers().primary().command({"PTTL", "kept"}).integer);
        return left > before;
    }));
    EXPECT_TRUE(lock.is_held_by_this_thread());
    error_code failed;
    lock.unlock(failed);
    EXPECT_FALSE(failed) << failed.message();
    EXPECT_EQ(servers().primary().command({"EXISTS", "kept"}).integer, 0);
}

TEST_P(SentinelFailover, AFreeLockIsGrantedWhenAPrimaryWasKilled) {
    mutex lock{*client_, "free"};
    { const std::scoped_lock before{lock}; }
    servers().primary().stop();
    lock.lock();
    EXPECT_EQ(servers().primary().command({"EXISTS", "free"}).integer, 1);
    lock.unlock();
    EXPECT_GE(seen_->count(event_kind::moved), 1u);
}

TEST_P(SentinelFailover, ForcedReleaseWaitsForTheNewPrimary) {
    mutex lock{*client_, "forced"};
    lock.lock();
    ASSERT_EQ(servers().primary().command({"WAIT", "2", "5000"}).integer, 2);
    client other{how()};
    const std::string owner = other.inspect({"forced"}).value().owners.at(0).text;
    servers().primary().stop();
    EXPECT_TRUE(other.force_unlock({"forced"}, owner));
    EXPECT_EQ(servers().primary().command({"EXISTS", "forced"}).integer, 0);
    error_code lost;
    lock.unlock(lost);
}

TEST_P(SentinelFailover, AWaiterIsServedByAReleaseAfterIt) {
    client other{how()};
    mutex theirs{other, "waited"}, ours{*client_, "waited"};
    theirs.lock();
    auto waiting = std::async(std::launch::async, [&] {
        ours.lock();
        ours.unlock();
    });
    ASSERT_TRUE(eventually([&] { return listeners("waited") == 1; }));
    servers().failover();
    ASSERT_TRUE(eventually([&] { return listeners("waited") == 1; }));
    theirs.unlock();
    waiting.get();
}

// Whatever clients do goes on while the Sentinels appoint another primary: nothing fails but what
// would count twice, or does not wait that long.

using support::soon;
using support::thrown_by;

/// Threads that do something again and again, until the object goes.
class workers {
public:
    ~workers() { stop(); }

    /// It must not fail.
    void add(std::string name, std::function<void()> work) {
        add_one(std::move(name), std::move(work), false);
    }
    /// It may fail where there is no primary for longer than it waits, and as not known: nobody
    /// sends twice what counts twice.
    void add_fallible(std::string name, std::function<void()> work) {
        add_one(std::move(name), std::move(work), true);
    }

    /// Each of them has begun another round, and ended it.
    void expect_all_go_on() const {
        for (const auto& each : all_)
            EXPECT_TRUE(eventually([&, before = each->rounds.load()] {
                return each->rounds >= before + 2;
            })) << each->name;
    }

private:
    struct worker {
        std::string name;
        std::atomic<int> rounds = 0;
        std::thread thread{};
    };

    void add_one(std::string name, std::function<void()> work, bool may_fail) {
        worker& mine = *all_.emplace_back(std::make_unique<worker>(std::move(name)));
        mine.thread = std::thread{[this, work = std::move(work), &mine, may_fail] {
            for (; !stopped_; ++mine.rounds) {
                const auto why = thrown_by(work);
                EXPECT_TRUE(!why.code || (may_fail && (why.code == errc::outcome_unknown ||
                                                       why.code == errc::unreachable)))
                    << mine.name << ": " << why.text;
            }
        }};
    }
    void stop() {
        stopped_ = true;
        for (const auto& each : all_)
            each->thread.join();
    }

    std::atomic<bool> stopped_ = false;
    std::vector<std::unique_ptr<worker>> all_;
};

class ThroughFailover : public with_sentinels {
protected:
    /// A hold stays no longer whose release was lost with the old primary, nor does a place in a
    /// queue whose owner has gone.
    static constexpr auto lease_time = 2s, waiter_timeout = 19s;

    /// Everything that the servers are asked for.
    static void use_all(workers& all, client& home, client& other) {
        for (client* const each : {&home, &other}) {
            all.add("a thread that locks", [each] {
                mutex lock{*each, "L"};
                const std::scoped_lock held{lock};
            });
            all.add("a lease", [each] {
                soon(mutex{*each, "L"}.async_lock(asio::use_future)).unlock();
            });
            all.add("a turn", [each] {
                fair_mutex lock{*each, "F", {.waiter_timeout = waiter_timeout}};
                const std::scoped_lock held{lock};
            });
        }
        all.add("a reader", [&home] {
            shared_mutex lock{home, "R"};
            const std::shared_lock held{lock};
        });
        all.add("a writer", [&other] {
            shared_mutex lock{other, "R"};
            const std::scoped_lock held{lock};
        });
        all.add_fallible("a release", [&home] { counting_semaphore{home, "S"}.release(); });
        all.add_fallible("an acquisition", [&other] {
            (void)counting_semaphore{other, "S"}.try_acquire_for(100ms);
        });
        all.add_fallible("a rate", [&home] { (void)rate_limiter{home, "Q"}.try_acquire(); });
    }

    /// While `replace` has the primary replaced.
    template <typename Replace>
    void expect_all_go_on_through(Replace replace) {
        redis::options where = servers().client_options();
        where.command_timeout = 1s;
        holdfast::options made = how(where);
        made.lease_time = lease_time;
        made.unavailable_timeout = 15s;
        made.poll_bound = 1s;
        client home{made}, other{made};
        rate_limiter{home, "Q"}.set_rate({.permits = 1000, .per = 1s});
        await_replicas();
        workers all;
        use_all(all, home, other);
        all.expect_all_go_on();
        replace();
        ASSERT_TRUE(told(event_kind::moved, 2));
        all.expect_all_go_on();
    }
};
HOLDFAST_ON_EACH_SERVER(ThroughFailover);

TEST_P(ThroughFailover, EverythingGoesOnWhenItIsOrdered) {
    expect_all_go_on_through([&] { servers().failover(); });
}

TEST_P(ThroughFailover, EverythingGoesOnWhenThePrimaryIsKilled) {
    expect_all_go_on_through([&] { servers().primary().stop(); });
}

TEST_P(ThroughFailover, EverythingGoesOnWhenThePrimaryHangs) {
    expect_all_go_on_through([&] { servers().primary().pause(); });
}

// Each hold, each wait and each release finds its way when the Sentinels appoint another primary.

class KeptThroughFailover : public with_sentinels {};
HOLDFAST_ON_EACH_SERVER(KeptThroughFailover);

TEST_P(KeptThroughFailover, HoldsOfEachKindAreKeptRenewedAndReleased) {
    holdfast::options brief = how();
    brief.lease_time = 20s;
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

TEST_P(KeptThroughFailover, WaitersOfEachKindAreServedByAReleaseAfterIt) {
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

TEST_P(KeptThroughFailover, AReleaseThatFindsNobodyIsRepeatedAtTheNewPrimary) {
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

TEST_P(KeptThroughFailover, WithRequiredReplicasTheHoldIsThereAndTheNextOneIsConfirmed) {
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

TEST_P(KeptThroughFailover, SeveralOfThemInARowAreFollowed) {
    client home{how()};
    mutex lock{home, "L"};
    const lease held = soon(mutex{home, "held"}.async_lock(asio::use_future));
    for (std::size_t i = 1; i <= 2; ++i) {
        await_replicas(i == 1 ? 2 : 1); // the first primary follows only ten seconds later
        servers().failover();
        ASSERT_TRUE(told(event_kind::moved, i));
        EXPECT_EQ(moved_to(), address_of(servers().primary()));
        const std::scoped_lock here{lock};
        EXPECT_TRUE(is_at_primary("L"));
        EXPECT_TRUE(eventually([&] { return is_at_primary("held"); }));
    }
    EXPECT_FALSE(held.lost().stop_requested());
}

// A former primary that still runs. It may accept every request for ten seconds.

using ::testing::HasSubstr;

class OldPrimary : public with_sentinels {};
HOLDFAST_ON_EACH_SERVER(OldPrimary);

TEST_P(OldPrimary, ThatWasStoppedAndGoesOnIsAskedForNothing) {
    client home{how()};
    mutex held{home, "held"}, free{home, "free"};
    const lease kept = soon(held.async_lock(asio::use_future));
    for (int i = 0; i < 20; ++i) { // now there is a blocking connection, too
        free.lock();
        free.unlock();
    }
    await_replicas();
    redis_server& old = servers().primary();
    old.pause();
    ASSERT_TRUE(told(event_kind::moved));
    old.resume();
    ASSERT_EQ(old.command({"CONFIG", "RESETSTAT"}).text, "OK");
    const auto end = end_of(kept);
    for (int i = 0; i < 50; ++i) {
        free.lock();
        EXPECT_TRUE(is_at_primary("free"));
        EXPECT_EQ(exists(old, "free"), 0);
        free.unlock();
    }
    EXPECT_TRUE(eventually([&] { return end_of(kept) > end + 500ms; })) << "it is renewed";
    EXPECT_EQ(scripts_at(old), 0);
    EXPECT_FALSE(kept.lost().stop_requested());
    EXPECT_NE(&servers().primary(), &old);
    EXPECT_EQ(moved_to(), address_of(servers().primary()));
}

TEST_P(OldPrimary, ThatWasStoppedLeavesNoCallWaitingForIt) {
    redis::options patient = servers().client_options();
    patient.command_timeout = 24h; // else it would end by itself
    client home{how(patient)};
    mutex lock{home, "L"};
    { const std::scoped_lock before{lock}; }
    servers().primary().pause();
    soon(lock.async_lock(asio::use_future)).unlock();
    lock.lock();
    EXPECT_TRUE(is_at_primary("L"));
    lock.unlock();
}

TEST_P(OldPrimary, ThatIsDemotedByHandIsAskedForNothingAndComesBack) {
    client home{how()};
    mutex lock{home, "L"};
    { const std::scoped_lock before{lock}; }
    redis_server& old = servers().primary();
    const std::string other = std::to_string(servers().port_of(servers().server(1)));
    old.command({"REPLICAOF", "127.0.0.1", other});
    const auto why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable) << why.text;
    EXPECT_THAT(why.text, HasSubstr("replica"));
    old.command({"REPLICAOF", "NO", "ONE"});
    lock.lock();
    EXPECT_EQ(exists(old, "L"), 1);
    lock.unlock();
}

class CutOffPrimary : public with_sentinels {
protected:
    CutOffPrimary()
        : with_sentinels{{.can_be_cut = true}} {}

    void cut_off_primary() {
        old_ = &servers().primary();
        servers().cut({old_}, support::partition::clients::pass);
    }

    redis_server* old_ = nullptr;
};
HOLDFAST_ON_EACH_SERVER(CutOffPrimary);

TEST_P(CutOffPrimary, IsLeftForTheOneThatWasElectedAndWhatItAloneHasIsLost) {
    client home{how()};
    mutex known{home, "known"}, alone{home, "alone"};
    const lease kept = soon(known.async_lock(asio::use_future));
    await_replicas();
    cut_off_primary();
    const lease gone = soon(alone.async_lock(asio::use_future));
    ASSERT_TRUE(told(event_kind::moved));
    EXPECT_TRUE(eventually([&] { return gone.lost().stop_requested(); }));
    EXPECT_EQ(told_->last(event_kind::lost).value().cause, event_cause::refused)
        << "the new one says so, and not only the clock";
    EXPECT_FALSE(kept.lost().stop_requested());
    EXPECT_TRUE(alone.try_lock());
    EXPECT_TRUE(is_at_primary("alone"));
    alone.unlock();
}

TEST_P(CutOffPrimary, GrantsNothingWhereAReplicaMustHaveIt) {
    holdfast::options safe = how();
    safe.required_replicas = 1;
    client home{safe};
    mutex lock{home, "L"};
    lock.lock();
    lock.unlock();
    cut_off_primary();
    const auto why = thrown_by([&] { (void)lock.try_lock(); });
    EXPECT_EQ(why.code, errc::outcome_unknown) << why.text;
    EXPECT_FALSE(lock.is_held_by_this_thread());
    lock.lock(); // where the other replica is still there
    EXPECT_NE(&servers().primary(), old_);
    EXPECT_TRUE(is_at_primary("L"));
    lock.unlock();
}

} // namespace
} // namespace holdfast
