// SPDX-License-Identifier: Apache-2.0
// Grants and renewals that count only if the required number of replicas has confirmed them.
#include "unit/sync/stage.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/shared_mutex.hpp>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

using testing::HasSubstr;

class Replicas : public on_stage {
protected:
    Replicas() {
        server.replicate(1, 5ms);
        run_for(10ms);
    }

    actor& alice = enter({.lease_time = 9s, .required_replicas = 1, .unavailable_timeout = 10s});
    mutex stock{alice, "stock"};

    /// With none missing.
    lease confirmed(basic_mutex& m) {
        said<lease> held;
        m.async_lock(held.handler());
        run_for(10ms);
        EXPECT_TRUE(held.well());
        return held.take();
    }
    /// The replica is back, and has all.
    void mend() {
        server.demote(1);
        run_for(10ms);
    }
    void release(lease held) {
        held.async_unlock(said{}.handler());
        settle();
    }
    static unsigned number_of(const lease& held) { return held.hold()->replicas(); }
};

TEST_F(Replicas, AGrantCountsWhenItIsConfirmed) {
    said<lease> held;
    stock.async_lock(held.handler());
    run_for(9ms);
    EXPECT_FALSE(held.done());
    run_for(1ms);
    ASSERT_TRUE(held.well());
    EXPECT_EQ(number_of(held.value()), 1u);
    EXPECT_EQ(held.value().remaining(), 9s - 92ms - 10ms) << "it counts from its request";
}

