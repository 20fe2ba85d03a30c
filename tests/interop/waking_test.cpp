// SPDX-License-Identifier: Apache-2.0
// Releases of a JVM wake waiters of holdfast, and the other way round. The tests check this by the
// requests that the server received, and by their times.
#include "interop/crowd.hpp"
#include "interop/meeting.hpp"
#include "interop/peer.hpp"
#include "interop/server_state.hpp"

#include <algorithm>
#include <iostream>
#include <thread>

#include <gmock/gmock.h>

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

    /// A release by the first side, and the reaction of the waiter of the second side.
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
    // A third client holds the lock, because waiters of holdfast need no subscription while their
    // own client holds it.
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

    // Each holder releases the lock to the next waiter.
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

// How long a JVM's threads wait for a lock that others never leave alone: eight threads of ours, or
// eight of another JVM. Plain, in the queue of a fair lock, and to write.

using namespace std::chrono_literals;
using waits = std::vector<std::chrono::microseconds>;

constexpr auto length_of_run = 3s;
/// A JVM's first seconds are its compiler's, and do not count.
constexpr auto length_of_warming_up = 2s;

/// A JVM that misses the message of a release sleeps as long as the lease of that moment was: much
/// shorter than what a crew is given to stop.
const client_settings of_short_leases{.lease_time = 10s};

/// Where they are served so many times less often, or wait as much longer, they are starved. The
/// rest of the distribution is in docs/compatibility.md for people to judge: on a busy machine it
/// is a matter of luck.
constexpr int starved = 10;

/// Who wants what, how, and what the others do meanwhile.
struct contest {
    const char* name; ///< as docs/compatibility.md has it
    turn wanted, hammered;
};

class Polite : public with_redisson {
protected:
    /// The waits beside ours and beside another JVM's, which the report gets too.
    std::pair<waits, waits> play(const contest& of) {
        RecordProperty("measures", "politeness");
        RecordProperty("contest", of.name);
        RecordProperty("server", GetParam().label);
        std::pair<waits, waits> both{waits_beside("", of),
                                     waits_beside(redisson_versions().back(), of)};
        tell("ours", both.first);
        tell("jvm", both.second);
        return both;
    }

    static void expect_not_starved(const contest& of, const waits& beside_us,
                                   const waits& beside_jvm) {
        ASSERT_FALSE(beside_us.empty() || beside_jvm.empty()) << of.name;
        // Where nobody waits beside a JVM, a handful of milliseconds is many times as long, but is
        // no hunger: who waits less than it pauses is served whenever it asks.
        const std::chrono::microseconds pause = of.wanted.pause;
        const auto usual = std::max(percentile(beside_jvm, 50), pause);
        EXPECT_LT(percentile(beside_us, 50), starved * usual);
        EXPECT_GT(starved * beside_us.size(), beside_jvm.size());
    }

private:
    /// What four threads of a JVM waited, who want the lock now and then.
    waits waits_beside(const std::string& redisson_of_hammerers, const contest& of) {
        const history_folder folder;
        party hammerers{{redisson_of_hammerers, 8},
                        "hammerers",
                        {{"L"}, {of.hammered}},
                        server().url(),
                        of_short_leases,
                        folder.path};
        remote_client patient{shared_jvm(redisson_versions().back()), true, server().url(),
                              of_short_leases};
        history told;
        for (const auto length : {length_of_warming_up, length_of_run}) {
            const std::string run = length == length_of_run ? "measured" : "warming-up";
            remote_crew crew{patient, 4, {{"L"}, {of.wanted}}, folder.path / run};
            const auto end = std::chrono::steady_clock::now() + length;
            std::this_thread::sleep_until(end); // this is how long it runs, not a wait
            told = crew.stop();
            EXPECT_THAT(told.troubles, testing::IsEmpty());
        }
        EXPECT_THAT(hammerers.stop().troubles, testing::IsEmpty());
        return told.waits;
    }

    void tell(const std::string& beside, const waits& all) {
        std::cout << "beside " << beside << ": " << all.size() << " waits";
        RecordProperty(beside + "_served", static_cast<int>(all.size()));
        for (const int percent : {50, 90, 99, 100}) {
            if (all.empty())
                break;
            const auto us = percentile(all, percent).count();
            std::cout << ", p" << percent << " " << us << " us";
            RecordProperty(beside + "_p" + std::to_string(percent) + "_us", static_cast<int>(us));
        }
        std::cout << std::endl;
    }
};
HOLDFAST_ON_EACH_SERVER(Polite);

TEST_P(Polite, JvmsAreServedBesideUsAsBesideEachOther) {
    const contest plain{"lock", {.pause = 20ms}, {}};
    const auto [beside_us, beside_jvm] = play(plain);
    expect_not_starved(plain, beside_us, beside_jvm);
}

TEST_P(Polite, JvmsInTheQueueOfAFairLockAreServedBesideUsAsBesideEachOther) {
    const contest fair{
        "fair lock", {.pause = 20ms, .object = "getFairLock"}, {.object = "getFairLock"}};
    const auto [beside_us, beside_jvm] = play(fair);
    expect_not_starved(fair, beside_us, beside_jvm);
}

/// Nobody promises a JVM's writer that it gets the lock, so it gives up.
turn writing() {
    return {.timeout = length_of_run, .pause = 20ms, .object = "getReadWriteLock/writeLock"};
}

TEST_P(Polite, JvmsWritersAreServedBesideOursAsBesideEachOther) {
    const contest writers{
        "to write, beside writers", writing(), {.object = "getReadWriteLock/writeLock"}};
    const auto [beside_us, beside_jvm] = play(writers);
    expect_not_starved(writers, beside_us, beside_jvm);
}

// A JVM's readers leave gaps by chance alone, ours where somebody listens.
TEST_P(Polite, JvmsWritersFindGapsBetweenOurReaders) {
    const auto [beside_us, beside_jvm] =
        play({"to write, beside readers",
              writing(),
              {.hold = 3ms, .object = "getReadWriteLock/readLock"}});
    EXPECT_GT(starved * beside_us.size(), beside_jvm.size());
}

} // namespace
} // namespace holdfast::interop
