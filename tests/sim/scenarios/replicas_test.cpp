// SPDX-License-Identifier: Apache-2.0
// Scenarios: a primary dies before its replica has received the lock.
#include "sim/checkers/exclusion.hpp"
#include "sim/story.hpp"

namespace holdfast::sim {
namespace {

rules with_a_replica(unsigned required) {
    rules r;
    r.replicas.count = 1;
    r.replicas.wants = {{required}, {required}};
    r.replicas.clocks = {duration{0}, duration{0}};
    return r;
}

/// Story in which replication fails. The primary then hands over to its replica, and only Bob's
/// client hears of it.
class failover : public story {
protected:
    explicit failover(unsigned required)
        : story{with_a_replica(required)}
        , required_{required} {}

    asio::awaitable<held> take_replicated(seat& who, wanted how = {}) {
        mutex m{*who.program, w.name_of(0), mutex_options{.required_replicas = required_}};
        how.replicas = required_;
        co_return co_await acquire(w, about(who), who.of_program, m, how);
    }
    asio::awaitable<void> fail_over() {
        const replica_set::trouble lasts{w.replicas};
        w.replicas.cut(1);
        co_await sleep(100ms);
        w.replicas.news_of = [](const seat& who) {
            return who.number == 1 ? std::optional{0ms} : std::nullopt;
        };
        co_await until(600ms);
        w.replicas.promote(1);
        co_await until(20s);
        w.replicas.demote(0);
        co_await sleep(100ms);
    }
    bool two_believed() const { return w.log.kinds().contains(two_believe); }

private:
    const unsigned required_;
};

struct WithoutRequiredReplicas : failover {
    WithoutRequiredReplicas()
        : failover{0} {}
};
struct WithAllReplicasRequired : failover {
    WithAllReplicasRequired()
        : failover{1} {}
};

TEST_F(WithoutRequiredReplicas, TwoBelieveWhatWasGrantedShortlyBefore) {
    auto servers = [&] { return fail_over(); };
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        co_await until(500ms);
        held mine = co_await take_replicated(alice);
        EXPECT_TRUE(mine);
        co_await until(2s);
        EXPECT_TRUE(mine->what().held.owns_lock()) << "she asks the old primary";
        co_await until(30s);
        EXPECT_FALSE(mine->what().held.owns_lock()) << "that has become a replica";
    };
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await until(1s);
        held mine = co_await take_replicated(bob);
        EXPECT_TRUE(mine);
        co_await until(40s);
    };
    play(servers, scene_of_alice, scene_of_bob);
    EXPECT_TRUE(two_believed());
}

TEST_F(WithAllReplicasRequired, NobodyIsGrantedWhatOneOfThemDoesNotHave) {
    duration bob_had_it{};
    auto servers = [&] { return fail_over(); };
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        co_await until(500ms);
        const wanted how = at_most(10s);
        held mine = co_await take_replicated(alice, how);
        EXPECT_FALSE(mine) << "nobody confirms it at the old primary";
    };
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await until(1s);
        const wanted how = at_most(60s);
        while (!bob_had_it.count()) {
            held mine = co_await take_replicated(bob, how);
            if (mine)
                bob_had_it = now();
        }
    };
    play(servers, scene_of_alice, scene_of_bob);
    EXPECT_GE(bob_had_it, 20s) << "the new primary has a replica again from there on";
    EXPECT_FALSE(two_believed());
}

TEST_F(WithAllReplicasRequired, WhatAllHaveIsKeptThroughIt) {
    auto servers = [&]() -> asio::awaitable<void> {
        co_await until(700ms);
        w.replicas.promote(1);
        w.replicas.demote(0);
    };
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        held mine = co_await take_replicated(alice);
        co_await until(1h / 2);
        EXPECT_TRUE(mine->what().held.owns_lock());
    };
    play(servers, scene_of_alice);
    EXPECT_FALSE(two_believed());
}

} // namespace
} // namespace holdfast::sim
