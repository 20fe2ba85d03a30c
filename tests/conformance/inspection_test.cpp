// SPDX-License-Identifier: Apache-2.0
// What each store reports about its locks, and waiting until a lock is free without taking it.
#include "conformance/suite.hpp"

#include <holdfast/fair_mutex.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/token_mutex.hpp>

#include <boost/asio/use_future.hpp>

#include <future>
#include <mutex>

#include <gmock/gmock.h>

namespace holdfast::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Inspection : public suite {
protected:
    void SetUp() override {
        if (GetParam().label.ends_with("-acl"))
            GTEST_SKIP() << "an operator's rights are tried in tests/redis/acl_test.cpp";
        suite::SetUp();
    }

    /// Where somebody who listens is told of; elsewhere it may listen, or not yet.
    bool one_listens(client& home) {
        return !store().counts_listeners() ||
               support::eventually([&] { return home.inspect("L")->listeners == 1u; });
    }
    /// Expected entry of a waiter that is subscribed or is not subscribed.
    std::optional<bool> told_of(bool listens) {
        return store().tells_who_listens() ? std::optional{listens} : std::nullopt;
    }
    static std::vector<std::string> names_in(const lock_list& all) {
        std::vector<std::string> names;
        for (const lock_state& each : all.locks)
            names.push_back(each.name);
        return names;
    }
};
HOLDFAST_ON_EACH_STORE(Inspection);

TEST_P(Inspection, OfAFreeLockIsNothing) {
    client home = make_client();
    EXPECT_FALSE(home.inspect("L"));
    EXPECT_THAT(home.list().locks, IsEmpty());
    EXPECT_TRUE(home.list().complete);
}

TEST_P(Inspection, TellsWhoHoldsALockForHowLongAndWhoListens) {
    client home = make_client(), other = make_client();
    mutex lock{home, "L"}, same{other, "L"};
    lock.lock(lease_time{20s});
    std::optional<lock_state> seen = other.inspect("L");
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->name, "L");
    EXPECT_EQ(seen->kind, key_kind::lock);
    ASSERT_EQ(seen->owners.size(), 1u);
    EXPECT_EQ(seen->owners[0].text.substr(0, 37), home.id() + ":");
    EXPECT_TRUE(seen->owners[0].is_holdfast);
    if (!store().leases_by_session()) {
        ASSERT_TRUE(seen->remaining);
        EXPECT_GT(*seen->remaining, 10s);
        EXPECT_LE(*seen->remaining, 20s);
    }
    EXPECT_EQ(seen->listeners.value_or(0), 0u);

    auto waits = same.async_lock(asio::use_future);
    ASSERT_TRUE(one_listens(home));
    lock.unlock();
    support::soon(std::move(waits)).unlock();
}

TEST_P(Inspection, TellsTheLastFencingTokenOfALockThatHasOne) {
    HOLDFAST_NEEDS(counts_tokens);
    client home = make_client();
    mutex plain{home, "plain"};
    fenced_mutex fenced{home, "fenced"};
    const std::scoped_lock held{plain, fenced};
    EXPECT_EQ(home.inspect("plain")->last_token, 0u);
    EXPECT_EQ(home.inspect("fenced")->last_token, fenced.fencing_token());
    EXPECT_GT(fenced.fencing_token(), 0u);
}

TEST_P(Inspection, TellsAStrangerFromOneOfOurs) {
    client home = make_client();
    store().stranger_takes("L", 30s);
    const std::optional<lock_state> seen = home.inspect("L");
    ASSERT_TRUE(seen && seen->owners.size() == 1);
    EXPECT_EQ(seen->kind, key_kind::lock);
    EXPECT_FALSE(seen->owners[0].is_holdfast);
    EXPECT_FALSE(seen->owners[0].client);
}

