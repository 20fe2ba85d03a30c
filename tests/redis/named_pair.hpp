// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/eventually.hpp"
#include "support/host_names.hpp"
#include "support/redis_server.hpp"
#include "support/server_process.hpp"

#include <holdfast/redis/options.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace holdfast {

/// A primary and its replica on one port of two addresses, and a name that leads to one of them.
class named_pair {
public:
    using redis_server = support::redis_server;

    explicit named_pair(const support::server_binary& which, bool own_clocks = false)
        : old_{which, place(old_address, own_clocks)}
        , next_{which, place(next_address, own_clocks)} {
        lead_to(old_);
        follow(next_, old_);
        support::until("the replica is online", [&] { return support::replicas_online(old_) > 0; });
    }

    redis_server& old() { return old_; }
    redis_server& next() { return next_; }
    std::string address_of(const redis_server& one) const {
        return ip_of(one) + ":" + std::to_string(port_.number());
    }

    void lead_to(const redis_server& one) { support::set_address(name_, ip_of(one)); }

    /// By the server's own FAILOVER; the name stays.
    void failover(redis_server& from, redis_server& to) {
        const auto said = from.command({"FAILOVER", "TO", ip_of(to), std::to_string(port())});
        if (said.text != "OK")
            throw std::runtime_error{"FAILOVER was answered " + said.text};
        support::until("FAILOVER is over", [&] {
            return support::is_primary(to) && !support::is_primary(from) &&
                   support::info_of(from, "replication", "master_link_status") == "up";
        });
    }
    void failover() { failover(old_, next_); }

    /// By hand.
    static void promote(redis_server& one) { one.command({"REPLICAOF", "NO", "ONE"}); }
    void follow(redis_server& replica, redis_server& primary) {
        replica.command({"REPLICAOF", ip_of(primary), std::to_string(port())});
        support::until("the replica has what its primary has",
                       [&] { return support::is_in_sync(replica, support::offset_of(primary)); });
    }
    void await_replica() {
        support::until("the replica has what its primary has",
                       [&] { return support::is_in_sync(next_, support::offset_of(old_)); });
    }

    /// By the name, which is looked up often; or by the old one's address.
    redis::options by_name() const {
        redis::options made;
        made.host = name_;
        made.port = port();
        made.address_check = std::chrono::milliseconds{50};
        return made;
    }
    redis::options by_address() const {
        redis::options made = by_name();
        made.host = old_address;
        return made;
    }

private:
    static constexpr const char *old_address = "127.0.0.1", *next_address = "127.0.0.2";

    static std::string unused_name() {
        static int made = 0;
        return "pair-" + std::to_string(++made) + ".test";
    }
    std::uint16_t port() const { return port_.number(); }
    std::string ip_of(const redis_server& one) const {
        return &one == &old_ ? old_address : next_address;
    }
    support::redis_server::options place(const std::string& address, bool own_clock) const {
        return {.tcp = true,
                .own_clock = own_clock,
                .arguments = {"--bind", address, "--replica-announce-ip", address,
                              "--repl-diskless-sync-delay", "0"},
                .port = port_.number()};
    }

    const support::reserved_port port_;
    const std::string name_ = unused_name();
    redis_server old_, next_;
};

} // namespace holdfast
