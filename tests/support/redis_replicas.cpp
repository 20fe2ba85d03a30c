// SPDX-License-Identifier: Apache-2.0
#include "support/redis_replicas.hpp"

#include "support/eventually.hpp"
#include "support/server_info.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::support {
namespace {

const std::string this_machine = "127.0.0.1";

} // namespace

redis_replicas::redis_replicas(const server_binary& which, options how)
    : servers_{which,
               {.own_clocks = how.own_clocks,
                .can_be_cut = how.can_be_cut,
                .tls = how.tls,
                .keep_data = how.keep_data,
                .password = std::move(how.password),
                .arguments = std::move(how.arguments)}}
    , replicas_{how.replicas} {
    for (std::size_t i = 0; i <= replicas_; ++i)
        servers_.reserve(false);
    for (std::size_t i = 0; i <= replicas_; ++i) {
        std::vector<std::string> words{"--replica-announce-ip", this_machine,
                                       "--replica-announce-port",
                                       std::to_string(servers_.port_of(i))};
        if (i != primary_)
            words.insert(
                words.end(),
                {"--replicaof", this_machine + " " + std::to_string(servers_.port_of(primary_))});
        servers_.start(std::move(words));
    }
    wait_until_in_sync();
    require_confirmation();
}

redis_server& redis_replicas::replica(std::size_t which) {
    return server(which < primary_ ? which : which + 1);
}

void redis_replicas::failover(redis_server& to) {
    require_answer(primary(), {"FAILOVER", "TO", this_machine, std::to_string(port_of(to))});
    until("FAILOVER is over", [&] { return is_primary(to) && !is_primary(primary()); });
    primary_ = servers_.index_of(to);
    for (redis_server* each : servers_.up())
        if (each != &to)
            follow(*each, to);
}

void redis_replicas::promote(redis_server& server) {
    require_answer(server, {"REPLICAOF", "NO", "ONE"});
    primary_ = servers_.index_of(server);
}

void redis_replicas::follow(redis_server& replica, redis_server& primary) {
    require_answer(replica, {"REPLICAOF", this_machine, std::to_string(port_of(primary))});
    until("a replica has what its primary has", [&] {
        const long long offset = offset_of(primary);
        return is_in_sync(replica, offset);
    });
}

void redis_replicas::wait_until_in_sync() {
    until("all replicas are in sync", [&] {
        const long long offset = offset_of(primary());
        int following = 0;
        for (redis_server* each : servers_.up()) {
            if (each == &primary())
                continue;
            if (!is_in_sync(*each, offset))
                return false;
            ++following;
        }
        return replicas_online(primary()) >= following;
    });
}

/// Waits until all replicas confirm a write. The first WAIT after a sync can take almost a second,
/// so it must not be part of a test.
void redis_replicas::require_confirmation() {
    require_answer(primary(), {"FLUSHALL"});
    const std::string all = std::to_string(replicas_);
    until("all replicas confirm", [&] {
        const redis::reply confirmed = primary().command({"WAIT", all, "100"});
        return confirmed.integer == static_cast<std::int64_t>(replicas_);
    });
}

void redis_replicas::restore_around(redis_server& primary) {
    servers_.revive();
    promote(primary);
    for (redis_server* each : servers_.all())
        if (each != &primary)
            follow(*each, primary);
    wait_until_in_sync();
    require_confirmation();
}

} // namespace holdfast::support
