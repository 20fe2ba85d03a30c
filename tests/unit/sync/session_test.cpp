// SPDX-License-Identifier: Apache-2.0
// A store whose holds last as long as the client's session. The client still asks for a lease. The
// session's renewal requests keep the hold, the lease ends by the client's clock, and the client
// then releases the hold.
#include "unit/sync/stage.hpp"

#include <holdfast/fenced_mutex.hpp>
#include <holdfast/shared_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <memory>
#include <set>

namespace holdfast::sync {
namespace {

/// What is taken off the session, and off a lease of 25 s, by whoever believes in it.
constexpr duration session_margin = 102ms, margin_of_25s = 252ms;

class Session : public on_stage {
protected:
    Session() { server.keep_by_session(10s); }

    std::vector<duration> asked_at(const actor& who) const {
        std::vector<duration> moments;
        for (const sent& each : who.all(verb::renew))
            moments.push_back(each.at - start());
        return moments;
    }
    static void cut(actor& who) { who.always = fate{.refused = true}; }
    static void mend(actor& who) { who.always = fate{}; }
    void release(lease held) {
        held.async_unlock(said{}.handler());
        settle();
    }
    /// For so long the program does not run, and neither does the server, as on a machine that was
    /// suspended.
    void stand_still(duration length) {
        const time_point end = clock.now() + length;
        const std::unique_ptr<alarm> wakes = clock.make_alarm();
        asio::co_spawn(io, wakes->wait_until(end), asio::detached);
        settle();
        while (clock.jump_to_next(end))
            ;
        server.step_clock(-length);
        settle();
    }
    /// What whoever waited behind that lease was given.
    lease next_owner_of(lease held, basic_mutex& wants) {
        said<lease> next;
        wants.async_lock(next.handler());
        settle();
        release(std::move(held));
        return next.take();
    }
};

TEST_F(Session, ALeaseThatIsLongerIsContactedAsTheSessionNeedsIt) {
    actor& alice = enter({.lease_time = 30s});
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    EXPECT_EQ(held.remaining(), 10s - session_margin);
    run_for(10s);
    EXPECT_EQ(asked_at(alice), (std::vector<duration>{3333ms, 6666ms, 9999ms}));
    run_for(1h);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(alice.ear->of(event_kind::in_danger).empty());
}

TEST_F(Session, AShorterLeaseIsContactedAsItNeedsItItself) {
    actor& alice = enter({.lease_time = 3s});
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    EXPECT_EQ(held.remaining(), 3s - 32ms);
    run_for(2500ms);
    EXPECT_EQ(asked_at(alice), (std::vector<duration>{1s, 2s}));
}

TEST_F(Session, AGrantThatCameLateIsContactedBeforeItsEnd) {
    actor& alice = enter({.lease_time = 30s}, 9s);
    mutex stock{alice, "stock"};
    alice.planned = {{verb::look, {.answer_delay = 8s}}};
    said<lease> held;
    stock.async_lock(lease_time{60s}, held.handler());
    run_for(8s);
    ASSERT_TRUE(held.well());
    run_for(10s);
    EXPECT_TRUE(held.value().owns_lock());
}

TEST_F(Session, AGrantThatComesWhenItsLeaseIsOverIsOfNoUse) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    alice.planned = {{verb::look, {.answer_delay = 600ms}}};
    said<lease> held;
    stock.async_lock(lease_time{500ms}, held.handler());
    run_for(600ms);
    ASSERT_TRUE(held.well());
    EXPECT_EQ(alice.count(verb::look), 2u);
    EXPECT_TRUE(held.value().owns_lock());
}

TEST_F(Session, WithoutContactsALeaseEndsWithItAndItsOwnerIsWarnedBefore) {
    actor& alice = enter({.lease_time = 30s});
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    const std::stop_token in_danger = held.in_danger();
    cut(alice);
    run_for(10s - session_margin - 3333ms - 1ms);
    EXPECT_FALSE(in_danger.stop_requested());
    run_for(1ms);
    EXPECT_TRUE(in_danger.stop_requested());
    run_for(3333ms - 1ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(held_count(server), 1u);
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
    ASSERT_EQ(alice.ear->of(event_kind::lost).size(), 1u);
    EXPECT_EQ(alice.ear->of(event_kind::lost)[0].cause, event_cause::term_ended);
}

TEST_F(Session, AContactThatFailsIsRepeatedWhileThereIsTime) {
    actor& alice = enter({.lease_time = 1h});
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    for (int i = 0; i < 5; ++i)
        alice.planned.emplace_back(verb::renew, fate{.refused = true});
    run_for(1min);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(alice.ear->of(event_kind::renewal_failed).size(), 5u);
}

TEST_F(Session, AFixedLeaseIsKeptUntilItsOwnEndAndReleasedThen) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    const lease held = taken(stock, lease_time{25s});
    EXPECT_EQ(held.remaining(), 10s - session_margin);
    run_for(25s - margin_of_25s - 1ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(held.remaining(), 1ms);
    EXPECT_EQ(held_count(server), 1u);
    EXPECT_EQ(alice.count(verb::release), 0u);
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_EQ(alice.count(verb::release), 1u);
    EXPECT_EQ(held_count(server), 0u) << "its node would stay as long as the session";
    ASSERT_EQ(alice.ear->of(event_kind::lost).size(), 1u);
    EXPECT_EQ(alice.ear->of(event_kind::lost)[0].cause, event_cause::term_ended);
    EXPECT_TRUE(alice.ear->of(event_kind::in_danger).empty()) << "it was not in danger before";
}

TEST_F(Session, AFixedLeaseThatOutlastsItIsWarnedAndEndsWithIt) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    const lease held = taken(stock, lease_time{25s});
    run_for(5s);
    cut(alice);
    run_for(3333ms + 10s - session_margin - 5s - 1ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(held.in_danger().stop_requested());
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
}

TEST_F(Session, AShortFixedLeaseNeedsNoContactAndIsReleasedAtItsEnd) {
    actor& alice = enter();
    mutex stock{alice, "stock"}, other{alice, "other"};
    const lease keeps_the_session = taken(other);
    const lease held = taken(stock, lease_time{3s});
    EXPECT_EQ(held.remaining(), 3s - 32ms);
    run_for(3s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_FALSE(inspect(server, "stock"));
    EXPECT_TRUE(keeps_the_session.owns_lock());
}

TEST_F(Session, AReleaseThatIsDeniedForSeveralSessionsIsRepeatedUntilItIsNot) {
    actor& alice = enter({.lease_time = 1h}, 1s);
    mutex stock{alice, "stock"}, other{alice, "other"};
    const lease keeps_the_session = taken(other);
    const lease held = taken(stock, lease_time{3s});
    for (int i = 0; i < 200; ++i)
        alice.planned.emplace_back(verb::release, fate{.denied = true});
    run_for(1min); // several sessions, in each of which it is renewed
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(inspect(server, "stock"));
    EXPECT_TRUE(keeps_the_session.owns_lock());
    alice.planned.clear();
    run_for(1s);
    EXPECT_FALSE(inspect(server, "stock"));
}

TEST_F(Session, ALeaseOfFiveSecondsThatIsExtendedByAMinuteLastsAsLong) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    lease held = taken(stock, lease_time{5s});
    said<> longer;
    held.async_extend(lease_time{1min}, longer.handler());
    run_for(1min - 603ms);
    EXPECT_TRUE(longer.well());
    EXPECT_TRUE(held.owns_lock());
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Session, WhatIsRenewedNoMoreAfterMaxHoldEndsWithItsLeaseAndIsReleased) {
    actor& alice = enter({.lease_time = 20s, .max_hold = 30s});
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    run_for(30s);
    EXPECT_TRUE(held.owns_lock());
    run_for(20s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_EQ(held_count(server), 0u);
    EXPECT_TRUE(held.in_danger().stop_requested());
}

TEST_F(Session, WhatNobodyIsLeftToReleaseEndsWithItsLeaseAndIsReleased) {
    actor& alice = enter({.lease_time = 25s});
    mutex stock{alice, "stock"}, other{alice, "other"};
    const lease keeps_the_session = taken(other);
    const lease held = taken(stock);
    held.hold()->thread_ended();
    held.hold()->abandon();
    run_for(25s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_FALSE(inspect(server, "stock"));
}

TEST_F(Session, TwoThatAreDueAtDifferentTimesDoNotTravelTogetherThoughTheirLeasesAreLong) {
    actor& alice = enter({.lease_time = 10min});
    mutex stock{alice, "stock"}, other{alice, "other"};
    const lease first = taken(stock);
    run_for(2s);
    const lease second = taken(other);
    run_for(3s);
    ASSERT_EQ(alice.count(verb::renew), 1u);
    EXPECT_EQ(alice.all(verb::renew)[0].holds.size(), 1u);
}

TEST_F(Session, ADoubtThatIsNotUrgentIsSpreadOverATenthOfIt) {
    actor& alice = enter({.lease_time = 10min});
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    alice.dice = 999;
    alice.inside.lock()->renewals().revalidate({}, false);
    run_for(1s);
    EXPECT_EQ(asked_at(alice), std::vector<duration>{999ms});
}

TEST_F(Session, AHoldIsHandedOnAlthoughItsLeaseIsMuchLonger) {
    actor& alice = enter({.lease_time = 30s});
    mutex stock{alice, "stock"};
    lease held = next_owner_of(taken(stock), stock);
    EXPECT_EQ(alice.count(verb::release), 0u);
    EXPECT_TRUE(held.owns_lock());
    run_for(1h);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Session, NobodyBeginsWithLessThanHalfOfIt) {
    actor& alice = enter({.lease_time = 30s, .hand_off = {1000, 1h}});
    mutex stock{alice, "stock"};
    lease held = taken(stock);
    said<lease> next;
    stock.async_lock(next.handler());
    alice.planned.assign(3, {verb::renew, {.refused = true}});
    run_for(5200ms);
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 1u);
}

TEST_F(Session, ANextOwnerHasNoMoreThanItAskedFor) {
    actor& alice = enter({.lease_time = 30s});
    mutex stock{alice, "stock"}, shorter{alice, "stock", lease_time{1s}};
    lease held = next_owner_of(taken(stock), shorter);
    EXPECT_EQ(alice.count(verb::release), 0u);
    EXPECT_LE(held.remaining(), 1s);
    run_for(1min);
    EXPECT_TRUE(held.owns_lock());
    cut(alice);
    run_for(1s);
    EXPECT_FALSE(held.owns_lock());
}

TEST_F(Session, ANextOwnerOfAMuchLongerLeaseIsContactedInTime) {
    actor& alice = enter({.lease_time = 30s, .hand_off = {1000, 1h}});
    mutex stock{alice, "stock"}, longer{alice, "stock", lease_time{10min}};
    lease held = taken(stock);
    run_for(3s);
    held = next_owner_of(std::move(held), longer);
    EXPECT_EQ(alice.count(verb::release), 0u);
    run_for(1min);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(alice.ear->of(event_kind::in_danger).empty());
}

TEST_F(Session, AFencedLockIsNotHandedOnWhereAGrantHasOneToken) {
    actor& alice = enter();
    fenced_mutex stock{alice, "stock"};
    lease first = taken(stock);
    const std::uint64_t token = first.fencing_token();
    const lease second = next_owner_of(std::move(first), stock);
    EXPECT_EQ(alice.count(verb::release), 1u);
    EXPECT_GT(second.fencing_token(), token);
}

TEST_F(Session, ReadersShareAHoldWhoseLeaseIsLonger) {
    actor& alice = enter({.lease_time = 10min});
    shared_mutex stock{alice, "stock"};
    said<lease> one, other;
    stock.async_lock_shared(one.handler());
    settle();
    stock.async_lock_shared(other.handler());
    settle();
    ASSERT_TRUE(one.well() && other.well());
    EXPECT_EQ(alice.count(verb::look), 1u);
    run_for(1min);
    EXPECT_TRUE(one.value().owns_lock());
}

TEST_F(Session, AnotherClientIsLetInWhenItEnds) {
    actor &alice = enter({.lease_time = 1h}), &bob = enter({.lease_time = 1h});
    mutex hers{alice, "stock"}, his{bob, "stock"};
    const lease held = taken(hers);
    said<lease> waits;
    his.async_lock(waits.handler());
    run_for(1min);
    EXPECT_FALSE(waits.done());
    cut(alice);
    run_for(11s);
    EXPECT_TRUE(waits.done());
    EXPECT_FALSE(held.owns_lock());
}

TEST_F(Session, WhereItEndedWhatWasHeldIsRefused) {
    actor& alice = enter({.lease_time = 1h});
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    server.step_clock(11s);
    run_for(3333ms);
    EXPECT_FALSE(held.owns_lock());
    ASSERT_EQ(alice.ear->of(event_kind::lost).size(), 1u);
    EXPECT_EQ(alice.ear->of(event_kind::lost)[0].cause, event_cause::refused);
}

TEST_F(Session, WhatEndedWhileAllStoodStillIsReleasedAlthoughItSeemsToBeForgotten) {
    actor &alice = enter({.lease_time = 1h}), &bob = enter({.lease_time = 1h});
    mutex hers{alice, "stock"}, his{bob, "stock"};
    const lease held = taken(hers);
    said<lease> next;
    his.async_lock(next.handler());
    settle();
    stand_still(1min);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_EQ(alice.count(verb::release), 1u);
    EXPECT_TRUE(next.well()) << "the session lives, and its hold with it";
}

TEST_F(Session, AReleaseAfterThatIsRepeatedForAsLongAsARequestMayTake) {
    actor& alice = enter({.lease_time = 1h}, 2s);
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    for (int i = 0; i < 3; ++i)
        alice.planned.emplace_back(verb::release, fate{.refused = true});
    stand_still(1min);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_EQ(held_count(server), 1u);
    run_for(2s);
    EXPECT_EQ(held_count(server), 0u);
    EXPECT_EQ(alice.count(verb::release), 4u);
}

TEST_F(Session, ReplicasAreNotToBeHad) {
    actor& alice = enter();
    EXPECT_THROW((mutex{alice, "stock", mutex_options{.required_replicas = 1}}),
                 boost::system::system_error);
    EXPECT_THROW(server.replicate(1), std::logic_error);
}

} // namespace
} // namespace holdfast::sync
