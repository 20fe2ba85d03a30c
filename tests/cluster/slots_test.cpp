// SPDX-License-Identifier: Apache-2.0
// Holds, waits and releases while a slot moves to another server, at each step of the move.
#include "migrating_scripts.hpp"
#include "store/redis/scripts.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_connection.hpp"
#include "support/redis_server.hpp"

#include <holdfast/client.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/mutex.hpp>

#include <deque>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::redis_cluster;
using support::redis_server;

class ClusterSlots : public support::on_each_topology<redis_cluster> {
protected:
    enum class step { open, sent, closed };
    static constexpr std::array steps{step::open, step::sent, step::closed};

    void SetUp() override {
        on_each_topology::SetUp();
        if (IsSkipped())
            return;
        client_ = std::make_unique<client>(how());
        aim("slot");
    }

    holdfast::options how(duration lease = 10s) {
        holdfast::options made;
        made.store = redis::make_store(servers().client_options());
        made.lease_time = lease;
        made.observer = seen_;
        return made;
    }

    /// Of which slot is spoken from now on.
    void aim(const std::string& name) {
        slot_ = servers().slot_of(name);
        from_ = &servers().primary_of(slot_);
        to_ = &servers().other_primary(*from_);
    }
    void go(step to) {
        servers().begin_move(slot_, *to_);
        if (to != step::open)
            servers().move_keys(slot_, *to_);
        if (to == step::closed)
            servers().end_move(slot_, *to_);
    }
    void come_back() {
        servers().call_off_moves();
        servers().wait_until_agreed();
    }

    static std::int64_t at(redis_server& server, const std::string& verb, const std::string& key) {
        server.command({"ASKING"});
        return server.command({verb, key}).integer;
    }
    /// Wherever it is.
    std::int64_t left(const std::string& name) {
        return std::max(at(*from_, "PTTL", name), at(*to_, "PTTL", name));
    }
    std::int64_t exists(const std::string& name) {
        return at(*from_, "EXISTS", name) + at(*to_, "EXISTS", name);
    }
    static std::int64_t listeners(redis_server& server, const std::string& channel) {
        return server.command({"PUBSUB", "SHARDNUMSUB", channel}).items.at(1).integer;
    }
    /// Renewed every two seconds, and not lost in a pause of a busy machine.
    static constexpr duration hurried_lease = 6s;

    testing::AssertionResult renewed(const std::string& name, duration of) {
        const std::int64_t lease = of.count();
        const bool fell = eventually([&] { return left(name) < lease * 3 / 4; });
        const bool rose = fell && eventually([&] { return left(name) > lease * 4 / 5; });
        return rose ? testing::AssertionSuccess()
                    : testing::AssertionFailure() << name << " has " << left(name) << " ms left";
    }

    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
    std::unique_ptr<client> client_;
    int slot_ = 0;
    redis_server *from_ = nullptr, *to_ = nullptr;
};
HOLDFAST_ON_EACH_SERVER(ClusterSlots);

TEST_P(ClusterSlots, AHoldIsRenewedAndReleasedInEachStep) {
    client hurried{how(hurried_lease)};
    for (const step each : steps) {
        aim("slot");
        mutex lock{hurried, "slot"};
        lock.lock();
        go(each);
        EXPECT_TRUE(renewed("slot", hurried_lease)) << static_cast<int>(each);
        EXPECT_TRUE(lock.is_held_by_this_thread());
        error_code failed;
        lock.unlock(failed);
        EXPECT_FALSE(failed) << failed.message();
        EXPECT_EQ(exists("slot"), 0);
        come_back();
    }
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
}

TEST_P(ClusterSlots, HoldsOfOneSlotAreRenewedWhileTheyAreApart) {
    client hurried{how(hurried_lease)};
    mutex one{hurried, "{slot}1"}, two{hurried, "{slot}2"};
    one.lock();
    go(step::sent);
    servers().call_off_moves(); // it stays at the target, which has no part of it
    servers().begin_move(slot_, *to_);
    two.lock();
    ASSERT_EQ(at(*to_, "EXISTS", "{slot}1"), 1);
    EXPECT_TRUE(renewed("{slot}1", hurried_lease));
    EXPECT_TRUE(renewed("{slot}2", hurried_lease));
    one.unlock();
    two.unlock();
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
}

TEST_P(ClusterSlots, AFreeLockIsTakenInEachStep) {
    for (const step each : steps) {
        aim("slot");
        mutex lock{*client_, "slot"};
        { const std::scoped_lock before{lock}; }
        go(each);
        lock.lock();
        EXPECT_EQ(exists("slot"), 1);
        lock.unlock();
        EXPECT_EQ(exists("slot"), 0);
        come_back();
    }
}

