// SPDX-License-Identifier: Apache-2.0
// Scenarios within one client: re-entries and local hand-overs, which need no request to the store.
#include "sim/story.hpp"

namespace holdfast::sim {
namespace {

// Scenarios with re-entries, which are counted in the process. The server sees one hold.

struct Reentry : story {
    std::optional<recursive_mutex> m{std::in_place, *alice.program, world::name_of(0)};

    asio::awaitable<held> enter() {
        const wanted how;
        return acquire(w, about(alice), alice.of_program, *m, how);
    }
    /// Takes the lock a second time. Returns the second lease, or the error.
    asio::awaitable<std::pair<error_code, held>> enter_again(grip& outer) {
        operation o{.what = deed::share, .who = about(alice)};
        o.generation = alice.of_program;
        ongoing call{w, o};
        std::tuple<error_code, lease> answer =
            co_await m->async_lock(outer.what().held, call.token());
        auto& [ec, inner] = answer;
        held got;
        if (call.ended(ec) == outcome::done)
            got = std::make_unique<grip>(w, about(alice), std::move(inner), outer.what().longest,
                                         taken_by::re_entry);
        co_return std::pair{ec, std::move(got)};
    }

    void TearDown() override {
        m.reset(); // the mutex would keep parts of the closed client alive
        story::TearDown();
    }
};

TEST_F(Reentry, TheLockIsFreeWhenBothAreReleasedInAnyOrder) {
    auto scene = [&]() -> asio::awaitable<void> {
        held outer = co_await enter();
        auto second = co_await enter_again(*outer);
        held inner = std::move(second.second);
        EXPECT_TRUE(inner);
        EXPECT_EQ(inner->what().owner, outer->what().owner);
        EXPECT_EQ(co_await give_back(outer), outcome::done);
        EXPECT_TRUE(inner->what().held.owns_lock());
        EXPECT_NE(holder(), "");
        EXPECT_EQ(co_await give_back(inner), outcome::done);
        EXPECT_EQ(holder(), "");
    };
    play(scene);
}

TEST_F(Reentry, ItCostsNoMessage) {
    auto scene = [&]() -> asio::awaitable<void> {
        held outer = co_await enter();
        alice.net.cut(false);
        auto second = co_await enter_again(*outer);
        EXPECT_TRUE(second.second);
        EXPECT_EQ(now(), 0ms);
        second.second.reset();
        alice.net.mend();
    };
    play(scene);
}

TEST_F(Reentry, ALostHoldIsNotEnteredAgain) {
    auto scene = [&]() -> asio::awaitable<void> {
        held outer = co_await enter();
        alice.net.cut(false);
        co_await sleep(w.how.lease_time);
        auto second = co_await enter_again(*outer);
        EXPECT_EQ(second.first, errc::lease_lost);
        alice.net.mend();
    };
    play(scene);
}

// Found by a seed.
TEST_F(Reentry, AnInnerReleaseAtTheVeryEndOfTheTermIsToldOfTheLoss) {
    auto scene = [&]() -> asio::awaitable<void> {
        held outer = co_await enter();
        auto second = co_await enter_again(*outer);
        alice.net.cut(true);
        co_await sleep(outer->what().held.remaining());
        EXPECT_FALSE(second.second->what().held.owns_lock());
        EXPECT_EQ(co_await give_back(second.second), outcome::lease_lost);
        alice.net.mend();
    };
    play(scene);
}

TEST_F(Reentry, ALeaseOfAnotherLockIsNone) {
    recursive_mutex other{*alice.program, world::name_of(1)};
    auto scene = [&]() -> asio::awaitable<void> {
        held outer = co_await enter();
        auto answer =
            co_await other.async_lock(outer->what().held, asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(std::get<0>(answer), errc::not_owner);
    };
    play(scene);
}

TEST_F(Reentry, WithoutALeaseToNameEveryCallIsANewOwner) {
    auto scene = [&]() -> asio::awaitable<void> {
        held outer = co_await enter();
        const wanted how = once();
        held second = co_await acquire(w, about(alice), alice.of_program, *m, how);
        EXPECT_FALSE(second);
    };
    play(scene);
}

// Scenarios in which a client hands a hold over to another call of its own, without a request to
// the store.

struct HandedOn : story {
    /// Takes lock0 in a call of Alice, with this lease time.
    asio::awaitable<held> take_for(duration length) {
        mutex m{*alice.program, w.name_of(0), lease_time{length}};
        const wanted how{.usual = length};
        co_return co_await acquire(w, about(alice), alice.of_program, m, how);
    }
};

// Found by two seeds: after the hand-over, the hold was still renewed as seldom as its old lease
// needed.
TEST_F(HandedOn, TheNextOwnerOfALongerLeaseHearsOfItsLossAsSoonAsItsOwnWants) {
    const duration own = w.how.lease_time;
    auto giver = [&]() -> asio::awaitable<void> {
        held mine = co_await take_for(own);
        co_await sleep(10ms); // short enough that the hold may still be handed over
        EXPECT_EQ(co_await give_back(mine), outcome::done);
    };
    auto next_owner = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        held mine = co_await take_for(own * 3 / 2);
        EXPECT_EQ(now(), 10ms);
        EXPECT_TRUE(mine->what().held.owns_lock());
        w.evict(0);
        co_await sleep(own / 2 + 10ms);
        EXPECT_TRUE(mine->what().told_lost);
    };
    play(giver, next_owner);
}

} // namespace
} // namespace holdfast::sim