TEST_P(Inspection, TellsTheQueueOfAFairLockInOrder) {
    HOLDFAST_NEEDS_LOCKS(lock_kind::fair);
    client home = make_client(), second = make_client(), third = make_client();
    fair_mutex lock{home, "L"}, next{second, "L"}, last{third, "L"};
    lock.lock();
    auto first_waits = next.async_lock(asio::use_future);
    ASSERT_TRUE(support::eventually([&] { return home.inspect("L")->waiters.size() == 1; }));
    auto last_waits = last.async_lock(asio::use_future);
    ASSERT_TRUE(support::eventually([&] { return home.inspect("L")->waiters.size() == 2; }));
    ASSERT_TRUE(!store().tells_who_listens() ||
                support::eventually([&] { return home.inspect("L")->listeners == 2u; }));
    const lock_state seen = home.inspect("L").value();
    EXPECT_EQ(seen.waiting, 2u);
    ASSERT_EQ(seen.waiters.size(), 2u);
    EXPECT_EQ(seen.waiters[0].text.substr(0, 37), second.id() + ":");
    EXPECT_EQ(seen.waiters[1].text.substr(0, 37), third.id() + ":");
    for (const lock_waiter& each : seen.waiters) {
        EXPECT_TRUE(each.is_holdfast);
        EXPECT_EQ(each.listens, told_of(true));
        if (store().leases_by_session())
            continue;
        EXPECT_GT(each.remaining.value(), 1s);
        // The server may have written the end of a place after it read its clock for this reply.
        EXPECT_LE(each.remaining.value(), store().place_lasts_at_most() + 1s);
    }
    lock.unlock();
    support::soon(std::move(first_waits)).unlock();
    support::soon(std::move(last_waits)).unlock();
    EXPECT_FALSE(home.inspect("L"));
}

TEST_P(Inspection, TellsWhoseTurnItIsAtAFreeLock) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client();
    store().stranger_takes("L", 30s);
    store().stranger_queues("L");
    EXPECT_TRUE(home.inspect("L")->is_held);
    EXPECT_TRUE(home.force_unlock("L"));
    const std::optional<lock_state> seen = home.inspect("L");
    ASSERT_TRUE(seen);
    EXPECT_FALSE(seen->is_held);
    EXPECT_THAT(seen->owners, IsEmpty());
    ASSERT_EQ(seen->waiters.size(), 1u);
    EXPECT_FALSE(seen->waiters[0].is_holdfast);
    EXPECT_EQ(seen->waiters[0].listens, told_of(false));
    EXPECT_THAT(home.list().locks, IsEmpty());
    EXPECT_TRUE(home.wait_free("L", 0ms));
}

TEST_P(Inspection, TellsReadersAndTheirLeasesAndWhoWaitsToWrite) {
    client home = make_client(), second = make_client(), third = make_client();
    shared_mutex one{home, "L"}, two{second, "L"}, writes{third, "L"};
    one.lock_shared(lease_time{20s});
    two.lock_shared(lease_time{60s});
    lock_state seen = third.inspect("L").value();
    EXPECT_EQ(seen.kind, key_kind::read_write_lock);
    ASSERT_EQ(seen.owners.size(), 2u);
    for (const lock_owner& each : seen.owners) {
        const bool is_first = each.text.starts_with(home.id());
        EXPECT_FALSE(each.writes);
        if (store().leases_by_session())
            continue;
        EXPECT_LE(each.remaining.value(), is_first ? 20s : 60s);
        EXPECT_GT(each.remaining.value(), is_first ? 1s : 20s);
    }
    EXPECT_EQ(seen.waiting, 0u);
    auto waits = writes.async_lock(asio::use_future);
    ASSERT_TRUE(support::eventually([&] { return home.inspect("L")->waiters.size() == 1; }));
    EXPECT_EQ(home.inspect("L")->waiters[0].text.substr(0, 37), third.id() + ":");
    one.unlock_shared();
    two.unlock_shared();
    lease alone = support::soon(std::move(waits));
    seen = home.inspect("L").value();
    ASSERT_EQ(seen.owners.size(), 1u);
    EXPECT_TRUE(seen.owners[0].writes);
    EXPECT_FALSE(seen.owners[0].remaining) << "it is the lock's";
    EXPECT_EQ(seen.waiting, 0u) << "who writes waits no more";
    alone.unlock();
}

