// SPDX-License-Identifier: Apache-2.0
#include "support/redis_replicas.hpp"

#include "support/eventually.hpp"
#include "support/server_info.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::support {
namespace {

const std::string this_machine = "127.0.0.1";

void require_ok(redis_server& server, const std::vector<std::string>& words) {
    const redis::reply answer = server.command(words);
    if (answer.type == redis::reply::kind::error)
        throw std::runtime_error{words.front() + " was answered " + answer.text};
}

} // namespace

redis_replicas::redis_replicas(const server_binary& which, options how)
    : how_{std::move(how)} {
    if (how_.can_be_cut && how_.tls)
        throw std::logic_error{"who comes by TLS does not say who it is: it cannot be cut"};
    if (how_.can_be_cut)
        ways_.emplace();
    if (how_.tls)
        tls_.emplace();
    for (std::size_t i = 0; i <= how_.replicas; ++i)
        reserve();
    for (std::size_t i = 0; i <= how_.replicas; ++i)
        servers_.push_back(std::make_unique<redis_server>(which, options_of(i)));
    wait_until_in_sync();
    require_confirmation();
}

void redis_replicas::reserve() {
    ports made;
    const std::uint16_t own = made.plain.number();
    made.announced = ways_ ? ways_->way_to(own, own) : how_.tls ? made.tls.number() : own;
    if (ways_)
        for (const std::uint16_t each : {own, made.announced})
            ways_->know(own, sign_of_replica(each));
    ports_.push_back(std::move(made));
}

redis_server::options redis_replicas::options_of(std::size_t which) const {
    const ports& own = ports_[which];
    redis_server::options how{.tcp = true,
                              .tls = how_.tls,
                              .own_clock = how_.own_clocks,
                              .arguments = {"--repl-diskless-sync-delay", "0"},
                              .keeps_data = how_.keep_data,
                              .password = how_.password,
                              .port = own.plain.number(),
                              .tls_port = own.tls.number()};
    const auto add = [&how](const std::vector<std::string>& more) {
        how.arguments.insert(how.arguments.end(), more.begin(), more.end());
    };
    add({"--replica-announce-ip", this_machine});
    add({"--replica-announce-port", std::to_string(own.announced)});
    if (tls_) {
        add(tls_->arguments());
        add({"--tls-replication", "yes"});
    }
    if (which != primary_)
        add({"--replicaof", this_machine + " " + std::to_string(ports_[primary_].announced)});
    add(how_.arguments);
    return how;
}

std::size_t redis_replicas::index_of(const redis_server& server) const {
    std::size_t index = 0;
    while (servers_.at(index).get() != &server)
        ++index;
    return index;
}

std::uint16_t redis_replicas::port_of(const redis_server& server) const {
    return ports_[index_of(server)].announced;
}

redis_server& redis_replicas::replica(std::size_t which) {
    return server(which < primary_ ? which : which + 1);
}

void redis_replicas::failover(redis_server& to) {
    require_ok(primary(), {"FAILOVER", "TO", this_machine, std::to_string(port_of(to))});
    until("FAILOVER is over", [&] { return is_primary(to) && !is_primary(primary()); });
    primary_ = index_of(to);
    for (const auto& each : servers_)
        if (each.get() != &to && each->is_up())
            follow(*each, to);
}

void redis_replicas::promote(redis_server& server) {
    require_ok(server, {"REPLICAOF", "NO", "ONE"});
    primary_ = index_of(server);
}

void redis_replicas::follow(redis_server& replica, redis_server& primary) {
    require_ok(replica, {"REPLICAOF", this_machine, std::to_string(port_of(primary))});
    until("a replica has what its primary has", [&] {
        const long long offset = offset_of(primary);
        return is_in_sync(replica, offset);
    });
}

void redis_replicas::wait_until_in_sync() {
    until("all replicas are in sync", [&] {
        const long long offset = offset_of(primary());
        int following = 0;
        for (const auto& each : servers_) {
            if (each.get() == &primary() || !each->is_up())
                continue;
            if (!is_in_sync(*each, offset))
                return false;
            ++following;
        }
        return replicas_online(primary()) >= following;
    });
}

/// The first WAIT after a sync can take most of a second, so it is not left to a test.
void redis_replicas::require_confirmation() {
    require_ok(primary(), {"FLUSHALL"});
    const std::string all = std::to_string(how_.replicas);
    until("all replicas confirm", [&] {
        const redis::reply confirmed = primary().command({"WAIT", all, "100"});
        return confirmed.integer == static_cast<std::int64_t>(how_.replicas);
    });
}

void redis_replicas::cut(const std::vector<redis_server*>& side, partition::clients outside) {
    std::vector<std::uint16_t> names;
    for (const redis_server* each : side)
        names.push_back(each->port());
    ways().cut(names, outside);
}

void redis_replicas::heal() {
    ways().heal();
}

void redis_replicas::restore() {
    if (ways_)
        heal();
    for (const auto& each : servers_) {
        each->resume();
        each->start();
        each->right_clock();
    }
    promote(primary());
    for (const auto& each : servers_)
        if (each.get() != &primary())
            follow(*each, primary());
    wait_until_in_sync();
    require_confirmation();
}

} // namespace holdfast::support
