// SPDX-License-Identifier: Apache-2.0
// Many holds over all primaries are renewed with few scripts.
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/recorder.hpp"
#include "support/redis_cluster.hpp"
#include "support/server_info.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::redis_cluster;
using support::redis_server;

class ClusterRenewal : public support::on_each_topology<redis_cluster> {
protected:
    static constexpr std::size_t count = 10'000;
    static constexpr auto lease = 9s;
    static constexpr std::size_t bytes_each = 50; ///< alone, one is asked for by 150
    const std::string last = "L" + std::to_string(count - 1);

    holdfast::options how() {
        holdfast::options made;
        made.store = redis::make_store(servers().client_options());
        made.lease_time = lease;
        made.observer = seen_;
        return made;
    }
    /// So often a server was asked that since `forget_calls`.
    static std::size_t calls_at(redis_server& server, const std::string& command) {
        const std::string told = server.command({"INFO", "commandstats"}).text;
        const std::string field = "cmdstat_" + command + ":calls=";
        const std::size_t at = told.find(field);
        return at == told.npos ? 0 : std::stoul(told.substr(at + field.size()));
    }
    static std::size_t bytes_at(redis_server& server) {
        return std::stoul(support::info_of(server, "stats", "total_net_input_bytes"));
    }
    /// Likewise, all together.
    std::size_t calls_of(const std::string& command) {
        std::size_t all = 0;
        for (redis_server* each : servers().servers().up())
            all += calls_at(*each, command);
        return all;
    }
    std::vector<redis_server*> primaries() {
        std::vector<redis_server*> some;
        for (redis_server* each : servers().servers().up())
            if (support::is_primary(*each))
                some.push_back(each);
        return some;
    }
    void lock_all(client& home) {
        for (std::size_t i = 0; i < count; ++i) {
            all_.emplace_back(home, "L" + std::to_string(i));
            all_.back().lock();
        }
        ASSERT_TRUE(eventually([&] { return left(last) < 6'400; }));
    }
    /// All names of a server go there together, in few scripts and few bytes.
    void expect_renewed_by_server() {
        std::size_t renewed = 0;
        for (redis_server* each : primaries()) {
            const std::size_t here = calls_at(*each, "pexpire");
            EXPECT_GT(here, count / 4) << "each has about a third";
            EXPECT_LT(calls_at(*each, "evalsha"), here / 20);
            EXPECT_LT(bytes_at(*each), here * bytes_each);
            renewed += here;
        }
        EXPECT_GE(renewed, count);
    }
    void forget_calls() {
        for (redis_server* each : servers().servers().up())
            each->command({"CONFIG", "RESETSTAT"});
    }
    std::int64_t left(const std::string& name) {
        return servers().node_of(name).command({"PTTL", name}).integer;
    }

    std::deque<mutex> all_;
    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(ClusterRenewal);

TEST_P(ClusterRenewal, AHundredNamesGoInOneScriptAndStayHeldWhereSlotsHaveMoved) {
    client home{how()};
    lock_all(home);
    forget_calls();
    ASSERT_TRUE(eventually([&] { return calls_of("pexpire") >= count; })) << "renewed";
    expect_renewed_by_server();

    const std::string name = "L77";
    redis_server& old = servers().node_of(name);
    servers().move(servers().slot_of(name), servers().other_primary(old));
    ASSERT_NE(&servers().node_of(name), &old);
    ASSERT_TRUE(eventually([&] { return left(name) < 6'400; }));
    ASSERT_TRUE(eventually([&] { return left(name) > 6'600; })) << "renewed at its new server";
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
    for (mutex& each : all_)
        EXPECT_TRUE(each.is_held_by_this_thread());
    home.close();
}

TEST_P(ClusterRenewal, OnlyWhatAServerHasNotIsAskedForApart) {
    client home{how()};
    lock_all(home);
    const std::vector<std::string> sent{"L1", "L22", "L333", "L4444", "L5555"};
    for (const std::string& name : sent) { // and their slots stay open
        redis_server& to = servers().other_primary(servers().node_of(name));
        servers().begin_move(servers().slot_of(name), to);
        servers().move_keys(servers().slot_of(name), to);
    }
    forget_calls();
    ASSERT_TRUE(eventually([&] { return calls_of("pexpire") >= count; })) << "renewed";
    expect_renewed_by_server();
    EXPECT_TRUE(eventually([&] { return calls_of("asking") >= sent.size(); }));
    EXPECT_LE(calls_of("asking"), 4 * sent.size()) << "each by itself, and no other";
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
    for (mutex& each : all_)
        EXPECT_TRUE(each.is_held_by_this_thread());
    home.close();
}

} // namespace
} // namespace holdfast
