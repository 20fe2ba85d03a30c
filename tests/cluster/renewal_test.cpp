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

    holdfast::options how() {
        holdfast::options made;
        made.store = redis::make_store(servers().client_options());
        made.lease_time = lease;
        made.observer = seen_;
        return made;
    }
    /// So often all primaries were asked that since `forget_calls`.
    std::size_t calls_of(const std::string& command) {
        std::size_t all = 0;
        for (redis_server* each : servers().servers().up()) {
            const std::string told = each->command({"INFO", "commandstats"}).text;
            const std::string field = "cmdstat_" + command + ":calls=";
            if (const std::size_t at = told.find(field); at != told.npos)
                all += std::stoul(told.substr(at + field.size()));
        }
        return all;
    }
    void forget_calls() {
        for (redis_server* each : servers().servers().up())
            each->command({"CONFIG", "RESETSTAT"});
    }
    std::int64_t left(const std::string& name) {
        return servers().node_of(name).command({"PTTL", name}).integer;
    }

    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(ClusterRenewal);

TEST_P(ClusterRenewal, AHundredNamesGoInOneScriptAndStayHeldWhereSlotsHaveMoved) {
    client home{how()};
    std::deque<mutex> all;
    for (std::size_t i = 0; i < count; ++i) {
        all.emplace_back(home, "L" + std::to_string(i));
        all.back().lock();
    }
    const std::string last = "L" + std::to_string(count - 1);
    ASSERT_TRUE(eventually([&] { return left(last) < 6'400; }));
    forget_calls();
    ASSERT_TRUE(eventually([&] { return calls_of("pexpire") >= count; })) << "renewed";
    EXPECT_LT(calls_of("evalsha"), count / 20);

    const std::string name = "L77";
    redis_server& old = servers().node_of(name);
    servers().move(servers().slot_of(name), servers().other_primary(old));
    ASSERT_NE(&servers().node_of(name), &old);
    ASSERT_TRUE(eventually([&] { return left(name) < 6'400; }));
    ASSERT_TRUE(eventually([&] { return left(name) > 6'600; })) << "renewed at its new server";
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
    for (mutex& each : all)
        EXPECT_TRUE(each.is_held_by_this_thread());
    home.close();
}

} // namespace
} // namespace holdfast
