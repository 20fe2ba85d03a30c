// SPDX-License-Identifier: Apache-2.0
// JVMs of all versions and our processes at a few locks of a cluster, one of whose primaries is
// killed meanwhile. All of them have a grant confirmed by the one replica that there is: ours by
// `required_replicas`, JVMs by a WAIT behind each of their scripts. So nobody may ever be sure of a
// lock at the same time as another.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"
#include "interop/stress_turns.hpp"
#include "interop/with_redisson.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <thread>

namespace holdfast::interop {
namespace {

class MixedStressInCluster : public ::testing::Test {
protected:
    void SetUp() override {
        if (redisson_versions().empty())
            return miss_redisson();
        support::make_or_skip([this] { all_ = make_venue(topology::cluster, kind_); });
    }

    std::vector<std::unique_ptr<party>> everybody(const std::filesystem::path& folder) {
        std::vector<party_kind> kinds{{"", 6}, {"", 4}};
        for (const std::string& version : redisson_versions())
            kinds.push_back({version, 3});
        std::vector<std::unique_ptr<party>> made;
        for (const party_kind& each : kinds) {
            const std::string who = each.redisson.empty() ? "ours" : "redisson-" + each.redisson;
            const std::string label = who + "-" + std::to_string(made.size() + 1);
            const task what{names, turns_through_failover(), true};
            made.push_back(
                std::make_unique<party>(each, label, what, all_->where(), settings(), folder));
        }
        return made;
    }
    /// A lease that no failover outlasts, so that none of ours is lost.
    static client_settings settings() {
        return {.lease_time = 15s,
                .poll_bound = 500ms,
                .fair_wait = 3s,
                .pubsub = "both",
                .required_replicas = 1,
                .redisson_server = settings_for_jvms(topology::cluster)};
    }

    /// It comes back as a replica of the one that took its place, since without any replica nothing
    /// is confirmed.
    void kill_a_primary() {
        support::redis_server& doomed = all_->keeper_of(names.front());
        all_->replace_keeper_of(names.front(), fall::killed);
        doomed.restart();
    }

    void expect_nothing_left() {
        EXPECT_TRUE(support::eventually([this] {
            return std::ranges::all_of(names, [this](const std::string& each) {
                return state_of(all_->keeper_of(each)).empty();
            });
        }));
    }

    static void run_until(std::chrono::steady_clock::time_point end,
                          const std::vector<std::unique_ptr<party>>& parties) {
        for (auto next = std::chrono::steady_clock::now() + 1s; next < end; next += 1s) {
            std::this_thread::sleep_until(next); // this is how long it runs, not a wait
            std::cout << "grants:";
            for (const auto& each : parties)
                std::cout << "  " << each->label() << std::setw(5) << each->new_grants();
            std::cout << std::endl;
        }
    }

    const support::server_binary kind_ = support::servers().front();
    static inline const std::vector<std::string> names{"a", "b", "c"}; // of three primaries
    std::unique_ptr<venue> all_;
};

TEST_F(MixedStressInCluster, NobodyIsEverSureOfALockThatAnotherHas) {
    const history_folder folder;
    const std::vector<std::unique_ptr<party>> parties = everybody(folder.path);
    const auto began = std::chrono::steady_clock::now();
    run_until(began + 7s, parties);
    kill_a_primary();
    std::cout << "a primary was killed, and another took its place" << std::endl;
    run_until(began + 22s, parties);
    history told;
    for (const auto& each : parties) {
        history one = each->stop();
        if (each->label().starts_with("ours")) // for what JVMs lose, Redisson answers
            EXPECT_THAT(one.troubles, testing::IsEmpty());
        else
            for (const std::string& trouble : one.troubles)
                std::cout << trouble << std::endl;
        told.add(std::move(one));
    }
    EXPECT_THAT(overlaps(told.claims), testing::IsEmpty());
    expect_nothing_left();
    std::cout << told.waits.size() << " grants, " << told.gave_up << " waits given up, the longest "
              << percentile(told.waits, 100).count() / 1'000 << " ms" << std::endl;
}

} // namespace
} // namespace holdfast::interop
