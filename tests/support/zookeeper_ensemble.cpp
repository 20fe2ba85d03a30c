// SPDX-License-Identifier: Apache-2.0
// Each server has its own configuration, in which the others are at ports of a partition. A server
// also tells others its address, because a server with a smaller number is called back there. So
// the partition replaces this address in the bytes.
#include "support/zookeeper_ensemble.hpp"

#include "support/eventually.hpp"

#include <algorithm>

namespace holdfast::support {
namespace {

std::string address_of(std::uint16_t port) {
    return "127.0.0.1:" + std::to_string(port);
}

} // namespace

zookeeper_ensemble::zookeeper_ensemble(const server_binary& which, const options& how)
    : places_(how.size) {
    std::vector<zookeeper_server::options> wanted;
    for (std::size_t i = 0; i < how.size; ++i) {
        zookeeper_server::options each;
        each.tick = how.tick;
        each.number = static_cast<std::uint16_t>(i + 1);
        each.port = places_[i].client.number();
        each.lines = lines_for(i, how);
        // Short intervals, so that elections and connection attempts are repeated soon.
        each.properties = {"-Dzookeeper.fastleader.maxNotificationInterval=500",
                           "-Dzookeeper.cnxTimeout=500"};
        each.properties.insert(each.properties.end(), how.properties.begin(), how.properties.end());
        wanted.push_back(each);
    }
    translate();
    for (const zookeeper_server::options& each : wanted)
        servers_.push_back(std::make_unique<zookeeper_server>(which, each));
    wait_until_all_serve();
}

std::vector<std::string> zookeeper_ensemble::lines_for(std::size_t which, const options& how) {
    std::vector<std::string> lines{"initLimit=25", "syncLimit=" + std::to_string(how.sync_limit)};
    for (std::size_t i = 0; i < places_.size(); ++i)
        lines.push_back("server." + std::to_string(i + 1) + "=" + as_seen_by(which, i));
    lines.insert(lines.end(), how.lines.begin(), how.lines.end());
    return lines;
}

std::string zookeeper_ensemble::as_seen_by(std::size_t who, std::size_t whom) {
    const place& there = places_[whom];
    std::uint16_t quorum = there.quorum.number(), election = there.election.number();
    if (who != whom) {
        const std::uint16_t from = places_[who].client.number(), to = there.client.number();
        quorum = ways_.way(from, to, quorum);
        election = ways_.way(from, to, election);
        elections_.push_back({who, whom, election});
    }
    return address_of(quorum) + ":" + std::to_string(election);
}

/// Replaces addresses in the messages between servers. When A sends its address to B, B gets the
/// port that leads from B to A.
void zookeeper_ensemble::translate() {
    for (const election_way& there : elections_)
        for (const election_way& back : elections_)
            if (there.who == back.whom && there.whom == back.who)
                ways_.translate(there.port, address_of(places_[there.who].election.number()),
                                address_of(back.port));
}

std::string zookeeper_ensemble::url() const {
    std::string all = "zk://";
    for (const auto& each : servers_)
        all += (each == servers_.front() ? "" : ",") + each->address();
    return all;
}

void zookeeper_ensemble::wait_until_all_serve() {
    until("all of ZooKeeper serve", [this] {
        return std::all_of(servers_.begin(), servers_.end(),
                           [](const auto& each) { return each->serves(); });
    });
}

zookeeper_server& zookeeper_ensemble::one_that(const std::string& mode,
                                               const zookeeper_server* not_this) {
    zookeeper_server* found = nullptr;
    until("a server of ZooKeeper is " + mode, [&] {
        for (const auto& each : servers_)
            if (each.get() != not_this && each->is_up() && each->mode() == mode)
                found = each.get();
        return found != nullptr;
    });
    return *found;
}

std::vector<zookeeper_server*> zookeeper_ensemble::all_but(const zookeeper_server& one) {
    std::vector<zookeeper_server*> others;
    for (const auto& each : servers_)
        if (each.get() != &one)
            others.push_back(each.get());
    return others;
}

void zookeeper_ensemble::cut_off(const zookeeper_server& out) {
    ways_.cut({out.port()});
}

void zookeeper_ensemble::heal() {
    ways_.heal();
}

void zookeeper_ensemble::restore() {
    heal();
    for (const auto& each : servers_) {
        each->resume();
        each->launch();
    }
    wait_until_all_serve();
}

} // namespace holdfast::support
