// SPDX-License-Identifier: Apache-2.0
// Scenarios: a hold that is handed over within a client, without a request to the store.
#include "sim/story.hpp"

namespace holdfast::sim {
namespace {

struct HandedOn : story {
    /// Takes lock0 in one of Alice's calls, with a lease time of its own.
    asio::awaitable<held> take_for(duration length) {
        mutex m{*alice.program, w.name_of(0), lease_time{length}};
        const wanted how{.usual = length};
        co_return co_await acquire(w, about(alice), alice.of_program, m, how);
    }
};

// Found by two seeds: the new owner's hold was renewed at the old owner's interval.
TEST_F(HandedOn, TheNextOwnerOfALongerLeaseHearsOfItsLossAsSoonAsItsOwnWants) {
    const duration own = w.how.lease_time;
    auto giver = [&]() -> asio::awaitable<void> {
        held mine = co_await take_for(2 * own);
        co_await sleep(10ms); // short enough that the hold may still be handed over
        EXPECT_EQ(co_await give_back(mine), outcome::done);
    };
    auto next_owner = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        held mine = co_await take_for(own);
        EXPECT_EQ(now(), 10ms);
        EXPECT_TRUE(mine->what().held.owns_lock());
        w.evict(0);
        co_await sleep(own / 3 + 10ms);
        EXPECT_TRUE(mine->what().told_lost);
    };
    play(giver, next_owner);
}

} // namespace
} // namespace holdfast::sim