TEST_P(ClusterSlots, AWaiterIsServedInEachStep) {
    client other{how()};
    for (const step each : steps) {
        aim("slot");
        mutex theirs{other, "slot"}, ours{*client_, "slot"};
        theirs.lock();
        auto waiting = std::async(std::launch::async, [&] {
            ours.lock();
            ours.unlock();
        });
        ASSERT_TRUE(
            eventually([&] { return listeners(*from_, "redisson_lock__channel:{slot}") == 1; }));
        go(each);
        theirs.unlock();
        support::soon(std::move(waiting));
        come_back();
    }
}

TEST_P(ClusterSlots, OneThatBeginsToWaitWhileItMovesIsServed) {
    client other{how()};
    mutex theirs{other, "slot"}, ours{*client_, "slot"};
    theirs.lock();
    go(step::sent);
    auto waiting = std::async(std::launch::async, [&] {
        ours.lock();
        ours.unlock();
    });
    ASSERT_TRUE(
        eventually([&] { return listeners(*from_, "redisson_lock__channel:{slot}") == 1; }));
    theirs.unlock();
    support::soon(std::move(waiting));
}

TEST_P(ClusterSlots, AllKindsGoOnWhereItHasGone) {
    recursive_mutex again{*client_, "{slot}again"};
    fair_mutex fair{*client_, "{slot}fair"};
    shared_mutex shared{*client_, "{slot}shared"};
    fenced_mutex fenced{*client_, "{slot}fenced"};
    spin_mutex spinning{*client_, "{slot}spin"};
    token_mutex token{*client_, "{slot}token"};
    counting_semaphore semaphore{*client_, "{slot}semaphore"};
    leased_semaphore permits{*client_, "{slot}permits"};
    latch gate{*client_, "{slot}latch"};
    rate_limiter rate{*client_, "{slot}rate"};
    again.lock();
    fair.lock();
    shared.lock_shared();
    fenced.lock();
    spinning.lock();
    token.lock();
    semaphore.release(2);
    permits.add_permits(2);
    const lease one = permits.acquire();
    ASSERT_TRUE(gate.try_set_count(2));
    ASSERT_TRUE(rate.try_set_rate({.permits = 5, .per = 1h}));
    go(step::closed);
    again.lock();
    again.unlock();
    again.unlock();
    fair.unlock();
    fair.lock();
    fair.unlock();
    shared.unlock_shared();
    shared.lock();
    shared.unlock();
    fenced.unlock();
    fenced.lock();
    fenced.unlock();
    spinning.unlock();
    token.unlock();
    semaphore.acquire(2);
    EXPECT_FALSE(semaphore.try_acquire());
    EXPECT_TRUE(permits.try_acquire());
    gate.count_down(2);
    EXPECT_TRUE(gate.try_wait());
    EXPECT_TRUE(rate.try_acquire(5));
    EXPECT_FALSE(rate.try_acquire());
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
}

TEST_P(ClusterSlots, WhatHasSeveralKeysStandsStillWhileItIsOpen) {
    fair_mutex fair{*client_, "slot"};
    fair.lock();
    go(step::open);
    error_code failed;
    fair.unlock(failed);
    EXPECT_EQ(failed, errc::unreachable);
    EXPECT_EQ(exists("slot"), 1);
    come_back();
    fair_mutex next{*client_, "slot"};
    EXPECT_TRUE(next.try_lock_for(30s)); // released behind its caller's back, or over
    next.unlock();
}

TEST_P(ClusterSlots, SeveralLocksMayBeOfSeveralSlots) {
    mutex one{*client_, "a"}, two{*client_, "b"}, three{*client_, "{slot}c"};
    multi_mutex all{one, two, three};
    all.lock();
    go(step::closed);
    EXPECT_TRUE(all.is_held_by_this_thread());
    all.unlock();
    EXPECT_EQ(exists("{slot}c"), 0);
}

TEST_P(ClusterSlots, ANameThatWouldBeTornApartIsRefused) {
    for (const char* name : {"a{b", "a}b", "{}{a}"})
        EXPECT_THROW((mutex{*client_, name}), boost::system::system_error) << name;
    for (const char* name : {"plain", "{tag}", "a{tag}b", "a{b}c{d}"}) {
        mutex lock{*client_, name};
        lock.lock();
        EXPECT_EQ(servers().node_of(name).command({"EXISTS", name}).integer, 1) << name;
        lock.unlock();
    }
}

// Scripts while their slot moves, on the source server and on the target server, with each of their
// keys on either of them. A script must do all of its work or nothing.

using texts = std::vector<std::string>;

class MigratingScripts : public support::on_each_topology<redis_cluster> {
protected:
    MigratingScripts()
        : on_each_topology{{.node_timeout = std::chrono::seconds{5}}} {}

