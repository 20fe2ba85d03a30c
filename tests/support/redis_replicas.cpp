// SPDX-License-Identifier: Apache-2.0
#include "support/redis_replicas.hpp"

#include "support/eventually.hpp"
#include "support/redis_server.hpp"

#include <algorithm>
#include <map>
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
/// which would disturb a test.
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

namespace {

std::string quoted(const std::string& word) {
    return '"' + word + '"';
}

using fields = std::map<std::string, std::string>;

fields fields_of(const redis::reply& pairs) {
    fields all;
    for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2)
        all[pairs.items[i].text] = pairs.items[i + 1].text;
    return all;
}

/// Returns the reply of a Sentinel to SENTINEL with the word "master", "replicas" or "sentinels".
std::vector<fields> known_to(redis_server& sentinel, const std::string& what) {
    const redis::reply answer = sentinel.command({"SENTINEL", what, redis_sentinels::service});
    if (what == "master")
        return {fields_of(answer)};
    std::vector<fields> all;
    for (const redis::reply& each : answer.items)
        all.push_back(fields_of(each));
    return all;
}

} // namespace

redis_sentinels::redis_sentinels(const server_binary& which, options how)
    : how_{std::move(how)}
    , servers_{which,
               {.replicas = how_.replicas,
                .own_clocks = how_.own_clocks,
                .can_be_cut = how_.can_be_cut,
                .tls = how_.tls,
                .keep_data = how_.keep_data,
                .password = how_.password,
                .arguments = how_.arguments}} {
    if (how_.tls || how_.sentinel_tls)
        tls_ = std::make_unique<server_tls>("The Sentinels' authority",
                                            how_.tls ? servers_.servers().ca_file() : "");
    for (std::size_t i = 0; i < how_.sentinels; ++i)
        reserve();
    for (const watcher& each : watchers_)
        sentinels_.push_back(std::make_unique<redis_server>(
            which, redis_server::options{.tcp = true,
                                         .password = how_.sentinel_password,
                                         .sentinel = configuration_of(each),
                                         .port = each.plain.number()}));
    wait_until_ready();
}

void redis_sentinels::reserve() {
    watcher made{.id = random_id()};
    const std::uint16_t own = made.plain.number();
    made.announced = how_.tls ? made.tls.number() : own;
    if (how_.can_be_cut) {
        partition& ways = servers_.servers().ways();
        made.announced = ways.way_to(own, own);
        ways.know(own, sign_of_sentinel(made.id));
    }
    watchers_.push_back(std::move(made));
}

/// Returns the configuration of a Sentinel. It names the other Sentinels, to save the time to
/// discover them.
std::string redis_sentinels::configuration_of(const watcher& which) const {
    const std::string here = " 127.0.0.1 ", named = std::string{" "} + service;
    const auto port = [this](std::size_t i) { return std::to_string(servers_.port_of(i)); };
    std::string text = "sentinel myid " + which.id + "\nsentinel monitor" + named + here + port(0) +
                       " " + std::to_string(how_.quorum) + "\n";
    const auto set = [&](const std::string& what, const std::string& value) {
        text += "sentinel " + what + named + " " + value + "\n";
    };
    set("down-after-milliseconds", std::to_string(how_.down_after.count()));
    set("failover-timeout", std::to_string(how_.failover_timeout.count()));
    set("parallel-syncs", std::to_string(how_.parallel_syncs));
    if (!how_.password.empty())
        set("auth-pass", quoted(how_.password));
    for (std::size_t i = 1; i <= how_.replicas; ++i)
        text += "sentinel known-replica" + named + here + port(i) + "\n";
    for (const watcher& each : watchers_)
        if (each.id != which.id)
            text += "sentinel known-sentinel" + named + here + std::to_string(each.announced) +
                    " " + each.id + "\n";
    text += "sentinel announce-ip 127.0.0.1\nsentinel announce-port " +
            std::to_string(which.announced) + "\n";
    if (!how_.sentinel_password.empty())
        text += "requirepass " + quoted(how_.sentinel_password) + "\nsentinel sentinel-pass " +
                quoted(how_.sentinel_password) + "\n";
    if (tls_)
        text += "tls-port " + std::to_string(which.tls.number()) + "\n" + tls_->lines();
    if (how_.tls)
        text += "tls-replication yes\n";
    for (const std::string& line : how_.sentinel_lines)
        text += line + "\n";
    return text;
}

std::uint16_t redis_sentinels::port_of(const redis_server& one) const {
    for (std::size_t i = 0; i < sentinels_.size(); ++i)
        if (sentinels_[i].get() == &one)
            return how_.sentinel_tls ? watchers_[i].tls.number()
                   : how_.tls        ? watchers_[i].plain.number()
                                     : watchers_[i].announced;
    return servers_.port_of(one);
}

