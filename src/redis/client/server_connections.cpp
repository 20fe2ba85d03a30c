// SPDX-License-Identifier: Apache-2.0
#include "redis/client/server_connections.hpp"

#include "net/deadlines.hpp"
#include "net/endpoint.hpp"
#include "redis/client/blocking_connections.hpp"
#include "redis/client/command_connection.hpp"
#include "redis/client/resp.hpp"
#include "redis/client/subscriber.hpp"
#include "runtime/background.hpp"

#include <boost/asio/deferred.hpp>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// Borrowed connection. The destructor returns the connection to the pool. The object is empty if
/// no connection was free.
class server_connections::borrowed_connection : public blocking_connections::borrowed_connection {
public:
    using blocking_connections::borrowed_connection::borrowed_connection;
};

server_connections::server_connections(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , monitor_{runtime::monitor::of(context_->home.executor)}
    , command_connections_{std::make_shared<command_connections>(context_)}
    , blocking_connections_{std::make_shared<blocking_connections>(context_)}
    , subscriber_{std::make_shared<subscriber>(context_)}
    , same_server_guard_{std::make_shared<same_server_guard>(context_, command_connections_,
                                                             blocking_connections_, subscriber_)}
    , liveness_{std::make_shared<liveness>(context_, command_connections_, blocking_connections_,
                                           subscriber_)} {
    if (monitor_)
        monitor_->welcome(context_->how.blocking_connections_max);
    if (!context_->leave_server)
        context_->leave_server = leaving();
    context_->on_shared_connection =
        while_alive(same_server_guard_, &same_server_guard::on_shared_connection);
    context_->on_other_connection =
        while_alive(same_server_guard_, &same_server_guard::on_other_connection);
    context_->overdue = while_alive(liveness_, &liveness::look);
}

namespace {

/// Limits the time that WAIT may take to `replica_timeout`, and to half of the time that is left
/// until `answer_by`. The other half is for the transfer of the reply.
void bound_wait(call_options& options, duration replica_timeout, time_point now) {
    options.replicas_within = std::min(options.replicas_within, replica_timeout);
    if (options.answer_by != time_point::max())
        options.replicas_within =
            std::clamp((options.answer_by - now) / 2, duration{1}, options.replicas_within);
}

} // namespace

asio::awaitable<reply> server_connections::call(const script& what,
                                                std::span<const std::string_view> keys,
                                                std::span<const argument> arguments,
                                                call_options options) {
    if (options.replicas > 0)
        bound_wait(options, context_->how.replica_timeout, context_->home.time.now());
    const runtime::monitor::load under_way{monitor_};
    runtime::inline_call* const caller = inline_call_here();
    if (caller && !options.asking) {
        // Keep the command connection open, because a blocking connection does not notice the loss
        // of the server.
        command_connections_->stay_connected();
        std::optional<borrowed_connection> mine{std::in_place, *blocking_connections_};
        request asked{what, keys, arguments, options};
        if (*mine && (caller->waits() || !(*mine)->may_owe_more()))
            co_return (*mine)->ask(*caller, asked);
        if (*mine) {
            co_await send_off(*caller, mine, asked);
            if (!asked.with_text)
                co_return asked.take_answer();
        }
    }
    co_return co_await command_connections_->pick(options).ask(what, keys, arguments, options);
}

/// Sends the request over the borrowed connection, returns the connection to the pool as soon as
/// the request is written, and waits for the reply.
asio::awaitable<void> server_connections::send_off(runtime::inline_call& caller,
                                                   std::optional<borrowed_connection>& mine,
                                                   request& asked) {
    auto begin = [&](auto handler) {
        request::waiter{std::move(handler)}.swap(asked.resume);
        (*mine)->send_off(caller, asked);
        mine.reset();
        blocking_connections_->collect_soon();
    };
    co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
}

void server_connections::distrust(const reply& said) noexcept {
    command_connections_->distrust(said,
                                   {store_errc::protocol, "an answer that the script never gives"});
    blocking_connections_->distrust(said);
}

std::unique_ptr<hearing> server_connections::hear(channel_name name, alarm& wake, linger how,
                                                  bool late) {
    return subscriber_->hear(std::move(name), wake, how, late);
}

bool server_connections::hears(const channel_name& name) const {
    return subscriber_->hears(name);
}

server_identity server_connections::identity() const {
    return command_connections_->identity();
}

void server_connections::close() noexcept {
    liveness_->close();
    command_connections_->close();
    blocking_connections_->close();
    subscriber_->close();
}

asio::awaitable<reply> server_connections::command(std::span<const std::string_view> words) {
    const call_options usual{};
    co_return co_await command_connections_->pick(usual).ask(plain_command, words, {}, usual);
}

bool server_connections::connected() const {
    return command_connections_->connected();
}

void server_connections::retire(const std::string& why) {
    liveness_->close();
    command_connections_->retire(why);
    blocking_connections_->move({errc::outcome_unknown, why});
    blocking_connections_->close();
    subscriber_->close();
}

void server_connections::move(const net::failure& why) {
    command_connections_->move(why);
    blocking_connections_->move(why);
    subscriber_->move(why);
}

/// Returns the function for `node_context::leave_server`. The context owns this function, and
/// connections may call it even after this object is destroyed.
std::function<void(const net::failure&)> server_connections::leaving() {
    return [&known = *context_, shared = std::weak_ptr{command_connections_},
            own = std::weak_ptr{blocking_connections_},
            listening = std::weak_ptr{subscriber_}](const net::failure& why) {
        if (known.in_trouble)
            known.in_trouble();
        if (const auto all = shared.lock())
            all->cut(why);
        if (const auto all = own.lock())
            all->cut(why);
        if (const auto one = listening.lock())
            one->cut(why);
    };
}

runtime::inline_call* server_connections::inline_call_here() const noexcept {
    return monitor_ ? runtime::inline_call::here(*monitor_) : nullptr;
}

namespace {

/// Maximum number of consecutive lookups of the server's name that do not return the server's
/// address. Then the client leaves the server; see `fixed_address`.
constexpr int checks_of_a_name = 3;

} // namespace

same_server_guard::same_server_guard(std::shared_ptr<node_context> context,
                                     std::shared_ptr<command_connections> shared,
                                     std::shared_ptr<blocking_connections> own,
                                     std::shared_ptr<subscriber> listening)
    : context_{std::move(context)}
    , command_connections_{std::move(shared)}
    , blocking_connections_{std::move(own)}
    , subscriber_{std::move(listening)}
    , pause_{std::min(context_->how.address_check, heeded_again_max / checks_of_a_name) *
             checks_of_a_name} {}

void same_server_guard::on_shared_connection(const server_in_use& now) {
    const net::failure why{errc::outcome_unknown,
                           context_->address() + " may be another server now, so the client closes "
                                                 "its connections to the earlier server"};
    command_connections_->follow(now, why);
    blocking_connections_->follow(now, why);
    subscriber_->follow(now, why);
}

void same_server_guard::on_other_connection(const server_hello& told) {
    const std::string shared = command_connections_->identity().id;
    if (told.run_id.empty() || shared.empty() || told.run_id == shared ||
        !command_connections_->connected())
        return;
    const time_point now = context_->home.time.now();
    if (pause_ == duration::zero() || now < heeds_from_)
        return;
    heeds_from_ = net::later(now, pause_);
    pause_ = std::min(pause_ * 2, heeded_again_max);
    context_->leave_server({errc::unreachable, "a new connection to " + context_->address() +
                                                   " leads to another server"});
}

liveness::liveness(std::shared_ptr<node_context> context,
                   std::shared_ptr<command_connections> shared,
                   std::shared_ptr<blocking_connections> own, std::shared_ptr<subscriber> listening)
    : context_{std::move(context)}
    , command_connections_{std::move(shared)}
    , blocking_connections_{std::move(own)}
    , subscriber_{std::move(listening)}
    , timeout_{std::max(std::min(context_->how.connect_timeout, context_->how.command_timeout / 2),
                        duration{1})}
    , grace_{std::max(context_->how.command_timeout / 12, duration{1})}
    , rest_{context_->home.time.make_alarm()} {}

void liveness::look() {
    if (closed_ || !context_->where || context_->home.time.now() < not_before_ ||
        std::exchange(checks_, true))
        return;
    runtime::run_in_background(context_->home, check(shared_from_this()));
}

asio::awaitable<void> liveness::check(self mine) {
    const clock& time = mine->context_->home.time;
    const time_point began = time.now();
    mine->not_before_ = net::later(began, mine->timeout_);
    const bool answers = co_await mine->answers_anew(net::later(began, mine->timeout_));
    if (answers && !mine->closed_) {
        const time_point until = net::later(time.now(), mine->grace_);
        while (!mine->closed_ && time.now() < until)
            co_await mine->rest_->wait_until(until);
        if (!mine->closed_)
            mine->cut_silent(began);
    }
    mine->checks_ = false;
}

asio::awaitable<bool> liveness::answers_anew(time_point limit) {
    const options& how = context_->how;
    const auto line = line_ = std::make_shared<connection>(context_->home, how);
    bool answers = false;
    try {
        std::string words;
        composer{words}.request({"EVAL", "return 1", "0"});
        login as{net::credentials_now({how.user, how.password}, how.credentials)};
        const std::vector<reply> said = co_await inquire(*context_, *line, context_->where,
                                                         std::move(as), std::move(words), 1, limit);
        answers = said.front().type == reply::kind::integer;
    } catch (const std::exception&) {
        line->cut({errc::unreachable, "given up"});
    }
    line_.reset();
    co_return answers;
}

/// Ends each connection that has waited for a reply since the time `since` or longer. If any
/// connection was ended, also tests the others.
void liveness::cut_silent(time_point since) {
    const net::failure why{errc::outcome_unknown,
                           context_->address() +
                               " answers over a new connection, but not over this one"};
    const bool blocking_connections_were = blocking_connections_->cut_silent(since, why);
    const bool subscriber_was = subscriber_->cut_silent(since, why);
    const bool command_connections_were = command_connections_->cut_silent(since, why);
    if (!blocking_connections_were && !subscriber_was && !command_connections_were)
        return;
    blocking_connections_->cut(why); // each connection ends as soon as no call uses it
    subscriber_->ask_if_there();
    command_connections_->ask_if_there();
}

void liveness::close() noexcept {
    if (std::exchange(closed_, true))
        return;
    if (line_)
        line_->cut({errc::closed, "the client is closed"});
    rest_->ring();
}

} // namespace holdfast::redis