TEST_P(Inspection, TellsATokenLockAndWhetherAnotherProgramHasIt) {
    HOLDFAST_NEEDS_LOCKS(lock_kind::token);
    client home = make_client(), other = make_client();
    token_mutex lock{home, "L"}, same{other, "L"};
    lock.lock(lease_time{20s});
    auto waits = same.async_lock(asio::use_future);
    ASSERT_TRUE(support::eventually([&] { return home.inspect("L")->listeners == 1u; }));
    lock_state seen = other.inspect("L").value();
    EXPECT_EQ(seen.kind, key_kind::token_lock);
    ASSERT_EQ(seen.owners.size(), 1u);
    EXPECT_EQ(seen.owners[0].text.substr(0, 37), home.id() + ":");
    EXPECT_TRUE(seen.owners[0].is_holdfast);
    EXPECT_LE(seen.remaining.value(), 20s);
    EXPECT_THAT(names_in(home.list()), ElementsAre("L"));
    lock.unlock();
    support::soon(std::move(waits)).unlock();

    store().stranger_sets_token("L", std::nullopt);
    seen = other.inspect("L").value();
    EXPECT_EQ(seen.kind, key_kind::token_lock);
    EXPECT_FALSE(seen.owners.at(0).is_holdfast);
    EXPECT_FALSE(seen.remaining);
    EXPECT_FALSE(home.force_unlock("L", "somebody else"));
    EXPECT_TRUE(home.force_unlock("L", seen.owners[0].text));
    EXPECT_FALSE(home.inspect("L"));
}

TEST_P(Inspection, ListsWhatIsHeldByName) {
    client home = make_client();
    std::vector<std::unique_ptr<mutex>> locks;
    for (const char* name : {"b", "a:1", "a:2", "c"})
        locks.push_back(std::make_unique<mutex>(home, name));
    for (const auto& each : locks)
        each->lock();
    store().put_something_else("a:3");
    EXPECT_THAT(names_in(home.list()), ElementsAre("a:1", "a:2", "b", "c"));
    EXPECT_THAT(names_in(home.list("a:*")), ElementsAre("a:1", "a:2"));
    EXPECT_THAT(names_in(home.list("a:[2-9]")), ElementsAre("a:2"));
    EXPECT_THAT(names_in(home.list("?")), ElementsAre("b", "c"));
    EXPECT_THAT(home.list("nothing").locks, IsEmpty());
    const lock_list some = home.list("*", 2);
    EXPECT_EQ(some.locks.size(), 2u);
    EXPECT_FALSE(some.complete);
    EXPECT_TRUE(home.list("*", 4).complete);
    for (const auto& each : locks)
        each->unlock();
    EXPECT_THAT(home.list().locks, IsEmpty());
}

TEST_P(Inspection, PatternsHaveTheSameRulesOnEveryStore) {
    const std::vector<std::string> all{"!", "*", "a", "b", "c", "\xc3\xa4"}; // the last is a-umlaut
    client home = make_client();
    std::vector<std::unique_ptr<mutex>> locks;
    for (const std::string& name : all) {
        locks.push_back(std::make_unique<mutex>(home, name));
        locks.back()->lock();
    }
    const std::pair<const char*, std::vector<std::string>> cases[] = {
        {"*", all},
        {"?", {"!", "*", "a", "b", "c"}},
        {"??", {all.back()}},
        {"[^a]", {"!", "*", "b", "c"}},
        {"[!a]", {"!", "*", "b", "c"}},
        {"[!a-c]", {"!", "*"}},
        {"[^!a]", {"*", "b", "c"}},
        {"[a-b]", {"a", "b"}},
        {"[b-a]", {"a", "b"}},
        {"[ab", {"a", "b"}},
        {"[a!]", {"!", "a"}},
        {"[\\!a]", {"!", "a"}},
        {"[[:alpha:]]", {}},
        {"[*]", {"*"}},
        {"\\*", {"*"}},
        {"\\a", {"a"}},
        {"*a*", {"a"}},
        {"*\xa4", {all.back()}},
        {"[!]", {"!", "*", "a", "b", "c"}},
    };
    for (const auto& [pattern, names] : cases)
        EXPECT_EQ(names_in(home.list(pattern)), names) << pattern;
}

TEST_P(Inspection, SeesOnlyNamesBehindItsPrefix) {
    client shop = make_client({.prefix = "shop*:"}), all = make_client();
    mutex ours{shop, "L"}, others{all, "shopX:L"};
    ours.lock();
    others.lock();
    EXPECT_THAT(names_in(shop.list()), ElementsAre("shop*:L"));
    EXPECT_THAT(names_in(all.list()), ElementsAre("shop*:L", "shopX:L"));
    EXPECT_EQ(shop.inspect("L")->name, "shop*:L");
    EXPECT_FALSE(all.inspect("L"));
    ours.unlock();
    others.unlock();
}

