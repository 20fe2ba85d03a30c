// SPDX-License-Identifier: Apache-2.0
// Stress tests with processes of all libraries, on one server, on a cluster, and on a ZooKeeper
// server.
#include "interop/counter_histories.hpp"
#include "interop/crowd.hpp"
#include "interop/keeper_meeting.hpp"
#include "interop/meeting.hpp"
#include "interop/peer.hpp"
#include "interop/server_state.hpp"
#include "support/on_each_server.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <gmock/gmock.h>

namespace holdfast::interop {
namespace {

// JVMs of all versions and our processes at the same few locks and counters of all kinds, all the
// ways of taking them mixed, some of them killed: was anybody ever sure of a lock at the same time
// as another that may not be, did tokens grow, are all permits of semaphores there, was a rate ever
// exceeded, did a latch open early or forget somebody, and is anything left?

using namespace std::chrono_literals;

std::chrono::seconds length_of_stress() {
    const char* wanted = std::getenv("HOLDFAST_STRESS_SECONDS");
    return std::chrono::seconds{wanted != nullptr ? std::stoi(wanted) : 60};
}

class MixedStress : public with_redisson {
protected:
    /// A JVM of each version, three processes of ours, and one more beside JVMs of each older form.
    /// Two of the three processes hand mutexes on directly.
    static std::vector<guest> guests() {
        std::vector<guest> all;
        for (const std::string& version : redisson_versions())
            all.push_back({{version, 4}, form_of(version)});
        all.insert(all.end(), {{{"", 8}}, {{"", 4}, {}, true}, {{"", 4}, {}, true}});
        for (const auto& form : forms())
            if (form)
                all.push_back({{"", 4}, form});
        return all;
    }
    /// The newest is there in any case.
    static std::set<std::optional<std::string>> forms() {
        std::set<std::optional<std::string>> all{{}};
        for (const std::string& version : redisson_versions())
            all.insert(form_of(version));
        return all;
    }
    static std::vector<std::string> in_each_form(const std::string& suffix) {
        std::vector<std::string> all;
        for (const std::string& name : names)
            for (const auto& form : forms())
                all.push_back(name + suffix + in_form(form));
        return all;
    }

    std::vector<std::unique_ptr<party>> everybody(const std::filesystem::path& folder) {
        std::vector<std::unique_ptr<party>> all;
        for (const guest& each : guests()) {
            const std::string& redisson = each.kind.redisson;
            const std::string who = redisson.empty() ? "ours" : "redisson-" + redisson;
            const std::string label = who + "-" + std::to_string(all.size() + 1);
            const task what{names, stress_turns(each)};
            all.push_back(std::make_unique<party>(each.kind, label, what, server().url(),
                                                  stress_settings(each), folder));
        }
        return all;
    }

    /// By turns from both ends, since ours stand behind the JVMs.
    static std::size_t next_victim(std::size_t kills, std::size_t parties) {
        const std::size_t step = kills / 2 % parties;
        return kills % 2 == 0 ? parties - 1 - step : step;
    }

    void set_counters() {
        std::vector<std::string> semaphores = in_each_form(leased);
        for (const std::string& name : names)
            semaphores.push_back(name + seats);
        for (const std::string& each : semaphores)
            server().command({"SET", each, std::to_string(seats_there)});
        const std::string permits = std::to_string(rate_there.permits);
        const std::string interval = std::to_string(rate_there.interval.count());
        for (const std::string& limiter : in_each_form(rated))
            server().command({"HSET", limiter, "rate", permits, "interval", interval, "type", "0",
                              "keepAliveTime", "0"});
    }

    /// Nobody knows whose permits were; but these are known to be missing. Leased ones come back.
    void make_good(const std::map<std::string, permits_gone>& lost) {
        for (const auto& [name, permits] : lost) {
            if (name.find(leased) != name.npos)
                continue;
            if (permits.known > 0)
                server().command({"INCRBY", name, std::to_string(permits.known)});
            made_good_[name] += permits.known;
        }
    }

    void expect_permits(const history& told) {
        for (const std::string& name : names) {
            const auto found = told.gone.find(name + seats);
            const permits_gone gone = found != told.gone.end() ? found->second : permits_gone{};
            const std::int64_t most = seats_there + made_good_[name + seats] - gone.known;
            const redis::reply left = server().command({"GET", name + seats});
            EXPECT_LE(std::stoll(left.text), most);
            EXPECT_GE(std::stoll(left.text), most - gone.unclear);
            server().command({"DEL", name + seats});
        }
    }

