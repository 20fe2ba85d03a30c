// SPDX-License-Identifier: Apache-2.0
#include "store/redis/redis_store.hpp"

#include "net/endpoint.hpp"
#include "redis/node.hpp"
#include "store/redis/lock_requests.hpp"
#include "store/redis/names.hpp"
#include "store/remote/listing.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace holdfast::redis {
namespace {

constexpr net::option_checks check{"redis::options"};

/// Shortest allowed time between two checks of the topology. Each check costs the cluster's nodes
/// some work.
constexpr duration topology_check_least{100};

/// Greatest allowed values of two options. A greater value is probably a typing error, because by
/// default a server allows only ten thousand connections for all clients together.
constexpr std::size_t blocking_connections_most = 1000;
constexpr std::chrono::microseconds polling_longest = std::chrono::milliseconds{10};

void check_addresses(const std::vector<server_address>& all, std::uint16_t usual_port,
                     const std::string& field) {
    if (const auto twice = check.servers(all, usual_port, field))
        check.require(false, field + " contains the same server twice: " + twice->numbers());
}

void check_tls(const tls_options& tls, const std::string& field, const std::string& host) {
    check.certificate(tls, field);
    const std::string& name = tls.server_name.empty() ? host : tls.server_name;
    check.require(name.size() <= net::server_name_bytes_max,
                  "the server's name is longer than a host name can be");
    check.no_nul(name, field + ".server_name");
    check.files(tls);
}

void check_sentinels(const sentinel_options& them) {
    check.require(!them.service.empty(), "sentinel.service is empty");
    check_addresses(them.addresses, 26379, "sentinel.addresses");
    if (them.tls)
        check_tls(*them.tls, "sentinel.tls", {});
}

void check_cluster(const options& how) {
    check_addresses(how.cluster->addresses, 6379, "cluster.addresses");
    check.require(how.database == 0, "database is " + std::to_string(how.database) +
                                         "; a cluster has database 0 alone");
}

void check_place(const options& how) {
    check.require(!how.sentinel || !how.cluster, "sentinel and cluster cannot be used together");
    const bool is_one = !how.sentinel && !how.cluster;
    check.require(is_one || how.unix_socket.empty(),
                  "unix_socket cannot be used with Sentinels or a cluster, which need TCP");
    if (how.sentinel)
        check_sentinels(*how.sentinel);
    if (how.cluster)
        check_cluster(how);
    if (!how.unix_socket.empty())
        check.unix_socket(how.unix_socket);
    else if (is_one) {
        check.host(how.host, "host");
        check.require(how.port != 0, "port is 0");
    }
    check.require(!how.tls || how.unix_socket.empty(), "tls cannot be used with unix_socket");
    if (how.tls)
        check_tls(*how.tls, "tls", is_one ? how.host : "");
}

/// Checks the option `pubsub`. Sharded messages exist only in a cluster.
void check_pubsub(const options& how) {
    check.require(how.pubsub <= pubsub_form::both,
                  "pubsub must be automatic, plain, sharded or both");
    check.require(how.cluster || how.pubsub <= pubsub_form::plain,
                  std::string{"pubsub is "} +
                      (how.pubsub == pubsub_form::both ? "both" : "sharded") +
                      "; outside of a cluster, automatic and plain are allowed");
}

void check_time(duration value, std::string_view field, duration least = duration{1}) {
    check.time(value, field, least);
}

/// Returns the greatest allowed replica_timeout. A renewal that waits for replicas must leave
/// enough time for another attempt.
duration replica_timeout_most(const options& how) {
    return std::max(duration{1}, how.command_timeout / 3);
}

void check_replica_timeout(const options& how) {
    check_time(how.replica_timeout, "replica_timeout");
    check.require(how.replica_timeout <= replica_timeout_most(how),
                  "replica_timeout is " + std::to_string(how.replica_timeout.count()) +
                      " ms; the limit is a third of command_timeout, which is " +
                      std::to_string(replica_timeout_most(how).count()) + " ms");
}

} // namespace

