// SPDX-License-Identifier: Apache-2.0
// Waiters of a JVM and of holdfast in one queue: stored state, notifications, deaths, forced
// releases, and waiters that give up.
#include "interop/lock_meeting.hpp"
#include "interop/server_state.hpp"

#include <algorithm>
#include <iostream>

namespace holdfast::interop {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class Fair : public fair_meeting {
protected:
    void SetUp() override {
        fair_meeting::SetUp();
        have_clients(without_polls());
    }
};
HOLDFAST_BOTH_WAYS_AT(Fair, "getFairLock", "getNonReentrantFairLock");

TEST_P(Fair, AHeldLockIsAHashOfItsOwnerAndBusyToTheOtherSide) {
    const remote_thread alice = first().thread("alice");
    remote_lock held = lock_of(first(), "alice"), across = lock_of(second(), "bob");
    remote_lock plain = second().thread("carol").lock("L");
    for (const bool later : {false, true}) {
        remote_lock taking = later ? held.async() : held;
        taking.lock(60s);
        const auto state = state_of(server());
        ASSERT_THAT(state, UnorderedElementsAre(Pair("L", testing::_)));
        EXPECT_THAT(state.at("L").fields,
                    UnorderedElementsAre(Pair(StartsWith(alice.owner()), "1")));
        EXPECT_LE(state.at("L").left.value(), 60s);
        EXPECT_GT(state.at("L").left.value(), 50s);
        EXPECT_FALSE(across.try_lock());
        EXPECT_FALSE(across.try_lock_for(5ms, 90s));
        EXPECT_FALSE(plain.try_lock());
        EXPECT_TRUE(across.is_locked());
        EXPECT_FALSE(across.unlock());
        EXPECT_LE(across.remaining(), 60s);
        EXPECT_TRUE(eventually([this] { return queue().empty(); })) << "who gave up has left it";
        EXPECT_TRUE(taking.unlock());
        EXPECT_TRUE(state_of(server()).empty());
    }
}

TEST_P(Fair, AWaiterHasAPlaceAndATimeUntilWhichItCounts) {
    const remote_thread bob = second().thread("bob"), anne = first().thread("anne");
    remote_lock held = lock_of(first(), "alice");
    remote_lock wanted = lock_of(second(), "bob"), wanted_too = lock_of(first(), "anne");
    held.lock();
    ongoing waiting = queued(wanted), waiting_too = queued(wanted_too);
    EXPECT_THAT(queue(), ElementsAre(StartsWith(bob.owner()), StartsWith(anne.owner())));
    const auto now = time_of(server());
    for (const std::string& owner : queue())
        EXPECT_GT(deadline_of(owner), now);
    EXPECT_FALSE(lock_of(second(), "carol").try_lock()) << "a try takes no place";
    EXPECT_EQ(queue().size(), 2u);
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_FALSE(support::is_ready(waiting_too.answer));
    EXPECT_THAT(queue(), ElementsAre(StartsWith(anne.owner())));
    EXPECT_FALSE(lock_of(first(), "dave").try_lock());
    EXPECT_TRUE(wanted.unlock());
    (void)soon(std::move(waiting_too.answer));
    EXPECT_TRUE(wanted_too.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

TEST_P(Fair, ATryOvertakesNobodyWhoWaits) {
    remote_lock held = lock_of(first(), "alice"), wanted = lock_of(second(), "bob");
    held.lock();
    ongoing waiting = queued(wanted);
    server().command({"DEL", "L"}); // free, and the one whose turn it is was not told
    EXPECT_FALSE(lock_of(first(), "anne").try_lock());
    EXPECT_FALSE(lock_of(second(), "carol").try_lock());
    (void)soon(std::move(waiting.answer)); // one of the two was ours, and told it
    EXPECT_TRUE(wanted.is_held());
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

TEST_P(Fair, AReleaseIsToldToTheFirstAloneWhoAsksOnce) {
    remote_lock held = lock_of(first(), "alice"), wanted = lock_of(second(), "bob");
    remote_lock wanted_too = lock_of(second(), "carol");
    held.lock();
    transcript seen{server().socket_path()};
    ongoing waiting = queued(wanted);
    ongoing waiting_too = queued(wanted_too);
    const std::vector<std::string> order = queue();
    ASSERT_EQ(order.size(), 2u);
    const auto first_asked = looks(seen, order[0]), second_asked = looks(seen, order[1]);
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_EQ(looks(seen, order[0]), first_asked + 1);
    EXPECT_EQ(looks(seen, order[1]), second_asked) << "it was not its turn";
    const auto told = std::ranges::count_if(seen.all(), [&](const entry& each) {
        return each.is("PUBLISH") && each.mentions(channel_of("L") + ":" + order[0]);
    });
    EXPECT_EQ(told, 1);
    EXPECT_TRUE(wanted.unlock());
    (void)soon(std::move(waiting_too.answer));
    EXPECT_TRUE(wanted_too.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

TEST_P(Fair, WhoGivesUpIsNotWaitedFor) {
    remote_lock held = lock_of(first(), "alice");
    held.lock();
    ongoing giving_up = queued(lock_of(second(), "bob"), 2s);
    remote_lock wanted = lock_of(first(), "anne");
    ongoing waiting = queued(wanted);
    EXPECT_FALSE(soon(std::move(giving_up.answer)).as_bool());
    EXPECT_TRUE(eventually([this] { return queue().size() == 1; }));
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

TEST_P(Fair, AForcedLockIsTheFirstOnesAndItsHolderIsTold) {
    remote_lock held = lock_of(first(), "alice"), forcing = lock_of(second(), "bob");
    remote_lock wanted = lock_of(second(), "carol");
    EXPECT_FALSE(forcing.force_unlock());
    held.lock(1h); // no end of a lease wakes anybody
    ongoing waiting = queued(wanted);
    EXPECT_TRUE(forcing.force_unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(wanted.is_held());
    EXPECT_FALSE(held.unlock());
    EXPECT_TRUE(wanted.is_held());
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

class FairDeath : public fair_meeting {};
HOLDFAST_BOTH_WAYS_IN_TURN(FairDeath, "getFairLock");

TEST_P(FairDeath, AKilledHoldersLockIsTheFirstOnesWhenItsLeaseEnds) {
    client_settings how = without_polls();
    how.lease_time = 1s;
    have_clients(how);
    const std::unique_ptr<peer> doomed = new_process(first().is_jvm());
    const std::unique_ptr<remote_client> its = client_of(*doomed, first().is_jvm());
    lock_of(*its, "alice").lock();
    EXPECT_TRUE(keeps(*its, "L", 2s)) << "while it lives it is renewed";
    remote_lock wanted = lock_of(second(), "bob"), wanted_too = lock_of(first(), "anne");
    ongoing waiting = queued(wanted), waiting_too = queued(wanted_too);
    const microseconds end = end_after_death(*doomed, "L");
    (void)soon(std::move(waiting.answer));
    EXPECT_GE(time_of(server()), end);
    EXPECT_TRUE(wanted.unlock());
    (void)soon(std::move(waiting_too.answer));
    EXPECT_TRUE(wanted_too.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

class FairReentry : public Fair {};
HOLDFAST_BOTH_WAYS_AT(FairReentry, "getFairLock");

TEST_P(FairReentry, NeedsAsManyUnlocksAndNoPlace) {
    remote_lock held = lock_of(first(), "alice"), wanted = lock_of(second(), "bob");
    held.lock();
    ongoing waiting = queued(wanted);
    held.lock();
    EXPECT_TRUE(held.try_lock());
    EXPECT_EQ(held.hold_count(), 3);
    EXPECT_EQ(queue().size(), 1u);
    for (int entry = 0; entry < 3; ++entry) {
        EXPECT_FALSE(support::is_ready(waiting.answer));
        EXPECT_TRUE(held.unlock());
    }
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

class FairNonReentrant : public Fair {};
HOLDFAST_BOTH_WAYS_AT(FairNonReentrant, "getNonReentrantFairLock");

TEST_P(FairNonReentrant, ItsHolderIsRefusedAndHoldsItStill) {
    remote_lock held = lock_of(first(), "alice");
    held.lock(60s);
    EXPECT_TRUE(held.refuses_reentry());
    EXPECT_EQ(held.hold_count(), 1);
    EXPECT_FALSE(lock_of(second(), "bob").try_lock());
    EXPECT_TRUE(held.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

// A queue of JVMs' waiters and ours, one behind the other, some of which die in it: the living are
// served in their order, and a dead one keeps them waiting no longer than it may.

/// How long a dead waiter of ours keeps the others waiting, and a JVM's.
constexpr duration ours_lasts = 4s, jvm_lasts = 6s;
/// For a machine that has other work.
constexpr duration slack = 5s;

class FairQueue : public fair_meeting {
protected:
    void SetUp() override {
        fair_meeting::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        client_settings how{.poll_bound = 500ms,
                            .unavailable_timeout = 1s,
                            .command_timeout = 1s,
                            .waiter_timeout = ours_lasts};
        if (jvms_have_timeout()) {
            how.fair_wait = jvm_lasts;
            how.redisson = {{"fairLockWaitTimeout", jvm_lasts.count()}};
        }
        have_clients(how);
        for (const bool doomed : {false, true})
            for (remote_client* side : {&first(), &second()}) {
                processes_.push_back(doomed ? new_process(side->is_jvm()) : nullptr);
                clients_.push_back(doomed ? client_of(*processes_.back(), side->is_jvm())
                                          : another(side->is_jvm()));
            }
    }

    /// Only newer versions can be told how long their dead are waited for: else it is five minutes.
    bool jvms_have_timeout() const { return is_at_least(GetParam().redisson, 3, 46); }

    remote_client& living(int side) { return *clients_.at(static_cast<std::size_t>(side)); }
    remote_client& doomed(int side) { return *clients_.at(static_cast<std::size_t>(2 + side)); }
    void kill(int side) { processes_.at(static_cast<std::size_t>(2 + side))->kill(); }

    /// Serves them one after the other; how long each waited for its predecessor's release.
    std::vector<duration> serve(std::vector<std::pair<remote_lock, ongoing>> waiting,
                                remote_lock held) {
        std::vector<duration> gaps;
        for (std::size_t next = 0; next < waiting.size(); ++next) {
            const time_point released = boot_clock::now();
            EXPECT_TRUE(held.unlock());
            EXPECT_TRUE(eventually([&] { return support::is_ready(waiting[next].second.answer); }))
                << next;
            gaps.push_back(boot_clock::now() - released);
            for (std::size_t later = next + 1; later < waiting.size(); ++later)
                EXPECT_FALSE(support::is_ready(waiting[later].second.answer))
                    << later << " overtook " << next;
            held = waiting[next].first;
            EXPECT_TRUE(held.is_held());
        }
        EXPECT_TRUE(held.unlock());
        return gaps;
    }

    static constexpr int first_side = 0, second_side = 1;

private:
    std::vector<std::unique_ptr<peer>> processes_;
    std::vector<std::unique_ptr<remote_client>> clients_;
};
HOLDFAST_BOTH_WAYS_IN_TURN(FairQueue, "getFairLock");

TEST_P(FairQueue, OfFourAndFourIsServedInOrder) {
    remote_lock held = lock_of(first(), "holder");
    held.lock();
    std::vector<std::pair<remote_lock, ongoing>> waiting;
    for (int round = 0; round < 4; ++round)
        for (const int side : {first_side, second_side}) {
            remote_lock lock = lock_of(living(side), "waiter " + std::to_string(round));
            waiting.emplace_back(lock, queued(lock));
        }
    for (const duration gap : serve(std::move(waiting), held))
        EXPECT_LT(gap, slack);
    EXPECT_TRUE(state_of(server()).empty());
}

TEST_P(FairQueue, OfFourAndFourWithDeathsServesTheLivingInOrder) {
    remote_lock held = lock_of(first(), "holder");
    held.lock();
    std::vector<std::pair<remote_lock, ongoing>> waiting, of_the_dead;
    std::vector<duration> bounds;
    const bool ours_alone_die = !jvms_have_timeout();
    duration dead_before{};
    for (int place = 0; place < 8; ++place) {
        const int side = place % 2;
        const bool is_jvm = living(side).is_jvm();
        const bool dies = place / 2 % 2 == 1 && !(is_jvm && ours_alone_die);
        remote_lock lock =
            lock_of(dies ? doomed(side) : living(side), "waiter " + std::to_string(place));
        (dies ? of_the_dead : waiting).emplace_back(lock, queued(lock));
        if (dies) {
            dead_before += is_jvm ? jvm_lasts : ours_lasts;
        } else {
            bounds.push_back(dead_before + slack);
            dead_before = {};
        }
    }
    // A JVM older than 3.32 does not look again before the time it was once told, so somebody must
    // come behind it who finds the dead before it.
    remote_lock last = lock_of(ours(), "the last");
    waiting.emplace_back(last, queued(last));
    bounds.push_back(dead_before + slack);
    for (const int side : {first_side, second_side})
        kill(side);
    const std::vector<duration> gaps = serve(std::move(waiting), held);
    ASSERT_EQ(gaps.size(), bounds.size());
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        EXPECT_LT(gaps[i], bounds[i]) << i;
        std::cout << i << " waited " << gaps[i].count() << " of " << bounds[i].count() << " ms\n";
    }
    EXPECT_TRUE(state_of(server()).empty());
}

} // namespace
} // namespace holdfast::interop
