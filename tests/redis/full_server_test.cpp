// SPDX-License-Identifier: Apache-2.0
// A server without free memory (maxmemory, noeviction): every kind of hold can still be kept,
// extended and released.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"

#include <holdfast/holdfast.hpp>

#include <boost/asio/use_future.hpp>

#include <functional>
#include <future>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::code_of;
using support::soon;
using ::testing::IsEmpty;

template <typename Lock>
lease taken(client& home, const std::string& name) {
    Lock lock{home, name};
    return soon(lock.async_lock(asio::use_future));
}

lease taken_to_read(client& home, const std::string& name) {
    shared_mutex lock{home, name};
    return soon(lock.async_lock_shared(asio::use_future));
}

lease downgraded(client& home, const std::string& name) {
    shared_mutex lock{home, name};
    lease alone = soon(lock.async_lock(asio::use_future));
    lease shared = soon(lock.async_lock_shared(alone, asio::use_future));
    alone.unlock();
    return shared;
}

lease taken_of_permits(client& home, const std::string& name) {
    leased_semaphore seats{home, name};
    seats.set_permits(5);
    return seats.acquire(2);
}

struct kind_of_hold {
    const char* label;
    lease (*take)(client&, const std::string& name);
};

constexpr kind_of_hold holds[] = {
    {"plain", taken<mutex>},     {"fenced", taken<fenced_mutex>},  {"fair", taken<fair_mutex>},
    {"spin", taken<spin_mutex>}, {"token", taken<token_mutex>},    {"write", taken<shared_mutex>},
    {"read", taken_to_read},     {"read after write", downgraded}, {"permits", taken_of_permits}};

class FullServer : public support::on_each_server {
protected:
    void fill() { server().command({"CONFIG", "SET", "maxmemory", "1"}); }
    void make_room() { server().command({"CONFIG", "SET", "maxmemory", "0"}); }
    client make_client() { return client{options{.url = server().url(), .announce = false}}; }
    std::string text_of(const std::vector<std::string>& command) {
        return server().command(command).text;
    }
    std::int64_t ask(const std::vector<std::string>& command) {
        return server().command(command).integer;
    }
    /// Returns whether the key, or its permits, are as if there were no holder.
    bool is_free(const std::string& name) {
        return ask({"EXISTS", name}) == 0 || text_of({"GET", name}) == "5";
    }
};
HOLDFAST_ON_EACH_SERVER(FullServer);

TEST_P(FullServer, EveryHoldIsExtendedAndReleased) {
    client home = make_client();
    for (const kind_of_hold& kind : holds) {
        SCOPED_TRACE(kind.label);
        lease held = kind.take(home, "L");
        fill();
        EXPECT_EQ(code_of([&] { held.extend(lease_time{10min}); }), error_code{});
        EXPECT_GT(held.remaining(), 9min);
        error_code ec;
        held.unlock(ec);
        EXPECT_EQ(ec, error_code{});
        EXPECT_TRUE(is_free("L"));
        make_room();
        server().command({"DEL", "L"});
    }
}

TEST_P(FullServer, EveryHoldIsRenewed) {
    options how{.url = server().url(), .announce = false};
    how.lease_time = 6s;
    client home{how};
    std::vector<lease> all;
    for (const kind_of_hold& kind : holds)
        all.push_back(kind.take(home, kind.label));
    fill();
    const auto first_terms_end = std::chrono::steady_clock::now() + how.lease_time;
    EXPECT_TRUE(
        support::eventually([&] { return std::chrono::steady_clock::now() > first_terms_end; }));
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_TRUE(all[i].owns_lock()) << holds[i].label;
        error_code ec;
        all[i].unlock(ec);
        EXPECT_EQ(ec, error_code{}) << holds[i].label;
        EXPECT_TRUE(is_free(holds[i].label)) << holds[i].label;
    }
    make_room();
}

TEST_P(FullServer, EveryHoldIsTakenAwayByForce) {
    client home = make_client(), other = make_client();
    for (const kind_of_hold& kind : holds) {
        SCOPED_TRACE(kind.label);
        lease held = kind.take(home, "L");
        const bool has_permits = !held.permit_ids().empty();
        fill();
        EXPECT_TRUE(has_permits ? leased_semaphore(other, "L").erase()
                                : other.force_unlock(lock_name{"L"}));
        EXPECT_EQ(ask({"EXISTS", "L"}), 0);
        error_code ec;
        held.unlock(ec);
        EXPECT_EQ(ec, errc::lease_lost);
        make_room();
    }
}

TEST_P(FullServer, ReadHoldIsUpgraded) {
    client home = make_client();
    shared_mutex lock{home, "L"};
    lock.lock_shared();
    fill();
    EXPECT_TRUE(lock.try_upgrade_for(10s));
    error_code ec;
    lock.unlock(ec);
    EXPECT_EQ(ec, error_code{});
    lock.unlock_shared(ec);
    EXPECT_EQ(ec, error_code{});
    EXPECT_EQ(ask({"EXISTS", "L"}), 0);
    make_room();
}

TEST_P(FullServer, WriteHoldIsDowngradedAndReleasedBesideAReadHold) {
    client home = make_client();
    shared_mutex lock{home, "L"};
    lease alone = soon(lock.async_lock(asio::use_future));
    fill();
    lease shared = soon(lock.async_lock_shared(alone, asio::use_future));
    error_code ec;
    alone.unlock(ec);
    EXPECT_EQ(ec, error_code{});
    EXPECT_EQ(text_of({"HGET", "L", "mode"}), "read");
    shared.unlock(ec);
    EXPECT_EQ(ec, error_code{});
    EXPECT_EQ(ask({"EXISTS", "L"}), 0);
    make_room();
}

