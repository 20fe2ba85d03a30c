// SPDX-License-Identifier: Apache-2.0
// A queue of JVMs' waiters and ours, one behind the other, some of which die in it: the living are
// served in their order, and a dead one keeps them waiting no longer than it may.
#include "interop/fair_meeting.hpp"
#include "interop/server_state.hpp"

#include <iostream>

namespace holdfast::interop {
namespace {

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
                            .unavailable_patience = 1s,
                            .command_timeout = 1s,
                            .waiter_patience = ours_lasts};
        if (jvms_have_patience()) {
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
    bool jvms_have_patience() const { return is_at_least(GetParam().redisson, 3, 46); }

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
    const bool ours_alone_die = !jvms_have_patience();
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