TEST_P(Inspection, WaitsUntilALockIsFreeAndTakesNothing) {
    client home = make_client(), other = make_client({.poll_bound = 1h});
    EXPECT_TRUE(other.wait_free("L", 0ms));
    mutex lock{home, "L"};
    lock.lock();
    EXPECT_FALSE(other.wait_free("L", 0ms));
    EXPECT_FALSE(other.wait_free("L", 20ms));
    auto free = other.async_wait_free("L", duration::max(), asio::use_future);
    ASSERT_TRUE(one_listens(home));
    lock.unlock();
    EXPECT_TRUE(support::soon(std::move(free))) << "the release wakes it";
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Inspection, IsWokenByTheReleaseOfEitherSideOfASharedLock) {
    client home = make_client(), other = make_client({.poll_bound = 1h});
    shared_mutex lock{home, "L"};
    for (basic_mutex* const side : {static_cast<basic_mutex*>(&lock), &lock.shared()}) {
        side->lock();
        auto free = other.async_wait_free("L", duration::max(), asio::use_future);
        ASSERT_TRUE(one_listens(home));
        side->unlock();
        EXPECT_TRUE(support::soon(std::move(free)));
    }
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(Inspection, WaitsForTheEndOfALeaseThatNobodyReleases) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client home = make_client({.poll_bound = 1h});
    store().stranger_takes("L", 300ms);
    EXPECT_TRUE(home.wait_free("L", 30s));
}

TEST_P(Inspection, AWaitEndsWithItsClient) {
    client home = make_client();
    store().stranger_takes("L", 1h);
    auto free = home.async_wait_free("L", duration::max(), asio::use_future);
    ASSERT_TRUE(!store().counts_listeners() ||
                support::eventually([&] { return store().listeners() == 1u; }));
    home.close();
    EXPECT_THROW(support::soon(std::move(free)), boost::system::system_error);
}

TEST_P(Inspection, RefusesANameThatNothingCanHave) {
    client home = make_client();
    EXPECT_THROW((void)home.inspect(""), boost::system::system_error);
    EXPECT_THROW((void)home.wait_free("", 0ms), boost::system::system_error);
    EXPECT_THROW((void)home.force_unlock(""), boost::system::system_error);
}

TEST_P(Inspection, AForcedReleaseEndsAnybodysHold) {
    client home = make_client();
    store().stranger_takes("L", 1h);
    EXPECT_TRUE(home.force_unlock("L"));
    EXPECT_FALSE(home.force_unlock("L"));
    EXPECT_FALSE(home.inspect("L"));
}

TEST_P(Inspection, AForcedReleaseEndsNoHoldButTheOneItWasMeantFor) {
    client home = make_client(), another = make_client();
    store().stranger_takes("L", 1h);
    const std::string owner = home.inspect("L").value().owners.at(0).text;
    EXPECT_TRUE(home.force_unlock("L", owner));
    mutex lock{another, "L"};
    lock.lock();
    EXPECT_FALSE(home.force_unlock("L", owner)); // as a repetition would
    EXPECT_TRUE(lock.is_locked());
    lock.unlock();
}

TEST_P(Inspection, AForcedReleaseThatCameTooLateEndsNothing) {
    options how;
    store().reach_badly(how);
    client late{std::move(how)};
    store().stranger_takes("L", 1h);
    EXPECT_TRUE(late.inspect("L"));
    store().freeze();
    EXPECT_THROW((void)late.force_unlock("L"), boost::system::system_error);
    store().thaw();
    client another = make_client(); // asks behind it
    EXPECT_TRUE(another.inspect("L"));
    EXPECT_TRUE(late.inspect("L"));
}

// Asking for a lock, and giving up: what an attempt leaves behind, whatever becomes of its answer.

class Looking : public suite {
protected:
    /// On a way where answers get lost; it has used it before, so that only the next request
    /// counts.
    client make_badly_reached(options how = {}) {
        how.poll_bound = 25ms;
        store().reach_badly(how);
        client home{std::move(how)};
        mutex lock{home, "lock"};
        lock.lock();
        lock.unlock();
        return home;
    }
    bool nothing_left() {
        return support::eventually([&] { return store().held() == 0 && store().listeners() == 0; });
    }
};
HOLDFAST_ON_EACH_STORE_WITH(Looking, lock_kind::spin, lock_kind::fenced, lock_kind::token);

TEST_P(Looking, TryingWithoutTimeoutLeavesNoPlace) {
    client home = make_client();
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 30s);
    EXPECT_FALSE(lock.try_lock()); // a store may ask twice where it guessed that it was free
    const std::size_t sent = requests_during([&] { EXPECT_FALSE(lock.try_lock()); });
    EXPECT_EQ(sent, store().counts_requests() ? 1u : 0u);
    EXPECT_EQ(store().listeners(), 0u);
    store().evict("lock");
    EXPECT_TRUE(nothing_left());
}