    /// Each is free or held, also by somebody who was killed.
    void expect_leased_permits() {
        for (const std::string& name : in_each_form(leased)) {
            const std::string held = "{" + name + "}:timeout";
            const std::int64_t free = std::stoll(server().command({"GET", name}).text);
            EXPECT_EQ(free + server().command({"ZCARD", held}).integer, seats_there) << name;
            server().command({"DEL", name, held});
        }
    }

    /// What the server saw drawn is what was told, and what killed ones may have drawn.
    void expect_draws(const history& told, const std::map<std::string, window>& seen) {
        EXPECT_THAT(drawn_too_fast(told.deeds, rate_there), testing::IsEmpty());
        for (const auto& [name, on_server] : seen) {
            std::map<deed::outcome, std::int64_t> permits;
            for (const deed& each : told.deeds)
                if (each.what == deed::kind::draw && each.name == name)
                    permits[each.how] += each.amount;
            const std::int64_t known = permits[deed::outcome::done];
            std::cout << name << ": " << known << " drawn, " << on_server.given_back()
                      << " given back, " << on_server.most()
                      << " in an interval, nobody looked for " << on_server.blind().count() << " ms"
                      << std::endl;
            EXPECT_THAT(on_server.troubles(), testing::IsEmpty());
            if (on_server.blind() < rate_there.interval / 2) { // all were seen
                EXPECT_GE(on_server.drawn(), known) << name;
            }
            // What is given back on a machine that stands still for long has ended before: so it
            // is seen as drawn.
            if (on_server.blind() < rate_there.interval / 8) {
                EXPECT_LE(on_server.drawn(), known + permits[deed::outcome::unknown]) << name;
            }
            server().command({"DEL", name, "{" + name + "}:value", "{" + name + "}:permits"});
        }
        // A JVM of before 3.16.2 looks for draws up to its own time, and its script fails where
        // another has drawn meanwhile (docs/protocol/rate.md).
        for (const auto& [name, times] : told.overtaken)
            EXPECT_FALSE(name.ends_with(rated)) << name << ": " << times << " draws failed";
    }

    /// Who watched the rate limiters knows for how long the whole machine stood still.
    void expect_openings(const history& told, duration stood_still) {
        const duration timeout = latches_rest / 2 + stood_still;
        EXPECT_THAT(wrong_openings(told.deeds), testing::IsEmpty());
        EXPECT_THAT(forgotten_at_latches(told.deeds, timeout), testing::IsEmpty());
        std::cout << "latches opened " << long_openings(told.deeds, 0ns) << " times, "
                  << long_openings(told.deeds, timeout) << " of them for long" << std::endl;
        for (const std::string& name : names)
            server().command({"DEL", name + met_at});
    }

    /// The next arriving waiter removes killed waiters from the queue of a fair lock.
    void come_once_more() {
        const std::unique_ptr<peer> process = start_ours();
        remote_client last{*process, false, server().url(), stress_settings({})};
        for (const std::string& name : names) {
            remote_lock lock = last.thread("last").lock(name + ":fair", "getFairLock");
            lock.lock();
            EXPECT_TRUE(lock.unlock());
        }
    }

    /// Of each kind, how often it was held, drawn from, or passed.
    static std::map<std::string, std::size_t> holds_by_kind(const history& told) {
        std::map<std::string, std::size_t> holds;
        for (const claim& each : told.claims)
            ++holds[each.name.substr(names.front().size())];
        for (const deed& each : told.deeds)
            if (each.how == deed::outcome::done &&
                (each.what == deed::kind::draw || each.what == deed::kind::wait))
                ++holds[each.name.substr(names.front().size())];
        return holds;
    }

    std::map<std::string, key_state> locks_left() {
        std::map<std::string, key_state> all = state_of(server());
        std::erase_if(all, [](const auto& each) { // counters of tokens, which stay
            return each.first.starts_with("redisson_lock_token:") && !each.second.left;
        });
        return all;
    }

    void expect_nothing_left() {
        // The hold of a killed worker ends after one lease.
        EXPECT_TRUE(support::eventually([this] { return locks_left().empty(); }))
            << testing::PrintToString(locks_left().begin()->first);
        EXPECT_TRUE(support::eventually([this] {
            return server().command({"PUBSUB", "CHANNELS"}).items.empty();
        }));
        EXPECT_TRUE(support::eventually([this] {
            const std::string clients = server().command({"CLIENT", "LIST"}).text;
            return std::ranges::count(clients, '\n') == 1;
        })) << "somebody is still connected";
    }

