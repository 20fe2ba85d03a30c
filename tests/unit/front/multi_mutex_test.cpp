// SPDX-License-Identifier: Apache-2.0
// Several locks taken as one, with threads: which thread is the owner, and members whose clients
// run on another executor or on none.
#include "unit/front/real_time.hpp"

#include <holdfast/multi_mutex.hpp>
#include <holdfast/quorum_mutex.hpp>
#include <holdfast/shared_mutex.hpp>

#include <boost/asio/io_context.hpp>

#include <optional>
#include <thread>

namespace holdfast {
namespace {

class MultiMutex : public in_real_time {
protected:
    mutex a{alice, "a"}, b{alice, "b"};
    mutex d{bob, "d"};
    multi_mutex both{a, b}, across{a, d};
    error_code ec;
};

TEST_F(MultiMutex, IsLockedByAGuard) {
    {
        const std::scoped_lock guard{both};
        EXPECT_FALSE(is_free("a"));
        EXPECT_FALSE(is_free("b"));
        EXPECT_TRUE(both.is_held_by_this_thread());
    }
    EXPECT_TRUE(is_free("a"));
    EXPECT_TRUE(is_free("b"));
}

TEST_F(MultiMutex, TakesMembersOfTwoClientsWithThreadsOfTheirOwn) {
    for (int i = 0; i < 50; ++i) {
        across.lock();
        EXPECT_FALSE(is_free("a"));
        EXPECT_FALSE(is_free("d"));
        across.unlock(ec);
        EXPECT_FALSE(ec) << ec.message();
        EXPECT_TRUE(is_free("d"));
    }
}

TEST_F(MultiMutex, ItsThreadHasTheMembersToo) {
    both.lock();
    EXPECT_TRUE(a.is_held_by_this_thread());
    EXPECT_EQ(thrown_by([&] { a.lock(); }).code, errc::already_held);
    a.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner) << "a part goes with the whole";
    EXPECT_FALSE(is_free("a"));
    both.unlock(ec);
    EXPECT_FALSE(ec);
    EXPECT_FALSE(a.is_held_by_this_thread());
    a.lock();
    a.unlock();
}

TEST_F(MultiMutex, AMemberThatCountsIsCountedOnTop) {
    recursive_mutex r{alice, "r"};
    multi_mutex with{a, r};
    with.lock();
    r.lock();
    EXPECT_EQ(r.hold_count(), 2u);
    r.unlock(ec);
    EXPECT_FALSE(ec);
    r.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
    with.unlock(ec);
    EXPECT_FALSE(ec);
    EXPECT_TRUE(is_free("r"));
}

TEST_F(MultiMutex, WhatItsThreadTookOnTopOutlivesTheWhole) {
    recursive_mutex r{alice, "r"};
    multi_mutex with{a, r};
    with.lock();
    r.lock();
    with.unlock(ec);
    EXPECT_FALSE(ec);
    EXPECT_TRUE(is_free("a"));
    EXPECT_FALSE(is_free("r"));
    EXPECT_EQ(r.hold_count(), 1u);
    r.unlock(ec);
    EXPECT_FALSE(ec);
    EXPECT_TRUE(is_free("r"));
}

TEST_F(MultiMutex, AMemberCanBeLockedAgainWhenTheWholeEndedWithAClient) {
    multi_mutex first_of_alice{a, d};
    first_of_alice.lock();
    alice.close();
    first_of_alice.unlock(ec);
    EXPECT_EQ(ec, errc::closed);
    EXPECT_TRUE(eventually([&] { return is_free("d"); }));
    d.lock();
    d.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
}

TEST_F(MultiMutex, RefusesAMemberThatThisThreadHas) {
    b.lock();
    const support::thrown why = thrown_by([&] { both.lock(); });
    EXPECT_EQ(why.code, errc::already_held);
    EXPECT_THAT(why.text, HasSubstr("holds b by itself"));
    EXPECT_TRUE(is_free("a"));
    b.unlock();
}

TEST_F(MultiMutex, RefusesItselfASecondTime) {
    multi_mutex same{b, a};
    both.lock();
    EXPECT_EQ(thrown_by([&] { both.lock(); }).code, errc::already_held);
    EXPECT_EQ(thrown_by([&] { same.lock(); }).code, errc::already_held);
    both.unlock();
}

TEST_F(MultiMutex, APartIsNotUpgradedNorReadBesides) {
    shared_mutex prices{alice, "prices"};
    multi_mutex reading{a, prices.shared()};
    reading.lock();
    EXPECT_EQ(thrown_by([&] { (void)prices.try_upgrade_for(10ms); }).code, errc::already_held);
    reading.unlock();
    multi_mutex writing{a, prices};
    writing.lock();
    EXPECT_EQ(thrown_by([&] { prices.lock_shared(); }).code, errc::already_held);
    writing.unlock();
    EXPECT_TRUE(is_free("prices"));
}

TEST_F(MultiMutex, IsAbandonedWithItsThread) {
    soon(elsewhere([this] { across.lock(); }));
    EXPECT_FALSE(is_free("a"));
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::abandoned) >= 2; }));
    EXPECT_FALSE(across.is_held_by_this_thread());
}