    void SetUp() override {
        on_each_topology::SetUp();
        if (IsSkipped())
            return;
        slot_ = servers().slot_of(migrating::name);
        from_ = &servers().primary_of(slot_);
        to_ = &servers().other_primary(*from_);
    }

    static redis::reply run(redis_server& at, const migrating::trial& what, bool asking) {
        support::redis_connection line{at.socket_path()};
        if (asking)
            line.command({"ASKING"});
        return support::run_script(line, *what.script, what.keys, what.arguments);
    }

    /// All is at the first server, and nothing moves.
    void prepare(const migrating::trial& what) {
        servers().call_off_moves();
        from_->command({"FLUSHALL"});
        to_->command({"FLUSHALL"});
        for (const texts& each : what.before)
            ASSERT_NE(from_->command(migrating::dated(each)).type, redis::reply::kind::error)
                << each[0] << " of " << what.about;
    }

    texts keys_at(redis_server& server) {
        texts all;
        for (const redis::reply& each : server.command({"KEYS", "*"}).items)
            all.push_back(each.text);
        std::ranges::sort(all);
        return all;
    }
    void send(const std::string& key) {
        const redis::reply sent = from_->command(
            {"MIGRATE", "127.0.0.1", std::to_string(servers().port_of(*to_)), key, "0", "10000"});
        ASSERT_EQ(sent.text, "OK");
    }

    migrating::picture all_there_is() {
        migrating::picture all;
        for (redis_server* each : {from_, to_})
            for (const std::string& key : keys_at(*each)) {
                EXPECT_FALSE(all.contains(key)) << key << " is at both servers";
                all[key] = migrating::describe(*each, key);
            }
        return all;
    }

    /// As it is where nothing moves, or not at all.
    void check(const migrating::trial& what, const std::string& when, const redis::reply& said,
               const migrating::picture& before, const redis::reply& usual,
               const migrating::picture& after) {
        SCOPED_TRACE(what.about + " " + when + ": " + migrating::in_words(said));
        if (said.type == redis::reply::kind::error) {
            EXPECT_TRUE(migrating::is_about_the_place(said.text));
            EXPECT_EQ(all_there_is(), before);
        } else {
            EXPECT_EQ(migrating::in_words(said), migrating::in_words(usual));
            EXPECT_EQ(all_there_is(), after);
        }
    }

    void try_all_ways(const migrating::trial& what) {
        SCOPED_TRACE(what.about);
        prepare(what);
        const texts keys = keys_at(*from_);
        const redis::reply usual = run(*from_, what, false);
        ASSERT_NE(usual.type, redis::reply::kind::error) << what.about << ": " << usual.text;
        const migrating::picture after = all_there_is();
        ASSERT_LT(keys.size(), 7U);
        for (std::size_t gone = 0; gone < std::size_t{1} << keys.size(); ++gone)
            for (const bool at_target : {false, true}) {
                prepare(what);
                servers().begin_move(slot_, *to_);
                std::string when = at_target ? "at the target" : "at the source";
                for (std::size_t i = 0; i < keys.size(); ++i)
                    if (gone & (std::size_t{1} << i)) {
                        send(keys[i]);
                        when += ", " + keys[i] + " is gone";
                    }
                if (at_target && any_declared_at_source(what))
                    continue; // nobody is sent there
                const migrating::picture before = all_there_is();
                const redis::reply said = run(at_target ? *to_ : *from_, what, at_target);
                if (!what.may_miss_what_it_cannot_see || said.type == redis::reply::kind::error)
                    check(what, when, said, before, usual, after);
            }
    }

    bool any_declared_at_source(const migrating::trial& what) {
        const texts still = keys_at(*from_);
        return std::ranges::any_of(what.keys, [&](const std::string& key) {
            return std::ranges::find(still, key) != still.end();
        });
    }

    int slot_ = 0;
    redis_server *from_ = nullptr, *to_ = nullptr;
};
HOLDFAST_ON_EACH_SERVER(MigratingScripts);

TEST_P(MigratingScripts, OfLocksDoNothingByHalves) {
    for (const migrating::trial& each : migrating::trials_of_locks())
        try_all_ways(each);
}

TEST_P(MigratingScripts, OfCountersDoNothingByHalves) {
    for (const migrating::trial& each : migrating::trials_of_counters())
        try_all_ways(each);
}

TEST(MigratingScriptsOfAll, AreTried) {
    std::set<std::string_view> tried;
    for (const auto& some : {migrating::trials_of_locks(), migrating::trials_of_counters()})
        for (const migrating::trial& each : some)
            tried.insert(each.script->name);
    // Those without keys, and those that only read and may miss what is elsewhere.
    for (const char* other :
         {"find_locks", "find_counters", "examine_server", "read_clients", "describe_locks",
          "inspect_lock", "inspect_permits", "inspect_rate", "inspect_counter", "last_token",
          "look_latch", "announce_client", "index_client", "list_clients", "read_wish"})
        tried.insert(other);
    for (const std::string& each : migrating::all_scripts())
        EXPECT_TRUE(tried.contains(each)) << each;
}

