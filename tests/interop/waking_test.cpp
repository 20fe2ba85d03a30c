// SPDX-License-Identifier: Apache-2.0
// Each side's waiters are woken by the other's releases: told by what the server was asked, when.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"
#include "interop/transcript.hpp"

#include <algorithm>

namespace holdfast::interop {
namespace {

/// How one waiter was woken.
struct wake_up {
    std::ptrdiff_t asked_while_waiting; ///< between listening and the message
    std::ptrdiff_t asked_until_granted; ///< from the message on
    microseconds latency; ///< from the message to the first question after it, at the server
};

std::int64_t median(std::vector<std::int64_t> all) {
    std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
    return all[all.size() / 2];
}

class Waking : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        // Nobody polls: whoever is granted the lock here has heard of its release.
        have_clients({.lease_time = 10min, .poll_bound = 1h});
    }

    /// A side that does not know yet that the server knows its scripts asks once more.
    static void make_scripts_known(remote_client& to) {
        remote_lock other = to.thread("warming up").lock("another lock");
        other.lock();
        EXPECT_TRUE(other.unlock());
    }

    /// One release by the first side, and what the second side's waiter did.
    wake_up wake_up_in_round(int round) {
        const std::string name = "L" + std::to_string(round);
        remote_lock held = first().thread("alice").lock(name);
        remote_lock wanted = second().thread("bob").lock(name);
        held.lock();
        transcript seen{server().socket_path()};
        const auto asks = [&](const entry& each) {
            return each.is_script() && each.mentions(second().id());
        };
        ongoing waiting = wanted.begin_lock();
        // Once at first, and once when it listens: it may have missed a release before.
        EXPECT_TRUE(eventually([&] { return std::ranges::count_if(seen.all(), asks) >= 2; }));
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_TRUE(wanted.unlock());

        const std::vector<entry>& all = seen.all();
        const auto listens = std::ranges::find_if(all, [&](const entry& each) {
            return each.is("SUBSCRIBE") && each.mentions(channel_of(name));
        });
        const auto told = std::find_if(listens, all.end(), [&](const entry& each) {
            return each.is("PUBLISH") && each.mentions(channel_of(name));
        });
        const auto asked = std::find_if(told, all.end(), asks);
        if (asked == all.end())
            throw std::runtime_error{"whoever was woken did not ask"};
        const auto granted = std::find_if(asked, all.end(), [](const entry& each) {
            return each.in_script && (each.is("HSET") || each.is("HINCRBY"));
        });
        return {std::count_if(listens, told, asks), std::count_if(told, granted, asks),
                asked->at - told->at};
    }
};
HOLDFAST_BOTH_WAYS(Waking);
HOLDFAST_BOTH_WAYS_ONCE(Waking);

TEST_P(Waking, AWaiterAsksOnceAfterTheMessageAndNeverBeforeIt) {
    make_scripts_known(first());
    make_scripts_known(second());
    std::vector<std::int64_t> latencies, round_trips;
    for (int round = 0; round < 25; ++round) {
        round_trips.push_back(second().thread("bob").lock("L").round_trips(1).front());
        const wake_up woken = wake_up_in_round(round);
        EXPECT_EQ(woken.asked_while_waiting, 1);
        EXPECT_EQ(woken.asked_until_granted, 1);
        latencies.push_back(woken.latency.count());
    }
    RecordProperty("measures", "wake-ups");
    RecordProperty("waiter", second().is_jvm() ? "the JVM's" : "ours");
    RecordProperty("round_trip_us", static_cast<int>(median(round_trips)));
    RecordProperty("wake_up_us", static_cast<int>(median(latencies)));
}

TEST_P(Waking, ACrowdOfBothSidesIsServedWithoutPolling) {
    constexpr int each_side = 4;
    make_scripts_known(first());
    make_scripts_known(second());
    // Of a third client: behind a hold of their own client, our waiters need not listen.
    const std::unique_ptr<remote_client> third = another(first().is_jvm());
    remote_lock held = third->thread("holder").lock("L");
    held.lock();
    transcript seen{server().socket_path()};
    std::vector<remote_lock> crowd;
    std::vector<ongoing> waiting;
    for (int i = 0; i < each_side; ++i)
        for (remote_client* side : {&first(), &second()})
            crowd.push_back(side->thread("waiter " + std::to_string(i)).lock("L"));
    for (remote_lock& each : crowd)
        waiting.push_back(each.begin_lock());
    ASSERT_TRUE(eventually([&] { return waiters("L") == 2; }));
    EXPECT_TRUE(held.unlock());

    // Whoever is served lets the next one in.
    std::vector<bool> served(crowd.size());
    for (std::size_t count = 0; count < crowd.size(); ++count)
        ASSERT_TRUE(eventually([&] {
            for (std::size_t i = 0; i < crowd.size(); ++i)
                if (!served[i] && support::is_ready(waiting[i].answer)) {
                    waiting[i].answer.get();
                    served[i] = true;
                    return crowd[i].unlock();
                }
            return false;
        })) << count
            << " were served";
    const auto asked = std::ranges::count_if(
        seen.all(), [](const entry& each) { return each.is_script() && each.mentions("L"); });
    // Each waiter asks twice to begin with. Each of the releases then brings one question from each
    // side at most, and is a script itself.
    const std::ptrdiff_t releases = 2 * each_side + 1;
    EXPECT_LE(asked, 2 * 2 * each_side + 2 * releases + releases);
}

} // namespace
} // namespace holdfast::interop
