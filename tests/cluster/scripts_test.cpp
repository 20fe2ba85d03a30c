// SPDX-License-Identifier: Apache-2.0
// What scripts do while their slot moves, at the server that it leaves and at the one to which it
// goes, with each of their keys here or there: all of it, or nothing.
#include "migrating_scripts.hpp"
#include "store/redis/scripts.hpp"
#include "support/on_each_topology.hpp"
#include "support/redis_cluster.hpp"
#include "support/run_script.hpp"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using support::redis_cluster;
using support::redis_server;
using texts = std::vector<std::string>;

class MigratingScripts : public support::on_each_topology<redis_cluster> {
protected:
    MigratingScripts()
        : on_each_topology{{.node_timeout = std::chrono::seconds{5}}} {}

    void SetUp() override {
        on_each_topology::SetUp();
        if (IsSkipped())
            return;
        slot_ = servers().slot_of(migrating::name);
        from_ = &servers().primary_of(slot_);
        to_ = &servers().other_primary(*from_);
    }

    static redis::reply run(redis_server& at, const migrating::trial& what, bool asking) {
        support::redis_connection line{at.socket_path()};
        if (asking)
            line.command({"ASKING"});
        return support::run_script(line, *what.script, what.keys, what.arguments);
    }

    /// All is at the first server, and nothing moves.
    void prepare(const migrating::trial& what) {
        servers().call_off_moves();
        from_->command({"FLUSHALL"});
        to_->command({"FLUSHALL"});
        for (const texts& each : what.before)
            ASSERT_NE(from_->command(migrating::dated(each)).type, redis::reply::kind::error)
                << each[0] << " of " << what.about;
    }

    texts keys_at(redis_server& server) {
        texts all;
        for (const redis::reply& each : server.command({"KEYS", "*"}).items)
            all.push_back(each.text);
        std::ranges::sort(all);
        return all;
    }
    void send(const std::string& key) {
        const redis::reply sent = from_->command(
            {"MIGRATE", "127.0.0.1", std::to_string(servers().port_of(*to_)), key, "0", "10000"});
        ASSERT_EQ(sent.text, "OK");
    }

    migrating::picture all_there_is() {
        migrating::picture all;
        for (redis_server* each : {from_, to_})
            for (const std::string& key : keys_at(*each)) {
                EXPECT_FALSE(all.contains(key)) << key << " is at both servers";
                all[key] = migrating::describe(*each, key);
            }
        return all;
    }

    /// As it is where nothing moves, or not at all.
    void check(const migrating::trial& what, const std::string& when, const redis::reply& said,
               const migrating::picture& before, const redis::reply& usual,
               const migrating::picture& after) {
        SCOPED_TRACE(what.about + " " + when + ": " + migrating::in_words(said));
        if (said.type == redis::reply::kind::error) {
            EXPECT_TRUE(migrating::is_about_the_place(said.text));
            EXPECT_EQ(all_there_is(), before);
        } else {
            EXPECT_EQ(migrating::in_words(said), migrating::in_words(usual));
            EXPECT_EQ(all_there_is(), after);
        }
    }

    void try_all_ways(const migrating::trial& what) {
        SCOPED_TRACE(what.about);
        prepare(what);
        const texts keys = keys_at(*from_);
        const redis::reply usual = run(*from_, what, false);
        ASSERT_NE(usual.type, redis::reply::kind::error) << what.about << ": " << usual.text;
        const migrating::picture after = all_there_is();
        ASSERT_LT(keys.size(), 7U);
        for (std::size_t gone = 0; gone < std::size_t{1} << keys.size(); ++gone)
            for (const bool at_target : {false, true}) {
                prepare(what);
                servers().begin_move(slot_, *to_);
                std::string when = at_target ? "at the target" : "at the source";
                for (std::size_t i = 0; i < keys.size(); ++i)
                    if (gone & (std::size_t{1} << i)) {
                        send(keys[i]);
                        when += ", " + keys[i] + " is gone";
                    }
                if (at_target && any_declared_at_source(what))
                    continue; // nobody is sent there
                const migrating::picture before = all_there_is();
                const redis::reply said = run(at_target ? *to_ : *from_, what, at_target);
                if (!what.may_miss_what_it_cannot_see || said.type == redis::reply::kind::error)
                    check(what, when, said, before, usual, after);
            }
    }

    bool any_declared_at_source(const migrating::trial& what) {
        const texts still = keys_at(*from_);
        return std::ranges::any_of(what.keys, [&](const std::string& key) {
            return std::ranges::find(still, key) != still.end();
        });
    }

    int slot_ = 0;
    redis_server *from_ = nullptr, *to_ = nullptr;
};
HOLDFAST_ON_EACH_SERVER(MigratingScripts);

TEST_P(MigratingScripts, OfLocksDoNothingByHalves) {
    for (const migrating::trial& each : migrating::trials_of_locks())
        try_all_ways(each);
}

TEST_P(MigratingScripts, OfCountersDoNothingByHalves) {
    for (const migrating::trial& each : migrating::trials_of_counters())
        try_all_ways(each);
}

TEST(MigratingScriptsOfAll, AreTried) {
    std::set<std::string_view> tried;
    for (const auto& some : {migrating::trials_of_locks(), migrating::trials_of_counters()})
        for (const migrating::trial& each : some)
            tried.insert(each.script->name);
    // Those without keys, and those that only read and may miss what is elsewhere.
    for (const char* other : {"find_locks", "find_counters", "examine_server", "read_clients",
                              "describe_locks", "inspect_lock", "inspect_permits", "inspect_rate",
                              "inspect_counter", "last_token", "look_latch", "announce_client"})
        tried.insert(other);
    for (const std::string& each : migrating::all_scripts())
        EXPECT_TRUE(tried.contains(each)) << each;
}

} // namespace
} // namespace holdfast