TEST_F(Replicas, OneAttemptThatIsNotConfirmedThrowsAndIsUndone) {
    server.cut_replica(1);
    said<std::optional<lease>> tried;
    stock.async_try_lock(tried.handler());
    run_for(1s);
    EXPECT_TRUE(tried.failed(store_errc::not_replicated));
    EXPECT_TRUE(tried.failed(errc::outcome_unknown));
    EXPECT_THAT(alice.ear->last(event_kind::waited)->text, HasSubstr("0 of 1 replicas confirmed"));
    EXPECT_EQ(held_count(server), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Replicas, WhoHasTimeoutKeepsThePlaceUntilItIsConfirmed) {
    server.cut_replica(1);
    said<lease> held;
    stock.async_lock(held.handler());
    run_for(5s);
    EXPECT_FALSE(held.done());
    EXPECT_EQ(held_count(server), 1u);
    EXPECT_EQ(alice.count(verb::release), 0u);
    for (const sent& each : alice.all(verb::look))
        EXPECT_EQ(each.holds[0].owner, alice.log[0].holds[0].owner);
    mend();
    run_for(2s);
    EXPECT_TRUE(held.well());
    EXPECT_EQ(held_count(server), 1u);
}

TEST_F(Replicas, TimedAttemptAtAFreeLockNeverReportsBusyWithoutConfirmation) {
    server.cut_replica(1);
    for (duration timeout{300}; timeout < 800ms; timeout += 7ms) {
        said<std::optional<lease>> tried;
        stock.async_try_lock_for(timeout, tried.handler());
        run_for(3s);
        EXPECT_TRUE(tried.failed(store_errc::not_replicated)) << timeout.count() << " ms";
    }
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Replicas, TheTimeoutWithAnOutageEndsThat) {
    server.cut_replica(1);
    said<lease> held;
    stock.async_lock(held.handler());
    run_for(13s);
    EXPECT_TRUE(held.failed(store_errc::not_replicated));
    EXPECT_EQ(held_count(server), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Replicas, ARenewalThatIsNotConfirmedExtendsNoBelief) {
    const lease held = confirmed(stock);
    server.cut_replica(1);
    run_for(9s - 93ms - 10ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(held.in_danger().stop_requested());
    EXPECT_THAT(alice.ear->of(event_kind::renewal_failed).front().text,
                HasSubstr("0 of 1 replicas confirmed"));
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(held.lost().stop_requested());
    run_for(1s);
    EXPECT_EQ(held_count(server), 0u) << "what the store has of it is released";
}

TEST_F(Replicas, ItIsRepeatedUntilItIsConfirmedOverTheSameConnection) {
    const lease held = confirmed(stock);
    server.cut_replica(1);
    run_for(6s);
    EXPECT_GE(alice.ear->count(event_kind::renewal_failed), 2u);
    for (const renewal_options& each : alice.meddling.wishes)
        EXPECT_FALSE(each.elsewhere) << "it was answered";
    mend();
    run_for(1min);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Replicas, AFixedLeaseIsOnlyAskedForAndNeedsNoConfirmation) {
    said<lease> held;
    stock.async_lock(lease_time{9s}, held.handler());
    run_for(10ms);
    ASSERT_TRUE(held.well());
    server.cut_replica(1);
    run_for(8s);
    EXPECT_GE(alice.count(verb::renew), 2u);
    EXPECT_EQ(alice.ear->count(event_kind::renewal_failed), 0u);
    EXPECT_TRUE(held.value().owns_lock());
}

TEST_F(Replicas, AnExtensionThatIsNotConfirmedSaysSo) {
    lease held = confirmed(stock);
    server.cut_replica(1);
    said<> extended;
    held.async_extend(lease_time{1min}, extended.handler());
    run_for(2s);
    EXPECT_TRUE(extended.failed(store_errc::not_replicated));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_LE(held.remaining(), 9s);
}

TEST_F(Replicas, AReleaseDoesNotWait) {
    lease held = confirmed(stock);
    server.cut_replica(1);
    said<> released;
    held.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
}

TEST_F(Replicas, ALocksOwnNumberIsInsteadOfTheClients) {
    mutex none{alice, "stock", mutex_options{.required_replicas = 0}};
    server.cut_replica(1);
    const lease held = taken(none);
    EXPECT_EQ(number_of(held), 0u);
    run_for(1min);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(alice.ear->count(event_kind::renewal_failed), 0u);
}

TEST_F(Replicas, RenewalsTravelByTheirNumber) {
    mutex none{alice, "none", mutex_options{.required_replicas = 0}};
    const lease one = confirmed(stock), other = taken(none);
    run_for(4s);
    ASSERT_EQ(alice.count(verb::renew), 2u);
    for (const sent& each : alice.all(verb::renew))
        EXPECT_EQ(each.holds.size(), 1u);
}

class ReplicasOfNextOwners : public Replicas {
protected:
    mutex none{alice, "stock", mutex_options{.required_replicas = 0}};

    /// Whoever waits while that one is held.
    said<lease> next_owner_of(lease held, mutex& next_owner) {
        said<lease> got;
        next_owner.async_lock(got.handler());
        settle();
        release(std::move(held));
        run_for(10ms);
        EXPECT_TRUE(got.well());
        return got;
    }
};

TEST_F(ReplicasOfNextOwners, AHoldIsNotPassedOnToWhoWantsMore) {
    const said<lease> got = next_owner_of(taken(none), stock);
    EXPECT_EQ(alice.count(verb::look), 2u);
    EXPECT_EQ(number_of(got.value()), 1u);
}

TEST_F(ReplicasOfNextOwners, ItIsPassedOnToWhoWantsFewerAndKeepsItsNumber) {
    const said<lease> got = next_owner_of(confirmed(stock), none);
    EXPECT_EQ(alice.count(verb::look), 1u);
    EXPECT_EQ(number_of(got.value()), 1u);
}

TEST_F(ReplicasOfNextOwners, AReadHoldIsNotSharedWithWhoWantsMore) {
    shared_mutex all{alice, "prices"}, few{alice, "prices", {.required_replicas = 0}};
    const lease first = taken(few.shared());
    said<lease> second;
    all.async_lock_shared(second.handler());
    run_for(10ms);
    ASSERT_TRUE(second.well());
    EXPECT_NE(first.owner(), second.value().owner());
    EXPECT_EQ(alice.count(verb::look), 2u);
    const lease third = taken(few.shared());
    EXPECT_EQ(alice.count(verb::look), 2u) << "with who wants fewer it is";
}

TEST_F(ReplicasOfNextOwners, PermitsAreNotPassedOnToWhoWantsMore) {
    counting_semaphore few{alice, "seats", {.required_replicas = 0}}, all{alice, "seats"};
    add_to_counter(server, "seats", 1);
    said<> first, second, released;
    few.async_acquire(1, first.handler());
    settle();
    all.async_acquire(1, second.handler());
    settle();
    few.async_release(1, released.handler());
    run_for(30ms);
    EXPECT_TRUE(first.well());
    EXPECT_TRUE(second.well());
    EXPECT_EQ(alice.count(verb::change), 1u) << "the release went to the store";
}

class ReplicasOfReentry : public Replicas {
protected:
    recursive_mutex few{alice, "stock", mutex_options{.required_replicas = 0}};
    recursive_mutex all{alice, "stock"};

    said<lease> entered_again(const lease& outer) {
        said<lease> inner;
        all.async_lock(outer, inner.handler());
        settle();
        return inner;
    }
};

TEST_F(ReplicasOfReentry, WithMoreItAsksTheStoreFirstAndThenThatIsTheHoldsNumber) {
    const lease outer = taken(few);
    const said<lease> inner = entered_again(outer);
    run_for(9ms);
    EXPECT_FALSE(inner.done());
    run_for(1ms);
    ASSERT_TRUE(inner.well());
    EXPECT_EQ(alice.all(verb::renew).back().holds[0].replicas, 1);
    EXPECT_EQ(number_of(outer), 1u);
    run_for(4s);
    EXPECT_EQ(alice.count(verb::renew), 2u);
    EXPECT_EQ(alice.all(verb::renew).back().holds[0].replicas, 1);
    const said<lease> third = entered_again(outer);
    EXPECT_TRUE(third.well()) << "at once";
    EXPECT_EQ(alice.count(verb::renew), 2u);
}

TEST_F(ReplicasOfReentry, ThatIsNotConfirmedFailsAndTheHoldIsAsItWas) {
    lease outer = taken(few);
    server.cut_replica(1);
    const said<lease> inner = entered_again(outer);
    run_for(1s);
    EXPECT_TRUE(inner.failed(store_errc::not_replicated));
    EXPECT_EQ(number_of(outer), 0u);
    run_for(1min);
    EXPECT_TRUE(outer.owns_lock());
    release(std::move(outer));
    EXPECT_EQ(held_count(server), 0u) << "its share was given back";
}

TEST_F(ReplicasOfReentry, OfAFixedLeaseChangesNothingElse) {
    said<lease> outer;
    few.async_lock(lease_time{6s}, outer.handler());
    settle();
    run_for(1s);
    const duration before = outer.value().remaining();
    const said<lease> inner = entered_again(outer.value());
    run_for(10ms);
    ASSERT_TRUE(inner.well());
    EXPECT_NEAR(static_cast<double>(outer.value().remaining().count()),
                static_cast<double>((before - 10ms).count()), 3);
    EXPECT_FALSE(outer.value().hold()->renewed());
}

TEST_F(ReplicasOfReentry, WhatFewerConfirmedMeanwhileIsAskedForAnew) {
    const lease outer = taken(few);
    run_for(3s - 2ms); // its renewal goes out, and is answered, while the other is waited for
    const said<lease> inner = entered_again(outer);
    run_for(19ms);
    EXPECT_FALSE(inner.done());
    run_for(1ms);
    ASSERT_TRUE(inner.well());
    EXPECT_EQ(alice.count(verb::renew), 3u);
    EXPECT_EQ(outer.remaining(), 9s - 92ms - 10ms) << "counted from the last one";
}

TEST_F(ReplicasOfReentry, AnExtensionMeanwhileIsNotCutShort) {
    said<lease> outer;
    few.async_lock(lease_time{6s}, outer.handler());
    settle();
    const said<lease> inner = entered_again(outer.value());
    said<> extended;
    outer.value().async_extend(lease_time{20s}, extended.handler());
    settle();
    ASSERT_TRUE(extended.well());
    run_for(20ms);
    ASSERT_TRUE(inner.well());
    EXPECT_EQ(number_of(outer.value()), 1u);
    EXPECT_GE(outer.value().remaining(), 20s - 202ms - 20ms);
    EXPECT_EQ(alice.ear->count(event_kind::in_danger), 0u);
}

TEST_F(ReplicasOfReentry, WhatFewerConfirmAfterwardsExtendsNothing) {
    const lease outer = taken(few);
    run_for(3s - 2ms);
    const said<lease> inner = entered_again(outer);
    alice.planned.emplace_back(verb::renew, fate{.answer_delay = 50ms});
    run_for(52ms);
    ASSERT_TRUE(inner.well());
    EXPECT_EQ(alice.count(verb::renew), 2u);
    EXPECT_EQ(outer.remaining(), 9s - 92ms - 52ms);
}

class ReplicasOfChanges : public Replicas {
protected:
    counting_semaphore seats{alice, "seats"};
};

TEST_F(ReplicasOfChanges, AChangeIsRepeatedUnderOneNumberUntilItIsConfirmed) {
    server.cut_replica(1);
    said<> released;
    seats.async_release(3, released.handler());
    run_for(5s);
    EXPECT_FALSE(released.done());
    EXPECT_GE(alice.count(verb::change), 3u);
    mend();
    run_for(2s);
    EXPECT_TRUE(released.well());
    EXPECT_EQ(counter(server, "seats"), 3);
}

TEST_F(ReplicasOfChanges, AtTheEndOfTheTimeoutItIsUnknown) {
    server.cut_replica(1);
    said<> released;
    seats.async_release(3, released.handler());
    run_for(12s);
    EXPECT_TRUE(released.failed(store_errc::not_replicated));
    EXPECT_TRUE(released.failed(errc::outcome_unknown));
}

TEST_F(ReplicasOfChanges, PermitsThatNobodyConfirmedAreGivenBack) {
    add_to_counter(server, "seats", 3);
    server.cut_replica(1);
    said<bool> tried;
    seats.async_try_acquire(2, tried.handler());
    run_for(2s);
    EXPECT_TRUE(tried.failed(store_errc::not_replicated));
    EXPECT_EQ(counter(server, "seats"), 3);
}

TEST_F(Replicas, AfterASwitchWhatTheNewPrimaryHasNotIsLostAtOnce) {
    mutex none{alice, "other", mutex_options{.required_replicas = 0}};
    const lease kept = confirmed(stock);
    server.cut_replica(1);
    const lease gone = taken(none);
    server.promote(1);
    settle();
    EXPECT_EQ(alice.ear->count(event_kind::moved), 1u);
    EXPECT_TRUE(gone.lost().stop_requested());
    EXPECT_TRUE(kept.owns_lock());
    EXPECT_EQ(alice.count(verb::renew), 2u);
}

TEST_F(Replicas, AWaiterAsksAtTheNewPrimaryAtOnce) {
    actor& bob = enter({.lease_time = 9s, .poll_bound = 1h});
    mutex bobs{bob, "stock"};
    mutex none{alice, "stock", mutex_options{.required_replicas = 0}};
    server.cut_replica(1);
    const lease held = taken(none);
    said<lease> waits;
    bobs.async_lock(waits.handler());
    settle();
    EXPECT_FALSE(waits.done());
    server.promote(1);
    run_for(5ms);
    EXPECT_TRUE(waits.well()) << "the new primary knows of nobody";
    EXPECT_FALSE(held.owns_lock());
}

} // namespace
} // namespace holdfast::sync
