// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/primary_node.hpp"

#include "net/byte_stream.hpp"
#include "net/deadlines.hpp"
#include "net/endpoint.hpp"
#include "redis/topology/sentinel.hpp"
#include "redis/topology/survey.hpp"
#include "runtime/background.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::redis {
namespace {

/// Returns the `revalidate` callback for a node with a single server, which has all locks.
std::function<void(bool urgent)> revalidate_all(const store_context& home) {
    if (!home.revalidate)
        return {};
    return [&home](bool urgent) { home.revalidate({}, urgent); };
}

asio::awaitable<void> find_by(std::weak_ptr<sentinel_watch> watch, time_point limit) {
    const auto here = watch.lock();
    if (!here)
        throw net::failure{errc::closed, "the client is closed"};
    co_await here->find(limit);
}

} // namespace

primary_node::primary_node(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , server_{context_}
    , topology_inspector_{std::make_shared<topology_inspector>(context_)} {
    context_->revalidate = revalidate_all(context_->home);
    if (context_->how.sentinel)
        listen_to_sentinels();
    else
        watch_address();
}

void primary_node::watch_address() {
    address_ = std::make_shared<fixed_address>(context_);
    context_->on_connected = while_alive(address_, &fixed_address::on_connected);
    context_->on_disconnected = while_alive(address_, &fixed_address::on_disconnected);
}

void primary_node::listen_to_sentinels() {
    sentinels_ = std::make_shared<sentinel_watch>(
        context_, [this](const std::string& told_by) { move(told_by); });
    context_->unknown = "the primary of '" + context_->how.sentinel->service + "'";
    context_->find = [watch = std::weak_ptr{sentinels_}](time_point limit) {
        return find_by(watch, limit);
    };
    context_->in_trouble = while_alive(sentinels_, &sentinel_watch::in_trouble);
}

asio::awaitable<reply> primary_node::pursue(const script& what,
                                            std::span<const std::string_view> keys,
                                            std::span<const argument> arguments,
                                            call_options options) {
    // Keeps the context alive while the call pauses.
    const std::shared_ptr<node_context> known = context_;
    retry_loop trail{known->home, pauses_, known->how.command_timeout, options, arguments};
    for (;;) {
        std::optional<net::failure> why;
        try {
            co_return co_await server_.call(what, keys, arguments, options);
        } catch (const net::failure& e) {
            why = e;
        }
        co_await trail.rest(*why);
    }
}

void primary_node::move(const std::string& told_by) {
    const std::string address = context_->address();
    server_.move({errc::outcome_unknown,
                  address + " is the primary now, as " + told_by +
                      " reported; the client does not wait for the answer of the other server"});
    tell_moved(context_->home, address, told_by);
}

duration primary_node::usual_outage() const noexcept {
    return sentinels_ ? outage_of_failover : node::usual_outage();
}

asio::awaitable<topology_report> primary_node::survey() {
    return topology_inspector_->examine_primary();
}

void primary_node::close() noexcept {
    pauses_->end();
    topology_inspector_->close();
    if (sentinels_)
        sentinels_->close();
    if (address_)
        address_->close();
    server_.close();
}

namespace {

bool is_numeric(const std::string& host) {
    error_code is_name;
    (void)asio::ip::make_address(host, is_name);
    return !is_name;
}

} // namespace

fixed_address::fixed_address(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , wake_{context_->home.time.make_alarm()}
    , can_change_{context_->how.unix_socket.empty() && !is_numeric(context_->how.host) &&
                  context_->how.address_check > duration::zero()} {}

void fixed_address::on_connected(const server_hello& told) {
    server now{told.peer, told.run_id};
    const bool is_other = is_another(now);
    last_ = std::move(now);
    connected_ = true;
    missing_ = 0;
    if (is_other)
        tell_moved(context_->home, net::address_of(told.peer), "the name " + context_->how.host);
    if (can_change_ && !closed_ && !std::exchange(watching_, true))
        runtime::run_in_background(context_->home, watch(shared_from_this()));
}

/// Returns whether a new connection goes to another server than the connection before it. A server
/// with the same run_id is the same server, even at another address.
bool fixed_address::is_another(const server& now) const {
    if (!last_ || last_->at == now.at)
        return false;
    return now.run_id.empty() || now.run_id != last_->run_id;
}

void fixed_address::on_disconnected() {
    connected_ = false;
    wake_->ring();
}

asio::awaitable<void> fixed_address::watch(self mine) {
    co_await mine->rest();
    while (mine->connected_) {
        const net::stream_endpoint in_use = mine->last_->at;
        const std::optional<bool> missing = co_await mine->is_missing(in_use);
        const bool is_news = mine->connected_ && mine->last_->at == in_use;
        if (missing && is_news) // a failed lookup says nothing about the address
            mine->missing_ = *missing ? mine->missing_ + 1 : 0;
        if (mine->missing_ >= missing_max)
            mine->leave();
        co_await mine->rest();
    }
    mine->watching_ = false;
}

/// Waits until the next lookup. The time is random, so that clients that lost their server together
/// do not all look up its name at the same moment.
asio::awaitable<void> fixed_address::rest() {
    const store_context& home = context_->home;
    const duration period = context_->how.address_check;
    const auto jitter = static_cast<duration::rep>(home.random() % 1000);
    const time_point next = net::later(home.time.now(), period - period / 5 * jitter / 1000);
    while (connected_ && home.time.now() < next)
        co_await wake_->wait_until(next);
}

/// Returns true if the server's name no longer has the address in use. Returns nullopt if the name
/// cannot be resolved now.
asio::awaitable<std::optional<bool>> fixed_address::is_missing(net::stream_endpoint in_use) {
    const options& how = context_->how;
    try {
        const auto found = co_await net::look_up(context_->home.executor, how.host, how.port,
                                                 *wake_, [this] { return !connected_; });
        if (found.empty())
            co_return std::nullopt;
        co_return std::ranges::none_of(
            found, [&](const auto& each) { return net::stream_endpoint{each} == in_use; });
    } catch (const net::failure&) {
        co_return std::nullopt;
    }
}

void fixed_address::leave() {
    missing_ = 0;
    context_->leave_server({errc::unreachable, context_->how.host + " no longer leads to " +
                                                   net::address_of(last_->at)});
}

void fixed_address::close() {
    if (!std::exchange(closed_,
                       true)) // a second call may be on any thread, after the clock is gone
        on_disconnected();
}

} // namespace holdfast::redis