TEST_P(FullServer, UpgradedHoldIsReleasedAndTheReadHoldStays) {
    client home = make_client();
    shared_mutex lock{home, "L"};
    lock.lock_shared();
    ASSERT_TRUE(lock.try_upgrade_for(10s));
    fill();
    error_code ec;
    lock.unlock(ec);
    EXPECT_EQ(ec, error_code{});
    EXPECT_EQ(text_of({"HGET", "L", "mode"}), "read");
    lock.unlock_shared(ec);
    EXPECT_EQ(ec, error_code{});
    make_room();
}

TEST_P(FullServer, WriterWaitsForReadersWithoutAMark) {
    client home = make_client(), other = make_client();
    shared_mutex read{home, "L"}, write{other, "L"};
    lease held = soon(read.async_lock_shared(asio::use_future));
    fill();
    auto waiting = write.async_try_lock_for(1min, asio::use_future);
    ASSERT_TRUE(support::eventually([&] {
        return server().command({"PUBSUB", "NUMSUB", "redisson_rwlock:{L}"}).items.at(1).integer +
                   server()
                       .command({"PUBSUB", "SHARDNUMSUB", "redisson_rwlock:{L}"})
                       .items.at(1)
                       .integer >
               0;
    }));
    EXPECT_EQ(ask({"EXISTS", "holdfast_writers:{L}"}), 0);
    make_room();
    held.unlock();
    EXPECT_TRUE(soon(std::move(waiting)));
}

TEST_P(FullServer, WhatCountersGaveIsGivenBack) {
    client home = make_client();
    counting_semaphore slots{home, "slots"}, drained{home, "drained"};
    latch ready{home, "ready"}, dropped{home, "dropped"};
    leased_semaphore seats{home, "seats"};
    rate_limiter mails{home, "mails"};
    slots.try_set_permits(3);
    slots.acquire(2);
    drained.try_set_permits(3);
    ready.try_set_count(2);
    dropped.try_set_count(2);
    seats.try_set_permits(3);
    const lease held = seats.acquire(2);
    const std::vector<std::string> ids = held.permit_ids();
    mails.set_rate({.permits = 3, .per = 1h});
    mails.acquire(2);
    fill();

    struct verb {
        const char* label;
        std::function<void()> act;
    };
    const verb verbs[] = {{"release", [&] { slots.release(2); }},
                          {"drain", [&] { (void)drained.drain_permits(); }},
                          {"count_down", [&] { ready.count_down(2); }},
                          {"erase a latch", [&] { (void)dropped.erase(); }},
                          {"set_lease", [&] { (void)seats.set_lease(ids[1], lease_time{1h}); }},
                          {"release(id)", [&] { (void)seats.release(ids[0]); }},
                          {"add_permits", [&] { seats.add_permits(1); }},
                          {"release of a rate", [&] { mails.release(2); }}};
    for (const verb& each : verbs)
        EXPECT_EQ(code_of(each.act), error_code{}) << each.label;
    EXPECT_EQ(slots.available_permits(), 3);
    EXPECT_EQ(drained.available_permits(), 0);
    EXPECT_EQ(ready.count(), 0);
    EXPECT_EQ(mails.available_permits(), 3);
    EXPECT_TRUE(support::eventually([&] { return seats.available_permits() == 4; }));
    EXPECT_EQ(code_of([&] { (void)slots.erase(); }), error_code{});
    EXPECT_EQ(code_of([&] { (void)seats.erase(); }), error_code{});
    EXPECT_EQ(code_of([&] { (void)mails.erase(); }), error_code{});
    make_room();
}

TEST_P(FullServer, NothingNewIsTaken) {
    client home = make_client();
    counting_semaphore slots{home, "slots"};
    slots.try_set_permits(3);
    leased_semaphore seats{home, "seats"};
    seats.try_set_permits(3);
    rate_limiter mails{home, "mails"};
    mails.set_rate({.permits = 3, .per = 1h});
    mails.acquire();
    fill();
    const error_code full = make_error_code(store_errc::out_of_memory);
    EXPECT_EQ(code_of([&] { (void)mutex{home, "a"}.try_lock(); }), full);
    EXPECT_EQ(code_of([&] { (void)fenced_mutex{home, "b"}.try_lock(); }), full);
    EXPECT_EQ(code_of([&] { (void)fair_mutex{home, "c"}.try_lock(); }), full);
    EXPECT_EQ(code_of([&] { (void)spin_mutex{home, "d"}.try_lock(); }), full);
    EXPECT_EQ(code_of([&] { (void)token_mutex{home, "e"}.try_lock(); }), full);
    EXPECT_EQ(code_of([&] { (void)shared_mutex{home, "f"}.try_lock_shared(); }), full);
    EXPECT_EQ(code_of([&] { (void)shared_mutex{home, "h"}.try_lock(); }), full);
    EXPECT_EQ(code_of([&] { (void)slots.try_acquire(); }), full);
    EXPECT_EQ(code_of([&] { (void)seats.try_acquire(); }), full);
    EXPECT_EQ(code_of([&] { (void)mails.try_acquire(); }), full);
    EXPECT_EQ(code_of([&] { (void)latch{home, "g"}.try_set_count(1); }), full);
    make_room();
    EXPECT_EQ(slots.available_permits() + seats.available_permits() + mails.available_permits(), 8);
    EXPECT_THAT(server().command({"KEYS", "[a-h]"}).items, IsEmpty());
}

} // namespace
} // namespace holdfast