options checked(options how) {
    if (how.replica_timeout == options{}.replica_timeout)
        how.replica_timeout = std::min(how.replica_timeout, replica_timeout_most(how));
    check_place(how);
    check_pubsub(how);
    check_time(how.connect_timeout, "connect_timeout");
    check_time(how.command_timeout, "command_timeout");
    check_replica_timeout(how);
    check_time(how.address_check, "address_check", duration::zero());
    check_time(how.topology_check, "topology_check", topology_check_least);
    check.backoff(how.backoff_min, how.backoff_max);
    check_time(how.subscription_linger, "subscription_linger", duration::zero());
    check_time(how.fair_wait, "fair_wait");
    check.require(how.redisson <= redisson_form::v3_17, "redisson must be v3_13, v3_16 or v3_17");
    check.require(how.blocking_connections_max <= blocking_connections_most,
                  "blocking_connections_max is more than 1000");
    check.require(how.polling >= how.polling.zero() && how.polling <= polling_longest,
                  "polling is " + std::to_string(how.polling.count()) +
                      " us; allowed are 0 us to 10000 us");
    check.require(how.requests_max > 0, "requests_max is 0");
    check.require(how.reply_bytes_max > 0, "reply_bytes_max is 0");
    return how;
}

std::optional<std::string> redis_locks::objection_to(const lock_name& name) const {
    return objection_to_name(name, bounds().name_bytes_max);
}

std::unique_ptr<place> redis_locks::line_up(ask want, alarm& wake) {
    return std::make_unique<lock_place>(server_, context_, missing_permissions_, timeout_, busy_,
                                        presence_, std::move(want), wake);
}

asio::awaitable<void> redis_locks::renew(hold_list holds, const renewal_options& how,
                                         renewal_sink& to) {
    if (presence_ && !holds.empty())
        presence_->refresh(how.lease_time, context_.time.now());
    return renew_holds(server_, context_.executor, holds, how, to);
}

asio::awaitable<release_answer> redis_locks::release(hold held) {
    const verbs& how = *verbs_of(held.kind, server_);
    const released outcome = co_await how.release(server_, held);
    missing_permissions_.note(held, outcome);
    co_return release_answer{outcome.was_ours, others_listen(held, outcome)};
}

bool redis_locks::transfers(lock_kind kind) const noexcept {
    return kind != lock_kind::read && kind != lock_kind::permit;
}

asio::awaitable<answer> redis_locks::transfer(hold what, owner_id to, duration lease_time) {
    ask wanted{what.name, to, what.kind};
    wanted.lease_time = lease_time;
    wanted.replicas = what.replicas;
    remote::attempts::sender send = [&](time_point deadline) {
        return transfer_by(deadline, what, wanted);
    };
    co_return co_await remote::look_once(context_, wanted, server_.command_timeout(),
                                         std::move(send));
}

asio::awaitable<attempt> redis_locks::transfer_by(time_point deadline, const hold& what,
                                                  const ask& wanted) {
    attempt got = co_await move_hold(server_, what, wanted, server_deadline{deadline});
    missing_permissions_.note(wanted, got);
    if (presence_ && got.said == verdict::granted)
        presence_->refresh(wanted.lease_time, got.received_at);
    // Do nothing if the server refuses WAIT. The hold must stay, because it belongs to the ticket
    // that was transferred.
    const auto keep = []() -> asio::awaitable<void> {
        throw boost::system::system_error{make_error_code(store_errc::not_replicated)};
        co_return;
    };
    co_await confirm(got, wanted.replicas, keep);
    co_return got;
}

/// Returns whether other clients wait for the lock.
bool redis_locks::others_listen(const hold& held, const released& outcome) const {
    if (!verbs_of(held.kind)->told_on)
        return outcome.receivers > 0;
    return outcome.handed_on || outcome.heard_late || outcome.receivers > 1 ||
           (outcome.receivers == 1 && !server_.hears(verbs_of(held.kind)->told_on(held)));
}

