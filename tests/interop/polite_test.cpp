// SPDX-License-Identifier: Apache-2.0
// How long a JVM's threads wait for a lock that others never leave alone: eight threads of ours, or
// eight of another JVM.
#include "interop/crowd.hpp"
#include "interop/with_redisson.hpp"

#include <iostream>
#include <thread>

#include <gmock/gmock.h>

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;
using waits = std::vector<std::chrono::microseconds>;

constexpr auto length_of_run = 4s;

/// Where they are served so many times less often, or wait as much longer, they are starved. The
/// rest of the distribution is in docs/compatibility.md for people to judge: on a busy machine it
/// is a matter of luck.
constexpr int starved = 10;

class Polite : public with_redisson {
protected:
    /// What four threads of a JVM waited, who want the lock now and then.
    waits waits_beside(const std::string& redisson_of_hammerers) {
        const history_folder folder;
        const std::string newest = redisson_versions().back();
        party hammerers{{redisson_of_hammerers, 8},
                        "hammerers",
                        {{"L"}, {{}}},
                        server().url(),
                        {},
                        folder.path};
        remote_client patient{shared_jvm(newest), true, server().url()};
        history told;
        // A JVM's first seconds are its compiler's, so the first run of the two does not count.
        for (const char* run : {"warming-up", "measured"}) {
            remote_crew crew{patient, 4, {{"L"}, {{.pause = 20ms}}}, folder.path / run};
            const auto end = std::chrono::steady_clock::now() + length_of_run;
            std::this_thread::sleep_until(end); // this is how long it runs, not a wait
            told = crew.stop();
            EXPECT_THAT(told.troubles, testing::IsEmpty());
        }
        EXPECT_THAT(hammerers.stop().troubles, testing::IsEmpty());
        return told.waits;
    }

    void tell(const std::string& beside, const waits& all) {
        std::cout << "beside " << beside << ": " << all.size() << " waits";
        for (const int percent : {50, 90, 99, 100}) {
            const auto us = percentile(all, percent).count();
            std::cout << ", p" << percent << " " << us << " us";
            RecordProperty(beside + "_p" + std::to_string(percent) + "_us", static_cast<int>(us));
        }
        std::cout << std::endl;
    }
};
HOLDFAST_ON_EACH_SERVER(Polite);

TEST_P(Polite, JvmsAreServedBesideUsAsBesideEachOther) {
    const waits beside_us = waits_beside(""), beside_jvm = waits_beside(redisson_versions().back());
    RecordProperty("measures", "politeness");
    RecordProperty("server", GetParam().label);
    tell("ours", beside_us);
    tell("jvm", beside_jvm);
    ASSERT_FALSE(beside_us.empty() || beside_jvm.empty());
    EXPECT_LT(percentile(beside_us, 50), starved * percentile(beside_jvm, 50));
    EXPECT_GT(starved * beside_us.size(), beside_jvm.size());
}

} // namespace
} // namespace holdfast::interop
