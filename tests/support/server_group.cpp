// SPDX-License-Identifier: Apache-2.0
#include "support/server_group.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast::support {

redis::reply require_answer(redis_server& server, const std::vector<std::string>& words) {
    redis::reply answer = server.command(words);
    if (answer.type == redis::reply::kind::error)
        throw std::runtime_error{words.front() + " was answered " + answer.text};
    return answer;
}

server_group::server_group(server_binary which, options how)
    : which_{std::move(which)}
    , how_{std::move(how)} {
    if (how_.can_be_cut && how_.tls)
        throw std::logic_error{"who comes by TLS does not say who it is: it cannot be cut"};
    if (how_.can_be_cut)
        ways_.emplace();
    if (how_.tls)
        tls_.emplace("The servers' authority");
}

std::uint16_t server_group::reserve(bool in_cluster) {
    place made;
    const std::uint16_t own = made.plain.number(), bus = made.bus.number();
    made.announced = how_.tls ? made.tls.number() : own;
    made.announced_bus = bus;
    if (ways_) {
        made.announced = ways_->way_to(own, own);
        if (in_cluster)
            made.announced_bus = ways_->way_to(own, bus);
        for (const std::uint16_t each : {own, made.announced})
            ways_->know(own, sign_of_replica(each));
    }
    places_.push_back(std::move(made));
    return own;
}

redis_server& server_group::start(std::vector<std::string> arguments, const std::string& nodes) {
    const place& own = places_.at(servers_.size());
    const auto add = [&arguments](const std::vector<std::string>& more) {
        arguments.insert(arguments.end(), more.begin(), more.end());
    };
    add({"--repl-diskless-sync-delay", "0"});
    if (tls_) {
        add(tls_->arguments());
        add({"--tls-replication", "yes"});
    }
    add(how_.arguments);
    const redis_server::options how{.tcp = true,
                                    .tls = how_.tls,
                                    .cluster = !nodes.empty(),
                                    .own_clock = how_.own_clocks,
                                    .arguments = std::move(arguments),
                                    .keeps_data = how_.keep_data,
                                    .password = how_.password,
                                    .nodes = nodes,
                                    .port = own.plain.number(),
                                    .tls_port = own.tls.number(),
                                    .bus_port = own.bus.number()};
    return *servers_.emplace_back(std::make_unique<redis_server>(which_, how));
}

std::size_t server_group::index_of(const redis_server& server) const {
    std::size_t index = 0;
    while (servers_.at(index).get() != &server)
        ++index;
    return index;
}

std::vector<redis_server*> server_group::all() {
    std::vector<redis_server*> listed;
    for (const auto& each : servers_)
        listed.push_back(each.get());
    return listed;
}

std::vector<redis_server*> server_group::up() {
    std::vector<redis_server*> listed = all();
    std::erase_if(listed, [this](const redis_server* each) { return !is_up(*each); });
    return listed;
}

bool server_group::is_up(const redis_server& server) const {
    return server.is_up() && std::ranges::find(cut_off_, &server) == cut_off_.end();
}

void server_group::cut(const std::vector<redis_server*>& side, partition::clients outside) {
    std::vector<std::uint16_t> names;
    for (const redis_server* each : side)
        names.push_back(each->port());
    ways().cut(names, outside);
    cut_off_.insert(cut_off_.end(), side.begin(), side.end());
}

void server_group::heal() {
    if (ways_)
        ways_->heal();
    cut_off_.clear();
}

void server_group::revive() {
    heal();
    for (const auto& each : servers_) {
        each->resume();
        each->start();
        each->right_clock();
    }
}

} // namespace holdfast::support
