// SPDX-License-Identifier: Apache-2.0
#include "redis/member.hpp"

#include "redis/ear/ear.hpp"
#include "redis/lanes/lanes.hpp"
#include "redis/liveness.hpp"
#include "redis/mouth/mouths.hpp"
#include "redis/together.hpp"
#include "redis/while_alive.hpp"

#include <boost/asio/deferred.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::redis {

/// Borrowed connection (`lane`). The destructor returns the lane to the pool. The object is empty
/// if no lane was free.
class member::loan : public lanes::loan {
public:
    using lanes::loan::loan;
};

member::member(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , entrance_{runtime::monitor::of(context_->home.executor)}
    , mouths_{std::make_shared<mouths>(context_)}
    , lanes_{std::make_shared<lanes>(context_)}
    , ear_{std::make_shared<ear>(context_)}
    , together_{std::make_shared<together>(context_, mouths_, lanes_, ear_)}
    , liveness_{std::make_shared<liveness>(context_, mouths_, lanes_, ear_)} {
    if (entrance_)
        entrance_->welcome(context_->how.lanes_max);
    if (!context_->leave_server)
        context_->leave_server = leaving();
    context_->shared_met = while_alive(together_, &together::shared_met);
    context_->other_met = while_alive(together_, &together::other_met);
    context_->overdue = while_alive(liveness_, &liveness::look);
}

namespace {

/// Limits the time for WAIT to `replica_timeout`, and to half of the time until `answer_by`. The
/// other half is left for the reply, which reports how many replicas have confirmed.
void bound_wait(call_wishes& wishes, duration replica_timeout, time_point now) {
    wishes.replicas_within = std::min(wishes.replicas_within, replica_timeout);
    if (wishes.answer_by != time_point::max())
        wishes.replicas_within =
            std::clamp((wishes.answer_by - now) / 2, duration{1}, wishes.replicas_within);
}

} // namespace

asio::awaitable<reply> member::call(const script& what, std::span<const std::string_view> keys,
                                    std::span<const argument> arguments, call_wishes wishes) {
    if (wishes.replicas > 0)
        bound_wait(wishes, context_->how.replica_timeout, context_->home.time.now());
    const runtime::monitor::load under_way{entrance_};
    runtime::visit* const caller = visitor_here();
    if (caller && !wishes.asking) {
        mouths_->stay_connected(); // lanes do not notice the server's loss
        std::optional<loan> mine{std::in_place, *lanes_};
        request asked{what, keys, arguments, wishes};
        if (*mine && (caller->waits() || !(*mine)->may_owe_more()))
            co_return (*mine)->ask(*caller, asked);
        if (*mine) {
            co_await send_off(*caller, mine, asked);
            if (!asked.with_text)
                co_return asked.take_answer();
        }
    }
    co_return co_await mouths_->pick(wishes).ask(what, keys, arguments, wishes);
}

/// Sends the request over the lane and waits for the reply. Other calls can use the lane as soon as
/// the request is written.
asio::awaitable<void> member::send_off(runtime::visit& caller, std::optional<loan>& mine,
                                       request& asked) {
    auto begin = [&](auto handler) {
        request::waiter{std::move(handler)}.swap(asked.resume);
        (*mine)->send_off(caller, asked);
        mine.reset();
        lanes_->collect_soon();
    };
    co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
}

void member::distrust(const reply& said) noexcept {
    mouths_->distrust(said, {store_errc::protocol, "an answer that its script does not give"});
    lanes_->distrust(said);
}

std::unique_ptr<hearing> member::hear(channel_name name, alarm& wake, linger how, bool late) {
    return ear_->hear(std::move(name), wake, how, late);
}

bool member::hears(const channel_name& name) const {
    return ear_->hears(name);
}

server_identity member::identity() const {
    return mouths_->identity();
}

void member::close() noexcept {
    liveness_->close();
    mouths_->close();
    lanes_->close();
    ear_->close();
}

asio::awaitable<reply> member::command(std::span<const std::string_view> words) {
    const call_wishes usual{};
    co_return co_await mouths_->pick(usual).ask(plain_command, words, {}, usual);
}

bool member::connected() const {
    return mouths_->connected();
}

void member::retire(const std::string& why) {
    liveness_->close();
    mouths_->retire(why);
    lanes_->move({errc::outcome_unknown, why});
    lanes_->close();
    ear_->close();
}

void member::move(const net::failure& why) {
    mouths_->move(why);
    lanes_->move(why);
    ear_->move(why);
}

/// Returns the function for `node_context::leave_server`. All connections may call the function,
/// even after this object is destroyed. The context owns the function.
std::function<void(const net::failure&)> member::leaving() {
    return [&known = *context_, shared = std::weak_ptr{mouths_}, own = std::weak_ptr{lanes_},
            listening = std::weak_ptr{ear_}](const net::failure& why) {
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

runtime::visit* member::visitor_here() const noexcept {
    return entrance_ ? runtime::visit::here(*entrance_) : nullptr;
}

} // namespace holdfast::redis
