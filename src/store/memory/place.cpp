// SPDX-License-Identifier: Apache-2.0
// How one client waits for one lock: it asks; it subscribes and asks again; it sleeps; it asks.
#include "store/memory/place.hpp"

#include "store/remote/attempts.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {
namespace {

/// Margin after the holder's lease, in ms. A request at the exact end of the lease may come too
/// early, and would be repeated in a tight loop.
constexpr duration after_the_end{1};

} // namespace

lock_place::lock_place(std::shared_ptr<link> way, const store_context& context,
                       std::shared_ptr<orphans> left_behind, ask want, alarm& wake)
    : link_{std::move(way)}
    , context_{context}
    , orphans_{std::move(left_behind)}
    , want_{std::move(want)}
    , wake_{wake}
    , is_told_{want_.kind != lock_kind::spin}
    , attempts_{context, want_, link_->command_timeout(), is_told_} {}

asio::awaitable<answer> lock_place::look() {
    if (attempts_.found_busy() && is_told_ && !ear_)
        listen();
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    co_return co_await attempts_.look(
        std::move(send), remote::poll_bound_of(want_, context_.poll_bound), after_the_end);
}

asio::awaitable<remote::attempt> lock_place::request(time_point deadline) {
    remote::set_terms_of_mark(want_, context_.poll_bound, round_trip_);
    const hold& who = want_;
    memory::request asked{verb::look, who.name.text, {&who, 1}, want_.lease_time};
    asked.replicas = want_.replicas;
    std::function<verdict_on_look(server::state&)> execute =
        [want = want_, over_there = link_->server_clock()->no_later_than(deadline)](
            server::state& server) { return server.look(want, over_there); };
    const auto got = co_await link_->call(asked, std::move(execute));
    round_trip_ = got.received_at - got.sent_at;
    if (got.said.other)
        throw_wrong_type(got.said.other, words_for(want_.kind));
    remote::attempt outcome;
    outcome.said = got.said.said;
    outcome.left = got.said.left;
    outcome.holder_tells = got.said.holder_tells;
    outcome.token = got.said.token;
    outcome.queued = got.said.queued || remote::may_be_marked(want_, outcome.said);
    outcome.joined_now = got.said.joined_now;
    outcome.server_now = got.server_now;
    outcome.sent_at = got.sent_at;
    outcome.received_at = got.received_at;
    outcome.clock = got.clock;
    outcome.unconfirmed = got.unconfirmed;
    co_return outcome;
}

void lock_place::listen() {
    auto heard = [this] {
        if (!link_->loses_wake_up())
            wake_.ring();
    };
    ear_ = std::make_unique<ear>(link_, channel_of(want_), context_.executor, heard,
                                 want_.kind == lock_kind::permit ? want_.permits : 0);
}

asio::awaitable<void> lock_place::leave() {
    ear_.reset();
    if (!attempts_.must_leave())
        co_return;
    hold who = want_;
    (void)co_await release_or_keep(link_, orphans_, std::move(who));
    attempts_.left();
}

} // namespace holdfast::memory