TEST_F(MultiMutex, ThreadsTakeTurns) {
    int inside = 0, most = 0, turns = 0;
    std::mutex seen;
    const auto work = [&] {
        multi_mutex mine{d, a};
        for (int i = 0; i < 20; ++i) {
            const std::scoped_lock guard{mine};
            {
                const std::scoped_lock noting{seen};
                most = std::max(most, ++inside);
                ++turns;
            }
            const std::scoped_lock noting{seen};
            --inside;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back(work);
    for (std::thread& each : threads)
        each.join();
    EXPECT_EQ(most, 1);
    EXPECT_EQ(turns, 80);
}

TEST_F(MultiMutex, AnyIsALeaseOfTheOneThatWasFree) {
    server.occupy("a", 1h);
    const std::optional<lease> one = both.try_lock_any();
    ASSERT_TRUE(one);
    EXPECT_EQ(one->name(), "b");
    EXPECT_FALSE(both.try_lock_any_for(10ms));
}

/// A member whose client's executor does not run, or ends.
class MemberElsewhere : public in_real_time {
protected:
    client home{options{.store = server.connect({}, 50ms), .release_timeout = 10ms}};
    mutex a{home, "a"};
    std::optional<asio::io_context> io{std::in_place};
    std::optional<client> other{
        std::in_place, io->get_executor(),
        options{.store = server.connect({}, 50ms), .release_timeout = 10ms}};
    std::optional<mutex> d{std::in_place, *other, "d"};
    error_code ec;

    /// Runs the member's client until the lease is there.
    lease taken(multi_mutex& m) {
        auto getting = m.async_lock(asio::use_future);
        while (getting.wait_for(0s) != std::future_status::ready) {
            io->restart();
            io->run_for(1ms);
        }
        return getting.get();
    }
};

TEST_F(MemberElsewhere, ThatNeverRunsEndsATry) {
    multi_mutex both{a, *d};
    const support::thrown why = thrown_by([&] { (void)both.try_lock(); });
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_THAT(why.text, HasSubstr("nobody runs its client's executor"));
    EXPECT_TRUE(eventually([&] { return is_free("a"); }));
}

TEST_F(MemberElsewhere, ThatStoppedDoesNotKeepUnlockWaiting) {
    multi_mutex both{a, *d};
    lease whole = taken(both);
    whole.unlock(ec);
    EXPECT_EQ(ec, errc::outcome_unknown);
    EXPECT_TRUE(eventually([&] { return is_free("a"); }));
}

TEST_F(MemberElsewhere, ThatIsGoneDoesNotKeepUnlockWaiting) {
    multi_mutex both{a, *d};
    lease whole = taken(both);
    io.reset();
    whole.unlock(ec);
    EXPECT_TRUE(ec);
    EXPECT_TRUE(eventually([&] { return is_free("a"); }));
}

TEST_F(MemberElsewhere, ThatIsGoneIsClosedForWhoeverComes) {
    multi_mutex both{a, *d};
    io.reset();
    EXPECT_EQ(thrown_by([&] { (void)both.try_lock(); }).code, errc::closed);
    EXPECT_TRUE(eventually([&] { return is_free("a"); }));
}

TEST_F(MemberElsewhere, ThatGoesEndsWhoeverWaitsForIt) {
    server.occupy("d", 1h);
    multi_mutex both{a, *d};
    auto getting = both.async_lock(asio::use_future);
    for (int i = 0; i < 50; ++i) {
        io->restart();
        io->run_for(1ms);
    }
    io.reset();
    EXPECT_EQ(thrown_by([&] { (void)soon(std::move(getting)); }).code, errc::closed);
    EXPECT_TRUE(eventually([&] { return is_free("a"); }));
}

TEST_F(MemberElsewhere, ThatStoppedIsNoticedAndTheRestIsReleased) {
    mutex short_lived{*other, "d", {.lease = lease_time{300ms}}};
    multi_mutex both{a, short_lived};
    const lease whole = taken(both);
    EXPECT_TRUE(eventually([&] { return whole.lost().stop_requested(); }));
    EXPECT_TRUE(eventually([&] { return is_free("a"); }));
}

TEST_F(MemberElsewhere, ADroppedLeaseFreesTheRestWhenItsOwnClientIsGone) {
    multi_mutex both{*d, a}; // waits on the client that goes
    lease whole = taken(both);
    io.reset();
    EXPECT_FALSE(is_free("a"));
    whole = {};
    EXPECT_TRUE(eventually([&] { return is_free("a"); }));
}

class QuorumMutex : public in_real_time {
protected:
    std::vector<std::unique_ptr<memory::server>> servers;
    std::vector<std::unique_ptr<client>> clients;
    std::optional<quorum_mutex> stock;
    error_code ec;

    QuorumMutex() {
        quorum_mutex::nodes nodes;
        for (int i = 0; i < 3; ++i) {
            servers.push_back(std::make_unique<memory::server>());
            clients.push_back(std::make_unique<client>(
                options{.store = servers.back()->connect(), .close_timeout = 0ms}));
            nodes.push_back(*clients.back());
        }
        stock.emplace(nodes, "stock", quorum_options{.again = recursion::counted});
    }
    bool is_free_everywhere() const {
        for (const auto& each : servers)
            if (held_count(*each) > 0)
                return false;
        return true;
    }
};

TEST_F(QuorumMutex, IsLockedByAGuardOverThreeClientsWithThreadsOfTheirOwn) {
    for (int i = 0; i < 50; ++i) {
        stock->lock();
        EXPECT_TRUE(stock->is_held_by_this_thread());
        stock->unlock(ec);
        EXPECT_FALSE(ec) << ec.message();
        EXPECT_TRUE(eventually([&] { return is_free_everywhere(); }));
    }
}

TEST_F(QuorumMutex, CountsWhatAThreadTakesAgain) {
    stock->lock();
    stock->lock();
    EXPECT_EQ(stock->hold_count(), 2u);
    stock->unlock();
    EXPECT_TRUE(stock->is_held_by_this_thread());
    stock->unlock();
    EXPECT_TRUE(eventually([&] { return is_free_everywhere(); }));
}

TEST_F(QuorumMutex, IsAbandonedWithItsThreadAndNoVoteIsRenewedAnyMore) {
    soon(elsewhere([this] { stock->lock(lease_time{10s}); }));
    EXPECT_FALSE(stock->is_held_by_this_thread());
}

TEST_F(QuorumMutex, ThreadsTakeTurns) {
    int inside = 0, most = 0;
    std::mutex seen;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int turn = 0; turn < 20; ++turn) {
                const std::scoped_lock guard{*stock};
                {
                    const std::scoped_lock noting{seen};
                    most = std::max(most, ++inside);
                }
                const std::scoped_lock noting{seen};
                --inside;
            }
        });
    for (std::thread& each : threads)
        each.join();
    EXPECT_EQ(most, 1);
}

} // namespace
} // namespace holdfast
