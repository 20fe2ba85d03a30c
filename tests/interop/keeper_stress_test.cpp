// SPDX-License-Identifier: Apache-2.0
// Processes of Curator, of kazoo and of ours at the same few locks of a ZooKeeper server, all ways
// of taking them mixed, some of them killed: was anybody ever sure of a lock at the same time as
// another that may not be, did tokens grow, were more permits out than there are, is anything left?
#include "interop/crowd.hpp"
#include "interop/keeper_meeting.hpp"
#include "support/on_each_server.hpp"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <thread>

namespace holdfast::interop {
namespace {

constexpr std::int64_t seats_there = 3;
constexpr const char* pair = "-pair"; ///< behind the names of read-write locks
constexpr const char* seats = "-seats";

/// Who meets beside ours.
struct gathering {
    std::string name;
    std::vector<std::string> neighbours;
    naming names;
    std::chrono::seconds length; ///< in CI a quarter of it
};
void PrintTo(const gathering& what, std::ostream* out) {
    *out << what.name;
}

std::chrono::seconds length_of(const gathering& what) {
    if (const char* wanted = std::getenv("HOLDFAST_STRESS_SECONDS"))
        return std::chrono::seconds{std::stoi(wanted)};
    const char* ci = std::getenv("CI");
    return ci != nullptr && std::string{ci} == "true" ? what.length / 4 : what.length;
}

std::vector<turn> at(const std::string& object, const std::string& suffix,
                     std::vector<turn> turns) {
    for (turn& each : turns) {
        each.object = object;
        each.suffix = suffix;
        each.hold = each.pause = 3ms;
    }
    return turns;
}

/// All ways that this program has; empty: ours. Sessions hold what they take.
std::vector<turn> ways_of(const std::string& neighbour) {
    std::vector<turn> all;
    const auto add = [&](const std::string& object, const std::string& suffix,
                         const std::vector<turn>& turns) {
        std::ranges::copy(at(object, suffix, turns), std::back_inserter(all));
    };
    const std::vector<turn> simple{{}, {}, {.timeout = 0ms}, {.timeout = 20ms}};
    for (const char* each : {"getLock", "getLock"})
        add(each, "", simple);
    add(read_side, pair, simple);
    add(write_side, pair, simple);
    if (neighbour == "kazoo")
        return all;
    add("getLock", "", {{.depth = 3}, {.timeout = 50ms, .depth = 2}});
    add(write_side, pair, {{.downgrade = true}, {.timeout = 50ms, .downgrade = true}});
    add(permit_maker, seats, {{.timeout = 500ms}, {.timeout = 500ms}, {.timeout = 20ms}});
    if (neighbour.empty()) // of the same nodes, and with a number
        add("getFencedLock", "", {{}, {.timeout = 20ms}});
    return all;
}

class KeeperStress : public ::testing::TestWithParam<gathering> {
protected:
    void SetUp() override {
        support::make_or_skip([] {
            for (const std::string& each : GetParam().neighbours)
                if (!has_neighbour(each))
                    throw support::server_unavailable{"these tests need " + each +
                                                      ": ./dev interop"};
            shared_keeper();
        });
    }

    client_settings settings_of(const std::string& neighbour) const {
        const naming names = GetParam().names;
        client_settings how{.lease_time = duration{4s}, .root = root_};
        how.keeper = neighbour.empty() ? told_to_ours(names) : told_to(neighbour, names);
        how.keeper["permits"] = seats_there;
        return how;
    }

    std::vector<std::unique_ptr<party>> everybody(const std::filesystem::path& folder) const {
        std::vector<party_kind> kinds;
        for (const std::string& each : GetParam().neighbours)
            kinds.insert(kinds.end(), 2, {"", 4, each});
        kinds.insert(kinds.end(), {{"", 8}, {"", 4}});
        std::vector<std::unique_ptr<party>> all;
        for (const party_kind& each : kinds) {
            const std::string who = each.neighbour.empty() ? "ours" : each.neighbour;
            all.push_back(std::make_unique<party>(each, who + "-" + std::to_string(all.size() + 1),
                                                  task{names_, ways_of(each.neighbour)},
                                                  shared_keeper().url(),
                                                  settings_of(each.neighbour), folder));
        }
        return all;
    }