    static inline const std::vector<std::string> names{"stress:1", "stress:2"};

private:
    std::map<std::string, std::int64_t> made_good_; // by name
};
HOLDFAST_ON_EACH_SERVER(MixedStress);

TEST_P(MixedStress, NobodyIsEverSureOfALockThatAnotherHas) {
    const history_folder folder;
    set_counters();
    rate_watch limiters{server(), in_each_form(rated), rate_there};
    const std::vector<std::unique_ptr<party>> all = everybody(folder.path);
    const std::chrono::seconds length = length_of_stress();
    const auto began = std::chrono::steady_clock::now();
    std::size_t kills = 0;
    for (auto second = 1s; second <= length; ++second) {
        std::this_thread::sleep_until(began + second); // this is how long it runs, not a wait
        std::cout << std::setw(5) << second.count() << " s, grants:";
        for (const auto& each : all)
            std::cout << "  " << each->label() << std::setw(5) << each->new_grants().size();
        std::cout << std::endl;
        if (second % 15s == 10s && second + 10s < length)
            make_good(all[next_victim(kills++, all.size())]->kill_and_replace());
    }
    history told;
    for (const auto& each : all) {
        history one = each->stop();
        EXPECT_GT(one.waits.size(), static_cast<std::size_t>(length.count()))
            << each->label() << " hardly worked";
        std::cout << each->label() << " held:";
        for (const auto& [kind, times] : holds_by_kind(one))
            std::cout << "  " << (kind.empty() ? ":plain" : kind) << " " << times;
        std::cout << std::endl;
        told.add(std::move(one));
    }
    EXPECT_THAT(overlaps(told.claims), testing::IsEmpty());
    EXPECT_THAT(tokens_out_of_order(told.claims), testing::IsEmpty());
    EXPECT_THAT(overdrawn(told.claims, seats_there), testing::IsEmpty());
    expect_permits(told);
    expect_leased_permits();
    const std::map<std::string, window> draws = limiters.stop();
    expect_draws(told, draws);
    expect_openings(told, draws.begin()->second.blind());
    EXPECT_THAT(told.troubles, testing::IsEmpty());
    come_once_more();
    expect_nothing_left();

    const auto longest = percentile(told.waits, 100);
    std::cout << told.waits.size() << " grants, " << told.gave_up << " waits given up, "
              << told.lost << " leases ran out, " << kills << " kills, the longest wait "
              << longest.count() / 1'000 << " ms" << std::endl;
    RecordProperty("measures", "stress");
    RecordProperty("server", GetParam().label);
    std::string versions;
    for (const std::string& version : redisson_versions())
        versions += (versions.empty() ? "" : ", ") + version;
    RecordProperty("redissons", versions);
    RecordProperty("grants", static_cast<int>(told.waits.size()));
    RecordProperty("given_up", static_cast<int>(told.gave_up));
    RecordProperty("ran_out", static_cast<int>(told.lost));
    RecordProperty("kills", static_cast<int>(kills));
    RecordProperty("seconds", static_cast<int>(length.count()));
}

// JVMs and our processes at a few locks of a cluster, one of whose primaries is killed meanwhile
// and comes back as a replica. All of them have a grant confirmed by the one replica that there is:
// ours by `required_replicas`, JVMs by a WAIT behind each of their scripts (not after the failover,
// behind which there is no other). So nobody may ever be sure of a lock at the same time as
// another. And ours get every lock again.

class SeveralServersStress : public ::testing::Test {
protected:
    using parties = std::vector<std::unique_ptr<party>>;

    void SetUp() override {
        if (versions().empty())
            return miss_redisson();
        support::make_or_skip([this] { all_ = make_venue(topology::cluster, kind_); });
    }

    /// Not 3.13.6. It does not wait for the answer of its WAIT, so its grants are not confirmed.
    /// And its calls that fall into the failover never return. If that is `unlock()`, its watchdog
    /// keeps the lock, and nobody gets that name any more (docs/redisson.md). The others hear each
    /// other.
    static std::vector<std::string> versions() {
        std::vector<std::string> all = redisson_versions();
        std::erase_if(all, [](const std::string& each) { return !is_at_least(each, 3, 22); });
        return all;
    }

    static std::string all_versions() {
        std::string words;
        for (const std::string& version : versions())
            words += (words.empty() ? "" : ", ") + version;
        return words;
    }

    parties everybody(const std::filesystem::path& folder) {
        std::vector<party_kind> kinds{{"", 6}, {"", 4}};
        for (const std::string& version : versions())
            kinds.push_back({version, 3});
        parties made;
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
                .required_replicas = 1,
                .redisson_server = settings_for_jvms(topology::cluster)};
    }
    static bool is_ours(const party& one) { return one.label().starts_with("ours"); }

