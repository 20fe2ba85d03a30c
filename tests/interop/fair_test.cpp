// SPDX-License-Identifier: Apache-2.0
// One queue of a JVM's waiters and ours: state, wake-up, death, force, and who gives up.
#include "interop/fair_meeting.hpp"
#include "interop/server_state.hpp"
#include "interop/transcript.hpp"

#include <algorithm>

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

} // namespace
} // namespace holdfast::interop