std::vector<redis_server*> redis_sentinels::sentinels_up() {
    std::vector<redis_server*> up;
    for (const auto& each : sentinels_)
        if (servers_.servers().is_up(*each))
            up.push_back(each.get());
    return up;
}

redis_server* redis_sentinels::named_by(redis_server& sentinel) {
    const redis::reply address = sentinel.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service});
    for (redis_server* each : servers_.servers().all())
        if (address.items.size() == 2 &&
            address.items[1].text == std::to_string(servers_.port_of(*each)))
            return each;
    return nullptr;
}

redis_server* redis_sentinels::named_by_most() {
    std::map<redis_server*, std::size_t> votes;
    const std::vector<redis_server*> asked = sentinels_up();
    for (redis_server* each : asked)
        ++votes[named_by(*each)];
    for (const auto& [server, count] : votes)
        if (2 * count > asked.size())
            return server;
    return nullptr;
}

redis_server& redis_sentinels::primary() {
    redis_server* found = nullptr;
    until("most Sentinels name a primary", [&] {
        found = named_by_most();
        return found != nullptr && found->is_up() && is_primary(*found);
    });
    return *found;
}

redis_server& redis_sentinels::replica(std::size_t which) {
    std::vector<redis_server*> up = servers_.servers().up();
    std::erase(up, &primary());
    return *up.at(which);
}

void redis_sentinels::failover() {
    const redis_server& old = primary();
    redis_server& leader = *sentinels_up().at(0);
    until("the Sentinels have made another the primary", [&] {
        order_failover(leader, old);
        return &primary() != &old;
    });
}

/// Orders a failover, unless one is in progress. The caller may have to repeat the order: the
/// Sentinel may still be busy with the last failover, or may have given up because a replica was
/// slow.
void redis_sentinels::order_failover(redis_server& leader, const redis_server& old) {
    fields about = known_to(leader, "master").at(0);
    const bool is_over = about["port"] != std::to_string(servers_.port_of(old));
    if (is_over || about["flags"].find("failover_in_progress") != std::string::npos)
        return;
    const std::string said = leader.command({"SENTINEL", "FAILOVER", service}).text;
    if (said != "OK" && !said.starts_with("INPROG") && !said.starts_with("NOGOODSLAVE"))
        throw std::runtime_error{"SENTINEL FAILOVER was answered " + said};
}

bool redis_sentinels::is_ready(redis_server& sentinel) {
    fields about = known_to(sentinel, "master").at(0);
    if (about["flags"] != "master" || named_by(sentinel) != named_by_most())
        return false;
    std::size_t replicas = 0, others = 0;
    for (fields& each : known_to(sentinel, "replicas"))
        if (each["flags"] == "slave" && each["master-link-status"] == "ok")
            ++replicas;
    for (fields& each : known_to(sentinel, "sentinels"))
        if (each["flags"] == "sentinel")
            ++others;
    return replicas + 1 >= servers_.servers().up().size() && others + 1 >= sentinels_up().size();
}

void redis_sentinels::wait_until_ready() {
    until("all Sentinels know of all", [this] {
        return std::ranges::all_of(sentinels_up(), [this](auto* each) { return is_ready(*each); });
    });
}

/// Returns whether all servers and Sentinels are up, and no failover has happened since the start.
bool redis_sentinels::is_as_in_the_beginning() {
    const bool all_up = servers_.servers().up().size() == servers_.size() &&
                        sentinels_up().size() == sentinels_.size();
    return all_up && std::ranges::all_of(sentinels_, [this](const auto& each) {
               return is_ready(*each) && named_by(*each) == &server(0) &&
                      known_to(*each, "master").at(0)["config-epoch"] == "0" &&
                      info_of(*each, "sentinel", "sentinel_tilt") == "0";
           });
}

/// Restores the servers. After a failover, restarts the Sentinels empty, because they would refuse
/// another failover for ten seconds.
void redis_sentinels::restore() {
    if (is_as_in_the_beginning()) {
        servers_.restore_around(server(0));
        return;
    }
    for (const auto& each : sentinels_)
        each->stop();
    servers_.restore_around(server(0));
    for (const auto& each : sentinels_)
        each->restart_empty();
    wait_until_ready();
}

redis::options redis_sentinels::client_options() {
    redis::options how;
    how.sentinel.emplace();
    how.sentinel->service = service;
    for (const auto& each : sentinels_)
        how.sentinel->addresses.push_back({"127.0.0.1", port_of(*each)});
    how.password = secret{how_.password};
    how.sentinel->password = secret{how_.sentinel_password};
    if (how_.tls)
        how.tls = tls_options{.ca_file = servers_.servers().ca_file()};
    if (how_.sentinel_tls)
        how.sentinel->tls = tls_options{.ca_file = tls_->ca_file()};
    return how;
}

} // namespace holdfast::support
