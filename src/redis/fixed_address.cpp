// SPDX-License-Identifier: Apache-2.0
#include "redis/fixed_address.hpp"

#include "net/address.hpp"
#include "net/later.hpp"
#include "net/look_up.hpp"
#include "redis/pursuit.hpp"
#include "runtime/background.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::redis {
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

void fixed_address::met(const introduction& told) {
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

/// Returns whether a new connection leads to another server than the last one. A server with the
/// same run_id is the same server, even at another address.
bool fixed_address::is_another(const server& now) const {
    if (!last_ || last_->at == now.at)
        return false;
    return now.run_id.empty() || now.run_id != last_->run_id;
}

void fixed_address::parted() {
    connected_ = false;
    wake_->ring();
}

asio::awaitable<void> fixed_address::watch(self mine) {
    co_await mine->rest();
    while (mine->connected_) {
        const net::stream_endpoint in_use = mine->last_->at;
        const std::optional<bool> missing = co_await mine->is_missing(in_use);
        const bool is_news = mine->connected_ && mine->last_->at == in_use;
        if (missing && is_news) // a failed lookup says nothing
            mine->missing_ = *missing ? mine->missing_ + 1 : 0;
        if (mine->missing_ >= missing_max)
            mine->leave();
        co_await mine->rest();
    }
    mine->watching_ = false;
}

/// Waits until the next lookup. The waiting time has jitter. Otherwise clients that lost their
/// server together would look up the name at the same moment.
asio::awaitable<void> fixed_address::rest() {
    const store_context& home = context_->home;
    const duration period = context_->how.address_check;
    const auto jitter = static_cast<duration::rep>(home.random() % 1000);
    const time_point next = net::later(home.time.now(), period - period / 5 * jitter / 1000);
    while (connected_ && home.time.now() < next)
        co_await wake_->wait_until(next);
}

/// Returns true if the name does not lead to the address in use any more. Returns nullopt if the
/// name cannot be resolved now.
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
    context_->leave_server({errc::unreachable, context_->how.host + " leads to " +
                                                   net::address_of(last_->at) + " no more"});
}

void fixed_address::close() {
    if (!std::exchange(closed_,
                       true)) // a second call may be on any thread, after the clock is gone
        parted();
}

} // namespace holdfast::redis
