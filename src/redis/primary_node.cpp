// SPDX-License-Identifier: Apache-2.0
#include "redis/primary_node.hpp"

#include "net/later.hpp"
#include "redis/fixed_address.hpp"
#include "redis/pursuit.hpp"
#include "redis/sentinel/sentinel_watch.hpp"
#include "redis/survey/surveyor.hpp"
#include "redis/while_alive.hpp"

#include <string>
#include <utility>

namespace holdfast::redis {
namespace {

/// Returns the `doubt` callback for a node with a single server, which has all locks.
std::function<void(bool urgent)> doubt_of_all(const store_context& home) {
    if (!home.doubt)
        return {};
    return [&home](bool urgent) { home.doubt({}, urgent); };
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
    , surveyor_{std::make_shared<surveyor>(context_)} {
    context_->doubt = doubt_of_all(context_->home);
    if (context_->how.sentinel)
        listen_to_sentinels();
    else
        watch_address();
}

void primary_node::watch_address() {
    address_ = std::make_shared<fixed_address>(context_);
    context_->met = while_alive(address_, &fixed_address::met);
    context_->parted = while_alive(address_, &fixed_address::parted);
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
                                            call_wishes wishes) {
    // Keeps the context alive while the call pauses.
    const std::shared_ptr<node_context> known = context_;
    pursuit trail{known->home, pauses_, known->how.command_timeout, wishes};
    for (;;) {
        std::optional<net::failure> why;
        try {
            co_return co_await server_.call(what, keys, arguments, wishes);
        } catch (const net::failure& e) {
            why = e;
        }
        co_await trail.rest(*why);
    }
}

void primary_node::move(const std::string& told_by) {
    const std::string address = context_->address();
    server_.move({errc::outcome_unknown, address + " is the primary now, so " + told_by +
                                             " said; the other one's answer is not waited for"});
    tell_moved(context_->home, address, told_by);
}

duration primary_node::usual_outage() const noexcept {
    return sentinels_ ? outage_of_failover : node::usual_outage();
}

asio::awaitable<topology_report> primary_node::survey() {
    return surveyor_->examine_primary();
}

void primary_node::close() noexcept {
    pauses_->end();
    surveyor_->close();
    if (sentinels_)
        sentinels_->close();
    if (address_)
        address_->close();
    server_.close();
}

} // namespace holdfast::redis