    void set_permits() const {
        const std::unique_ptr<peer> process = start_ours();
        remote_client owner{*process, false, shared_keeper().url(), settings_of("")};
        for (const std::string& each : names_)
            EXPECT_TRUE(
                remote_permits(owner.thread("owner"), each + seats).try_set_permits(seats_there));
    }

    /// Of the killed ones when their sessions have ended.
    void expect_nothing_left() const {
        for (const std::string& name : names_)
            for (const std::string& path :
                 {name, name + pair, name + seats + "/locks", name + seats + "/leases"})
                EXPECT_TRUE(eventually([&] {
                    return nodes_below(shared_keeper(), root_ + "/" + path).empty();
                })) << path;
    }

    std::size_t run(const std::vector<std::unique_ptr<party>>& all) const {
        const std::chrono::seconds length = length_of(GetParam());
        const auto began = std::chrono::steady_clock::now();
        std::size_t kills = 0;
        for (auto second = 1s; second <= length; ++second) {
            std::this_thread::sleep_until(began + second); // this is how long it runs, not a wait
            std::cout << std::setw(5) << second.count() << " s, grants:";
            for (const auto& each : all)
                std::cout << "  " << each->label() << std::setw(5) << each->new_grants().size();
            std::cout << std::endl;
            if (second % 10s == 5s && second + 8s <= length)
                (void)all[kills++ % all.size()]->kill_and_replace();
        }
        return kills;
    }

    void report(const history& told, std::size_t kills) const {
        std::cout << told.waits.size() << " grants, " << told.gave_up << " waits given up, "
                  << kills << " kills, the longest wait "
                  << percentile(told.waits, 100).count() / 1'000 << " ms" << std::endl;
        RecordProperty("measures", "keeper-stress");
        RecordProperty("keeper", shared_keeper().label());
        RecordProperty("gathering", GetParam().name);
        RecordProperty("seconds", static_cast<int>(length_of(GetParam()).count()));
        RecordProperty("grants", static_cast<int>(told.waits.size()));
        RecordProperty("given_up", static_cast<int>(told.gave_up));
        RecordProperty("kills", static_cast<int>(kills));
    }

private:
    const std::string root_ = new_root();
    const std::vector<std::string> names_{"one", "two"};
};
INSTANTIATE_TEST_SUITE_P(
    With, KeeperStress,
    ::testing::Values(
        gathering{"Curator", {"curator"}, naming::own, 60s},
        gathering{"kazoo, ours named as kazoo does", {"kazoo"}, naming::kazoos, 20s},
        gathering{"kazoo that counts Curator's names", {"kazoo"}, naming::counted, 20s},
        gathering{
            "Curator, and kazoo named as Curator", {"curator", "kazoo"}, naming::curators, 20s}),
    [](const auto& which) { return "gathering" + std::to_string(which.index); });

TEST_P(KeeperStress, NobodyIsEverSureOfALockThatAnotherHas) {
    const history_folder folder;
    set_permits();
    const std::vector<std::unique_ptr<party>> all = everybody(folder.path);
    const std::size_t kills = run(all);
    history told;
    for (const auto& each : all) {
        history one = each->stop();
        EXPECT_GT(one.waits.size(), static_cast<std::size_t>(length_of(GetParam()).count()))
            << each->label() << " hardly worked";
        told.add(std::move(one));
    }
    EXPECT_THAT(overlaps(told.claims), testing::IsEmpty());
    EXPECT_THAT(tokens_out_of_order(told.claims), testing::IsEmpty());
    EXPECT_THAT(overdrawn(told.claims, seats_there), testing::IsEmpty());
    EXPECT_THAT(told.troubles, testing::IsEmpty());
    expect_nothing_left();
    report(told, kills);
}

} // namespace
} // namespace holdfast::interop