    /// With the suffixes of their kinds.
    static std::set<std::string> names_of_locks() {
        std::set<std::string> locks;
        for (const turn& each : turns_through_failover())
            for (const std::string& name : names)
                locks.insert(name + each.suffix);
        return locks;
    }

    /// Tells each second who was granted how many locks.
    void watch(const parties& all, const std::function<bool(std::chrono::seconds)>& goes_on) {
        const auto began = std::chrono::steady_clock::now();
        for (auto second = 1s; goes_on(second); ++second) {
            std::this_thread::sleep_until(began + second); // this is how long it runs, not a wait
            std::cout << "grants:";
            for (const auto& each : all) {
                const std::vector<std::string> more = each->new_grants();
                granted_[each->label()].insert(more.begin(), more.end());
                std::cout << "  " << each->label() << std::setw(5) << more.size();
            }
            std::cout << std::endl;
        }
    }

    /// It comes back as a replica of the one that took its place, since without any replica nothing
    /// is confirmed. Returns when it has caught up.
    void kill_a_primary(const parties& all) {
        support::redis_server& doomed = all_->keeper_of(names.front());
        all_->replace_keeper_of(names.front(), fall::killed);
        doomed.restart();
        shared_cluster(kind_).wait_until_agreed();
        std::cout << "a primary was killed, and another took its place" << std::endl;
        for (const auto& each : all)
            each->new_grants(); // those of before
        granted_.clear();
    }

    /// Ours each lock. A JVM one at least: what it misses in a failover is Redisson's own matter.
    bool all_work_again(const parties& all) {
        return std::ranges::all_of(all, [this](const auto& each) {
            const std::set<std::string>& had = granted_[each->label()];
            return is_ours(*each) ? had == names_of_locks() : !had.empty();
        });
    }

    /// For what JVMs lose, Redisson answers.
    static history stopped(party& one) {
        history told = one.stop();
        EXPECT_TRUE(told.troubles.empty() || !is_ours(one)) << one.label();
        for (const std::string& each : told.troubles)
            std::cout << each << std::endl;
        return told;
    }

    /// A JVM's call that failed may have left its place in the queue of a fair lock, where it stays
    /// until somebody comes.
    void come_once_more() {
        const std::unique_ptr<peer> process = start_ours();
        remote_client last{*process, false, all_->where(), settings()};
        for (const std::string& name : names) {
            remote_lock lock = last.thread("last").lock(name + ":fair", "getFairLock");
            lock.lock();
            EXPECT_TRUE(lock.unlock());
        }
    }
    void expect_nothing_left() {
        for (const std::string& name : names)
            EXPECT_TRUE(eventually([&] { return state_of(all_->keeper_of(name)).empty(); }))
                << name;
    }

    const support::server_binary kind_ = support::servers().front();
    /// Of three primaries; with those of all kinds of locks.
    static inline const std::vector<std::string> names{"{a}", "{b}", "{c}"};
    std::unique_ptr<venue> all_;
    std::map<std::string, std::set<std::string>> granted_; ///< by label: what it had lately
};

TEST_F(SeveralServersStress, NobodyIsEverSureOfALockThatAnotherHasAndOursGetAllOfThemAgain) {
    const history_folder folder;
    const parties all = everybody(folder.path);
    watch(all, [](auto second) { return second <= 5s; });
    kill_a_primary(all);
    watch(all, [&](auto second) {
        return second <= 10s || (second <= support::far_too_long && !all_work_again(all));
    });
    EXPECT_TRUE(all_work_again(all)) << testing::PrintToString(granted_);
    history told;
    for (const auto& each : all)
        told.add(stopped(*each));
    EXPECT_THAT(overlaps(told.claims), testing::IsEmpty());
    come_once_more();
    expect_nothing_left();
    const auto longest = percentile(told.waits, 100).count() / 1'000;
    std::cout << told.waits.size() << " grants, " << told.gave_up << " waits given up, the longest "
              << longest << " ms" << std::endl;
    RecordProperty("measures", "failover");
    RecordProperty("server", kind_.label);
    RecordProperty("redissons", all_versions());
    RecordProperty("grants", static_cast<int>(told.waits.size()));
    RecordProperty("given_up", static_cast<int>(told.gave_up));
    RecordProperty("longest_ms", static_cast<int>(longest));
}

// Processes of Curator, of kazoo and of ours at the same few locks of a ZooKeeper server, all ways
// of taking them mixed, some of them killed: was anybody ever sure of a lock at the same time as
// another that may not be, did tokens grow, were more permits out than there are, is anything left?

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
