// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/redis_replicas.hpp"
#include "support/redis_server.hpp"

#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {

/// Clients of a primary over which Sentinels watch. What it has, its replicas have soon.
class with_sentinels : public support::on_each_topology<support::redis_sentinels> {
protected:
    using redis_server = support::redis_server;
    using topology = support::redis_sentinels::options;

    explicit with_sentinels(topology how = {})
        : on_each_topology{std::move(how)} {}

    holdfast::options how() { return how(servers().client_options()); }
    /// What can be asked of nobody is told soon.
    holdfast::options hasty(redis::options where) const {
        where.command_timeout = std::chrono::milliseconds{900};
        where.connect_timeout = std::chrono::milliseconds{300};
        return how(where);
    }
    holdfast::options how(const redis::options& where) const {
        holdfast::options made;
        made.store = redis::make_store(where);
        made.lease_time = std::chrono::seconds{20};
        made.observer = told_;
        return made;
    }

    std::int64_t exists(redis_server& at, const std::string& name) {
        return at.command({"EXISTS", name}).integer;
    }
    bool is_at_primary(const std::string& name) { return exists(servers().primary(), name) == 1; }
    std::int64_t listeners(const std::string& name) {
        const std::string channel = "redisson_lock__channel:{" + name + "}";
        return servers().primary().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer;
    }
    /// So many have all that was written before.
    void await_replicas(int count = 2) {
        servers().primary().command({"SET", "written last", "x"}); // WAIT is about one connection
        const std::string all = std::to_string(count);
        EXPECT_EQ(servers().primary().command({"WAIT", all, "10000"}).integer, count);
    }
    bool told(event_kind kind, std::size_t times = 1) {
        return support::eventually([&] { return told_->count(kind) >= times; });
    }
    /// A lock is taken and released before it, and after the client has heard of it.
    void follow_a_failover(client& home) {
        mutex lock{home, "L"};
        lock.lock();
        EXPECT_TRUE(is_at_primary("L"));
        lock.unlock();
        servers().failover();
        ASSERT_TRUE(told(event_kind::moved));
        lock.lock();
        EXPECT_TRUE(is_at_primary("L"));
        lock.unlock();
    }
    /// Returns the expiry as this client believes it. Each renewal changes it.
    static auto end_of(const lease& held) {
        return std::chrono::steady_clock::now() + held.remaining();
    }
    /// The server that was told of last.
    std::string moved_to() const {
        const auto last = told_->last(event_kind::moved);
        return last ? last->name : "";
    }
    std::string address_of(const redis_server& one) {
        return "127.0.0.1:" + std::to_string(servers().port_of(one));
    }

    /// Closes what the library has there, and nobody else's.
    static void drop_clients(redis_server& server) {
        std::istringstream all{server.command({"CLIENT", "LIST"}).text};
        for (std::string line; std::getline(all, line);)
            if (line.find(" name=holdfast ") != line.npos)
                server.command({"CLIENT", "KILL", "ID", line.substr(3, line.find(' ') - 3)});
    }

    /// So many scripts have come there.
    static long long scripts_at(redis_server& server) {
        const std::string all = server.command({"INFO", "commandstats"}).text;
        long long sum = 0;
        for (const char* const field : {"cmdstat_evalsha:calls=", "cmdstat_eval:calls="})
            if (const std::size_t at = all.find(field); at != all.npos)
                sum += std::stoll(all.substr(all.find('=', at) + 1));
        return sum;
    }

    const std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
};

} // namespace holdfast
