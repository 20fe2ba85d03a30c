// SPDX-License-Identifier: Apache-2.0
// JVMs and our processes at the same few locks, all the ways of taking them mixed, some of them
// killed: was anybody ever sure of a lock at the same time as another, and is anything left?
#include "interop/crowd.hpp"
#include "interop/server_state.hpp"
#include "interop/with_redisson.hpp"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <thread>
#include <utility>

#include <gmock/gmock.h>

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;

/// How long a hold that is renewed outlives its holder; and so how long a name stands still when
/// its holder is killed.
constexpr duration stress_lease = 5s;

std::chrono::seconds length_of_stress() {
    const char* wanted = std::getenv("HOLDFAST_STRESS_SECONDS");
    return std::chrono::seconds{wanted != nullptr ? std::stoi(wanted) : 60};
}

const std::vector<turn>& all_turns() {
    static const std::vector<turn> turns{
        {.hold = 3ms, .pause = 3ms},
        {.hold = 3ms, .pause = 3ms},
        {.hold = 3ms, .pause = 3ms, .depth = 3},
        {.patience = 0ms, .hold = 3ms, .pause = 3ms},
        {.patience = 20ms, .hold = 3ms, .pause = 3ms},
        {.lease = 5s, .hold = 3ms, .pause = 3ms},
        {.patience = 50ms, .lease = 5s, .hold = 3ms, .pause = 3ms, .depth = 2},
        {.lease = 30ms, .hold = 60ms, .pause = 3ms}, // which may end before it is released
        {.hold = 3ms, .pause = 3ms, .cancel = 5ms},
        {.lease = 5s, .hold = 3ms, .pause = 3ms, .cancel = 15ms},
    };
    return turns;
}

class MixedStress : public with_redisson {
protected:
    /// The newest, and an older one; on each server another.
    static std::pair<std::string, std::string> two_redissons() {
        const std::vector<std::string> versions = redisson_versions();
        const std::size_t older = GetParam().label.starts_with("redis") ? 0 : versions.size() / 2;
        return {versions[older], versions.back()};
    }

    std::vector<std::unique_ptr<party>> everybody(const std::filesystem::path& folder) {
        const auto [older, newest] = two_redissons();
        const task what{{"stress:1", "stress:2", "stress:3"}, all_turns()};
        std::vector<std::unique_ptr<party>> all;
        for (const party_kind& each : {party_kind{older, 4}, {newest, 4}, {"", 8}, {"", 8}}) {
            const std::string who = each.redisson.empty() ? "ours" : "redisson-" + each.redisson;
            const std::string label = who + "-" + std::to_string(all.size() + 1);
            all.push_back(std::make_unique<party>(each, label, what, server().url(),
                                                  client_settings{.lease_time = stress_lease},
                                                  folder));
        }
        return all;
    }

    void expect_nothing_left() {
        // Who was killed holding is forgotten after a lease.
        EXPECT_TRUE(support::eventually([this] { return state_of(server()).empty(); }));
        EXPECT_TRUE(support::eventually([this] {
            return server().command({"PUBSUB", "CHANNELS"}).items.empty();
        }));
        EXPECT_TRUE(support::eventually([this] {
            const std::string clients = server().command({"CLIENT", "LIST"}).text;
            return std::ranges::count(clients, '\n') == 1;
        })) << "somebody is still connected";
    }
};
HOLDFAST_ON_EACH_SERVER(MixedStress);

TEST_P(MixedStress, NobodyIsEverSureOfALockThatAnotherHas) {
    const history_folder folder;
    const std::vector<std::unique_ptr<party>> all = everybody(folder.path);
    const std::chrono::seconds length = length_of_stress();
    const auto began = std::chrono::steady_clock::now();
    std::size_t kills = 0;
    for (auto second = 1s; second <= length; ++second) {
        std::this_thread::sleep_until(began + second); // this is how long it runs, not a wait
        std::cout << std::setw(5) << second.count() << " s, grants:";
        for (const auto& each : all)
            std::cout << "  " << each->label() << std::setw(5) << each->new_grants();
        std::cout << std::endl;
        if (second % 15s == 10s && second + 2 * stress_lease < length)
            all[kills++ % all.size()]->kill_and_replace();
    }
    history told;
    for (const auto& each : all) {
        history one = each->stop();
        EXPECT_GT(one.waits.size(), static_cast<std::size_t>(length.count()))
            << each->label() << " hardly worked";
        told.add(std::move(one));
    }
    EXPECT_THAT(overlaps(told.claims), testing::IsEmpty());
    EXPECT_THAT(told.troubles, testing::IsEmpty());
    expect_nothing_left();

    const auto longest = percentile(told.waits, 100);
    std::cout << told.waits.size() << " grants, " << told.gave_up << " waits given up, "
              << told.lost << " leases ran out, " << kills << " kills, the longest wait "
              << longest.count() / 1'000 << " ms" << std::endl;
    RecordProperty("measures", "stress");
    RecordProperty("server", GetParam().label);
    RecordProperty("redissons", two_redissons().first + ", " + two_redissons().second);
    RecordProperty("grants", static_cast<int>(told.waits.size()));
    RecordProperty("given_up", static_cast<int>(told.gave_up));
    RecordProperty("ran_out", static_cast<int>(told.lost));
    RecordProperty("kills", static_cast<int>(kills));
    RecordProperty("seconds", static_cast<int>(length.count()));
}

} // namespace
} // namespace holdfast::interop