std::optional<std::string> redis_counters::objection_to(const lock_name& name, counter_kind) const {
    return objection_to_name(name, limits{}.name_bytes_max);
}

std::unique_ptr<place> redis_counters::line_up(counter_ask want, alarm& wake) {
    if (want.kind == counter_kind::rate)
        return std::make_unique<rate_place>(server_, context_, missing_permissions_,
                                            std::move(want));
    return std::make_unique<counter_place>(server_, context_, missing_permissions_, slots_,
                                           std::move(want), wake);
}

asio::awaitable<counter_answer> redis_counters::change(counter_change what) {
    const duration timeout = server_.command_timeout();
    const request_slot where = co_await slots_.take(what.name, what.request.number,
                                                    context_.time.now() + timeout, timeout);
    const counter_answer said = co_await change_in_time(what, where);
    co_return said;
}

void redis_counters::end_change(const lock_name& name, const owner_id& request) noexcept {
    slots_.over(name, request.number);
}

asio::awaitable<counter_answer> redis_counters::change_in_time(const counter_change& what,
                                                               request_slot where) {
    counter_answer outcome;
    const ask nobody{what.name, what.request, lock_kind::plain};
    std::int64_t receivers = 0;
    bool heard_late = false;
    remote::attempts::sender send = [&](time_point deadline) -> asio::awaitable<remote::attempt> {
        const remembered as{where, memory()};
        const auto ask = what.kind == counter_kind::permits ? change_permits
                         : what.kind == counter_kind::rate  ? change_rate
                                                            : change_counter;
        const changed got = co_await ask(server_, what, as, server_deadline{deadline});
        outcome = got.what;
        receivers = got.receivers;
        heard_late = got.seen.heard_late;
        missing_permissions_.note(nobody, got.seen);
        if (got.seen.said == remote::verdict::granted)
            require_confirmed(got.seen, what.replicas);
        co_return got.seen;
    };
    co_await remote::look_once(context_, nobody, server_.command_timeout(), std::move(send));
    missing_permissions_.note(
        nobody,
        released{.was_ours = true, .denied_message = receivers < 0, .receivers = receivers});
    if (what.kind == counter_kind::rate) // rate limiters have no notifications
        co_return outcome;
    outcome.others_listen = heard_late || receivers > 1 ||
                            (receivers == 1 && !server_.hears(channel_of(what.name, what.kind)));
    co_return outcome;
}

asio::awaitable<counter_state> redis_counters::inspect(lock_name name, counter_kind kind) {
    switch (kind) {
    case counter_kind::permits:
        co_return co_await inspect_permits(server_, name);
    case counter_kind::rate:
        co_return co_await inspect_rate(server_, name, context_.client);
    case counter_kind::semaphore:
    case counter_kind::latch:
        break;
    }
    co_return co_await inspect_counter(server_, name, kind);
}

asio::awaitable<counter_list> redis_counters::list(counter_kind kind, std::string pattern,
                                                   std::size_t limit) {
    found_names found = co_await find_counters(server_, kind, std::move(pattern), limit);
    counter_list all{{}, found.complete, std::move(found.unreachable)};
    for (const std::string& name : found.names) {
        try {
            counter_list::entry one{name, {}};
            one.state = co_await inspect({name}, kind);
            if (remote::is_listed(kind, one.state)) // the search also finds expired permits
                all.counters.push_back(std::move(one));
        } catch (const boost::system::system_error& e) {
            if (e.code() != store_errc::wrong_type) // skip a name that has another kind now
                throw;
        }
    }
    co_return all;
}

store_factory make_store(options how) {
    return [how = checked(std::move(how))](store_context context) -> std::unique_ptr<store> {
        std::unique_ptr<node> server = make_node(how, context);
        return std::make_unique<redis_store>(std::move(server), std::move(context));
    };
}

} // namespace holdfast::redis
