// SPDX-License-Identifier: Apache-2.0
#include "interop/venue.hpp"

#include "support/eventually.hpp"
#include "support/server_info.hpp"
#include "support/shared_topology.hpp"

#include <algorithm>

namespace holdfast::interop {
namespace {

using support::redis_cluster;
using support::redis_sentinels;
using support::redis_server;

class one_server : public venue {
public:
    explicit one_server(const support::server_binary& which)
        : server_{which, {.tcp = true}} {}

    redis_server& keeper_of(const std::string&) override { return server_; }
    std::vector<redis_server*> replicas_of(const std::string&) override { return {}; }
    address where() override { return server_.url(); }
    void replace_keeper_of(const std::string&, fall) override {
        throw std::logic_error{"there is no other server"};
    }

private:
    redis_server server_;
};

class at_cluster : public venue {
public:
    explicit at_cluster(redis_cluster& all)
        : all_{all} {}

    redis_server& keeper_of(const std::string& name) override { return all_.node_of(name); }
    std::vector<redis_server*> replicas_of(const std::string& name) override {
        return {&all_.replica_of(keeper_of(name))};
    }
    address where() override { return address_of(all_); }
    void replace_keeper_of(const std::string& name, fall how) override {
        redis_server& old = keeper_of(name);
        if (how == fall::ordered)
            return all_.failover(all_.replica_of(old));
        old.stop();
        support::until("another has its slots", [&] { return &keeper_of(name) != &old; });
    }

private:
    redis_cluster& all_;
};

class at_sentinels : public venue {
public:
    explicit at_sentinels(redis_sentinels& all)
        : all_{all} {}

    redis_server& keeper_of(const std::string&) override { return all_.primary(); }
    std::vector<redis_server*> replicas_of(const std::string& name) override {
        std::vector<redis_server*> others = all_.servers().servers().up();
        std::erase(others, &keeper_of(name));
        return others;
    }
    address where() override { return address_of(all_); }
    void replace_keeper_of(const std::string& name, fall how) override {
        if (how == fall::ordered)
            return all_.failover();
        redis_server& old = keeper_of(name);
        old.stop();
        support::until("the Sentinels name another", [&] { return &keeper_of(name) != &old; });
    }

private:
    redis_sentinels& all_;
};

/// So slow to miss a server that a busy machine is no reason to.
constexpr duration until_missed{1'000};

std::unique_ptr<redis_cluster>& kept_cluster(const support::server_binary& which) {
    static std::map<std::string, std::unique_ptr<redis_cluster>> all;
    return all[which.label];
}
std::unique_ptr<redis_sentinels>& kept_sentinels(const support::server_binary& which) {
    static std::map<std::string, std::unique_ptr<redis_sentinels>> all;
    return all[which.label];
}

const std::string this_machine = "127.0.0.1:";

} // namespace

void venue::replicate(const std::string& name) {
    const long long offset = support::offset_of(keeper_of(name));
    for (redis_server* each : replicas_of(name))
        support::until("a replica has it", [&] { return support::is_in_sync(*each, offset); });
}

/// Tests at one server come before those that share several, and behind them.
std::unique_ptr<venue> make_venue(topology what, const support::server_binary& which) {
    if (what == topology::one_server) {
        kept_cluster(which).reset();
        kept_sentinels(which).reset();
        return std::make_unique<one_server>(which);
    }
    if (what == topology::cluster)
        return std::make_unique<at_cluster>(
            support::restored_or_new(kept_cluster(which), which, {.node_timeout = until_missed}));
    return std::make_unique<at_sentinels>(
        support::restored_or_new(kept_sentinels(which), which, {.down_after = until_missed}));
}

redis_cluster& shared_cluster(const support::server_binary& which) {
    return *kept_cluster(which);
}

redis_sentinels& shared_sentinels(const support::server_binary& which) {
    return *kept_sentinels(which);
}

address address_of(redis_cluster& all) {
    address made;
    for (std::size_t i = 0; i < all.size(); ++i)
        made.nodes.push_back(this_machine + std::to_string(all.port_of(all.node(i))));
    return made;
}

address address_of(redis_sentinels& all) {
    address made;
    made.service = redis_sentinels::service;
    const redis::options how = all.client_options();
    for (const auto& each : how.sentinel->addresses)
        made.nodes.push_back(this_machine + std::to_string(each.port));
    return made;
}

json::object settings_for_jvms(topology what) {
    if (what == topology::one_server)
        return {};
    return {{"scanInterval", 500},
            {"masterConnectionMinimumIdleSize", 2},
            {"slaveConnectionMinimumIdleSize", 1},
            {"subscriptionConnectionMinimumIdleSize", 1}};
}

} // namespace holdfast::interop