TEST_P(Looking, ALostAnswerIsFoundByLookingAgain) {
    client home = make_badly_reached();
    mutex lock{home, "lock"};
    store().lose_answer_about("lock");
    lock.lock();
    EXPECT_EQ(store().held(), 1u);
    error_code ec;
    lock.unlock(ec);
    EXPECT_FALSE(ec);
    EXPECT_EQ(store().held(), 0u) << "looking twice granted twice";
}

TEST_P(Looking, LeavingAfterALostAnswerLeavesNothing) {
    client home = make_badly_reached();
    mutex lock{home, "lock"};
    store().lose_answer_about("lock");
    try {
        EXPECT_FALSE(lock.try_lock()) << "its answer was lost, so it cannot have been granted";
        FAIL() << "nobody knows whether it is busy";
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::outcome_unknown);
    }
    EXPECT_TRUE(nothing_left());
    EXPECT_TRUE(lock.try_lock_for(support::far_too_long));
    lock.unlock();
}

TEST_P(Looking, ALostAnswerToAReleaseIsNoTrouble) {
    client home = make_badly_reached(), other = make_client();
    mutex lock{home, "lock"}, watched{other, "lock"};
    lock.lock();
    store().lose_answer_about("lock");
    error_code ec;
    lock.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_TRUE(watched.try_lock());
    watched.unlock();
}

TEST_P(Looking, AnAbandonedPlaceDelaysNobody) {
    client home = make_client({.poll_bound = 10min});
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 30s);
    std::optional<client> gone = make_client({.close_timeout = 0ms, .poll_bound = 10min});
    std::future<lease> first = mutex{*gone, "lock"}.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_waits());
    std::future<lease> second = lock.async_lock(asio::use_future);
    gone.reset();
    EXPECT_THROW(support::soon(std::move(first)), boost::system::system_error);
    ASSERT_TRUE(somebody_waits());
    store().stranger_releases("lock");
    EXPECT_TRUE(support::soon(std::move(second)).owns_lock());
}

TEST_P(Looking, NothingIsGrantedAfterGivingUp) {
    moving_client home{store(), {.unavailable_timeout = 1s}};
    client other = make_client();
    mutex lock{home.get(), "lock"}, watched{other, "lock"};
    lock.lock(); // so that it knows the server and its clock
    lock.unlock();
    store().freeze();
    std::future<std::optional<lease>> tried =
        lock.async_try_lock_for(1s, lease_time{1min}, asio::use_future);
    // Until it has given up, and beyond every deadline that its requests were sent with.
    EXPECT_TRUE(support::eventually([&] {
        home.pass(1s);
        return support::is_ready(tried);
    }));
    store().thaw();
    try {
        EXPECT_FALSE(tried.get());
    } catch (const boost::system::system_error& e) {
        EXPECT_TRUE(e.code() == errc::outcome_unknown || e.code() == errc::unreachable);
    }
    EXPECT_TRUE(watched.try_lock_for(support::far_too_long));
    watched.unlock();
    EXPECT_TRUE(nothing_left());
}

TEST_P(Looking, ATryCancelledWhileItsAnswerIsAwaitedIsNotRenewed) {
    moving_client home{store(), {}};
    mutex lock{home.get(), "lock"};
    lock.lock();
    lock.unlock();
    std::stop_source cancel;
    store().freeze();
    auto waiting = std::async(std::launch::async, [&] {
        EXPECT_THROW((void)lock.try_lock_for(1min, cancel.get_token()),
                     boost::system::system_error);
    });
    cancel.request_stop();
    support::soon(std::move(waiting));
    store().thaw();
    for (int i = 0; i < 5; ++i) // 45 s and more, in steps that a renewal would survive
        home.pass(9s);
    EXPECT_TRUE(nothing_left());
}

TEST_P(Looking, ATimedTryOnADeadServerFailsWhenItsTimeoutEnds) {
    client home = make_client();
    mutex lock{home, "lock"};
    store().stop_answering();
    try {
        EXPECT_FALSE(lock.try_lock_for(200ms));
        FAIL() << "nobody knows whether it is busy";
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::unreachable);
    }
}

} // namespace
} // namespace holdfast::conformance
