// SPDX-License-Identifier: Apache-2.0
// How long a JVM's threads wait for a lock that others never leave alone: eight threads of ours, or
// eight of another JVM. Plain, in the queue of a fair lock, and to write.
#include "interop/crowd.hpp"
#include "interop/with_redisson.hpp"

#include <algorithm>
#include <iostream>
#include <thread>

#include <gmock/gmock.h>

namespace holdfast::interop {
namespace {

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
    return {.patience = length_of_run, .pause = 20ms, .object = "getReadWriteLock/writeLock"};
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