// Many holds over all primaries are renewed with few scripts.

class ClusterRenewal : public support::on_each_topology<redis_cluster> {
protected:
    static constexpr std::size_t count = 10'000;
    static constexpr auto lease = 9s;
    static constexpr std::size_t bytes_each = 50; ///< alone, one is asked for by 150
    const std::string last = "L" + std::to_string(count - 1);

    holdfast::options how() {
        holdfast::options made;
        made.store = redis::make_store(servers().client_options());
        made.lease_time = lease;
        made.observer = seen_;
        return made;
    }
    /// So often a server was asked that since `forget_calls`.
    static std::size_t calls_at(redis_server& server, const std::string& command) {
        const std::string told = server.command({"INFO", "commandstats"}).text;
        const std::string field = "cmdstat_" + command + ":calls=";
        const std::size_t at = told.find(field);
        return at == told.npos ? 0 : std::stoul(told.substr(at + field.size()));
    }
    static std::size_t bytes_at(redis_server& server) {
        return std::stoul(support::info_of(server, "stats", "total_net_input_bytes"));
    }
    /// Likewise, all together.
    std::size_t calls_of(const std::string& command) {
        std::size_t all = 0;
        for (redis_server* each : servers().servers().up())
            all += calls_at(*each, command);
        return all;
    }
    std::vector<redis_server*> primaries() {
        std::vector<redis_server*> some;
        for (redis_server* each : servers().servers().up())
            if (support::is_primary(*each))
                some.push_back(each);
        return some;
    }
    void lock_all(client& home) {
        for (std::size_t i = 0; i < count; ++i) {
            all_.emplace_back(home, "L" + std::to_string(i));
            all_.back().lock();
        }
        ASSERT_TRUE(eventually([&] { return left(last) < 6'400; }));
    }
    /// All names of a server go there together, in few scripts and few bytes.
    void expect_renewed_by_server() {
        std::size_t renewed = 0;
        for (redis_server* each : primaries()) {
            const std::size_t here = calls_at(*each, "pexpire");
            EXPECT_GT(here, count / 4) << "each has about a third";
            EXPECT_LT(calls_at(*each, "evalsha"), here / 20);
            EXPECT_LT(bytes_at(*each), here * bytes_each);
            renewed += here;
        }
        EXPECT_GE(renewed, count);
    }
    void forget_calls() {
        for (redis_server* each : servers().servers().up())
            each->command({"CONFIG", "RESETSTAT"});
    }
    std::int64_t left(const std::string& name) {
        return servers().node_of(name).command({"PTTL", name}).integer;
    }

    std::deque<mutex> all_;
    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(ClusterRenewal);

TEST_P(ClusterRenewal, AHundredNamesGoInOneScriptAndStayHeldWhereSlotsHaveMoved) {
    client home{how()};
    lock_all(home);
    forget_calls();
    ASSERT_TRUE(eventually([&] { return calls_of("pexpire") >= count; })) << "renewed";
    expect_renewed_by_server();

    const std::string name = "L77";
    redis_server& old = servers().node_of(name);
    servers().move(servers().slot_of(name), servers().other_primary(old));
    ASSERT_NE(&servers().node_of(name), &old);
    ASSERT_TRUE(eventually([&] { return left(name) < 6'400; }));
    ASSERT_TRUE(eventually([&] { return left(name) > 6'600; })) << "renewed at its new server";
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
    for (mutex& each : all_)
        EXPECT_TRUE(each.is_held_by_this_thread());
    home.close();
}

TEST_P(ClusterRenewal, OnlyWhatAServerHasNotIsAskedForApart) {
    client home{how()};
    lock_all(home);
    const std::vector<std::string> sent{"L1", "L22", "L333", "L4444", "L5555"};
    for (const std::string& name : sent) { // and their slots stay open
        redis_server& to = servers().other_primary(servers().node_of(name));
        servers().begin_move(servers().slot_of(name), to);
        servers().move_keys(servers().slot_of(name), to);
    }
    forget_calls();
    ASSERT_TRUE(eventually([&] { return calls_of("pexpire") >= count; })) << "renewed";
    expect_renewed_by_server();
    EXPECT_TRUE(eventually([&] { return calls_of("asking") >= sent.size(); }));
    EXPECT_LE(calls_of("asking"), 4 * sent.size()) << "each by itself, and no other";
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
    for (mutex& each : all_)
        EXPECT_TRUE(each.is_held_by_this_thread());
    home.close();
}

} // namespace
} // namespace holdfast
