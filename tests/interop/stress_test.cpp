// SPDX-License-Identifier: Apache-2.0
// JVMs of all versions and our processes at the same few locks and counters of all kinds, all the
// ways of taking them mixed, some of them killed: was anybody ever sure of a lock at the same time
// as another that may not be, did tokens grow, are all permits of semaphores there, was a rate ever
// exceeded, did a latch open early or forget somebody, and is anything left?
#include "interop/meeting.hpp"
#include "interop/openings.hpp"
#include "interop/server_state.hpp"
#include "interop/stress_turns.hpp"
#include "interop/with_redisson.hpp"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <gmock/gmock.h>

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;

std::chrono::seconds length_of_stress() {
    const char* wanted = std::getenv("HOLDFAST_STRESS_SECONDS");
    return std::chrono::seconds{wanted != nullptr ? std::stoi(wanted) : 60};
}

class MixedStress : public with_redisson {
protected:
    /// A JVM of each version, two processes of ours, and one more beside JVMs of each older form.
    static std::vector<guest> guests() {
        std::vector<guest> all;
        for (const std::string& version : redisson_versions())
            all.push_back({{version, 4}, form_of(version)});
        all.insert(all.end(), {{{"", 8}}, {{"", 4}}});
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

    /// Whoever was killed in the queue of a fair lock is taken out by the next one who comes.
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
        // Who was killed holding is forgotten after a lease.
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

} // namespace
} // namespace holdfast::interop
