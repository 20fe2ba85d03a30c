// SPDX-License-Identifier: Apache-2.0
// What becomes of a hold: renewed, released, taken away, forgotten.
#include "memory_world.hpp"
#include "store/memory/server_state.hpp"
#include "support/listed.hpp"
#include "support/renewed.hpp"

namespace holdfast::memory {
namespace {

struct MemoryHold : MemoryWorld {
    void SetUp() override { there.inside()->look(alice.wants("stock", 10s), std::nullopt); }

    asio::awaitable<std::vector<answer>> renew(duration lease, std::vector<hold> more = {}) {
        more.insert(more.begin(), alice.held("stock"));
        const auto listed = support::listed(more);
        co_return co_await support::renewed(alice.home->locks(), listed, lease);
    }
    duration left() const { return there.inspect("stock")->remaining.value(); }
};

TEST_F(MemoryHold, RenewingExtendsAndNeverShortens) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        const auto longer = co_await w.renew(30s);
        EXPECT_TRUE(longer.at(0).granted);
        EXPECT_EQ(longer.at(0).term, 30s);
        EXPECT_EQ(w.left(), 30s);
        const auto shorter = co_await w.renew(5s);
        EXPECT_TRUE(shorter.at(0).granted);
        EXPECT_EQ(w.left(), 30s);
    }(*this));
}

TEST_F(MemoryHold, ALeaseTimeOfZeroOnlyAsks) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        EXPECT_TRUE((co_await w.renew(0s)).at(0).granted);
        EXPECT_EQ(w.left(), 10s);
        co_await w.sleep_for(10s);
        EXPECT_FALSE((co_await w.renew(0s)).at(0).granted);
    }(*this));
}

TEST_F(MemoryHold, OneAnswerPerHoldInOrder) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        w.there.occupy("others", 60s);
        std::vector<hold> more(1, w.alice.held("others"));
        more.push_back(w.alice.held("free"));
        more.push_back(w.alice.held("stock"));
        const auto said = co_await w.renew(30s, std::move(more));
        EXPECT_EQ(said.size(), 4u);
        EXPECT_TRUE(said.at(0).granted);
        EXPECT_FALSE(said.at(1).granted);
        EXPECT_FALSE(said.at(2).granted);
        EXPECT_TRUE(said.at(3).granted);
        EXPECT_EQ(w.there.held_count(), 2u); // nothing was made
        EXPECT_TRUE((co_await support::renewed(w.alice.home->locks(), {}, 30s)).empty());
    }(*this));
}

TEST_F(MemoryHold, OnlyItsOwnerReleasesIt) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        EXPECT_FALSE(co_await w.bob.home->locks().release(w.bob.held("stock")));
        EXPECT_TRUE(co_await w.alice.home->locks().release(w.alice.held("stock")));
        EXPECT_FALSE(co_await w.alice.home->locks().release(w.alice.held("stock")));
    }(*this));
}

TEST_F(MemoryHold, TheOperatorSeesAndForcesIt) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        inspector& operators = w.bob.home->operators_view();
        const auto seen = co_await operators.inspect("stock");
        EXPECT_EQ(seen->owners.at(0), to_string(w.alice.id));
        EXPECT_EQ(seen->remaining, 10s);
        const std::string hers = to_string(w.alice.id);
        EXPECT_FALSE((co_await operators.force_release("stock", "another")).was_locked);
        const forced outcome = co_await operators.force_release("stock", hers);
        EXPECT_TRUE(outcome.was_locked);
        EXPECT_EQ(outcome.owners, std::vector<std::string>{hers});
        EXPECT_FALSE((co_await operators.force_release("stock", {})).was_locked);
        EXPECT_FALSE(co_await operators.inspect("stock"));
        EXPECT_FALSE((co_await w.renew(30s)).at(0).granted);
    }(*this));
}

TEST_F(MemoryHold, AForcedReleaseWakesAndAForgottenLockDoesNot) {
    play([](MemoryHold& w) -> asio::awaitable<void> {
        const auto spot = w.bob.line_up("stock");
        (void)co_await spot->look();
        (void)co_await spot->look();
        EXPECT_TRUE(w.there.evict("stock"));
        EXPECT_FALSE(w.there.evict("stock"));
        co_await w.bob.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 1s);
        w.there.occupy("stock", 60s);
        (void)co_await w.alice.home->operators_view().force_release("stock", {});
        co_await w.bob.wake->wait_until(time_point::max());
        EXPECT_EQ(w.passed(), 1s);
    }(*this));
}

TEST_F(MemoryHold, AForeignOwnerTakesItFromWhoeverHolds) {
    there.occupy("stock", 5s);
    EXPECT_EQ(there.inspect("stock")->owners, std::vector<std::string>{"foreign"});
    EXPECT_FALSE(there.vacate("other"));
    EXPECT_TRUE(there.vacate("stock"));
    there.inside()->look(bob.wants("stock", 10s), std::nullopt);
    EXPECT_FALSE(there.vacate("stock"));
}

TEST_F(MemoryHold, ARestartForgetsEverything) {
    there.occupy("other", duration::max());
    EXPECT_EQ(there.held_count(), 2u);
    there.restart_empty();
    EXPECT_EQ(there.held_count(), 0u);
}

TEST_F(MemoryHold, AStepBackOfTheServersClockLengthensIt) {
    there.step_clock(-1h);
    EXPECT_EQ(left(), 1h + 10s);
    there.step_clock(1h + 10s);
    EXPECT_EQ(there.held_count(), 0u);
}

} // namespace
} // namespace holdfast::memory
