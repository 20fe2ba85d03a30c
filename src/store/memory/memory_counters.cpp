// SPDX-License-Identifier: Apache-2.0
#include "store/memory/memory_counters.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace holdfast::memory {
namespace {

ask in_time(const counter_ask& want) {
    ask same{want.name, want.request, lock_kind::plain};
    same.give_up_at = want.give_up_at;
    return same;
}

void fail_if_refused(const std::string& why) {
    if (!why.empty())
        throw boost::system::system_error{make_error_code(errc::refused), why};
}

/// Returns an attempt with this verdict. Its times, clock and confirmation come from the reply.
template <typename T>
remote::attempt attempt_of(const reply<T>& got, verdict said) {
    remote::attempt outcome;
    outcome.said = said;
    outcome.server_now = got.server_now;
    outcome.sent_at = got.sent_at;
    outcome.received_at = got.received_at;
    outcome.clock = got.clock;
    outcome.unconfirmed = got.unconfirmed;
    return outcome;
}

} // namespace

std::unique_ptr<place> memory_counters::line_up(counter_ask want, alarm& wake) {
    return std::make_unique<counter_place>(link_, context_, std::move(want), wake);
}

asio::awaitable<counter_answer> memory_counters::change(counter_change what) {
    counter_answer outcome;
    const ask nobody{what.name, what.request, lock_kind::plain};
    remote::attempts::sender send = [&](time_point deadline) {
        return change_by(deadline, what, outcome);
    };
    // Makes a single attempt, which may use the store's whole time limit. If the request is late,
    // the server does nothing.
    remote::attempts one{context_, nobody, link_->command_timeout()};
    co_await one.look(std::move(send), duration::zero(), duration::zero());
    co_return outcome;
}

asio::awaitable<remote::attempt> memory_counters::change_by(time_point deadline,
                                                            const counter_change& what,
                                                            counter_answer& outcome) {
    request asked{verb::change, what.name.text};
    asked.changed = &what;
    asked.replicas = what.replicas;
    std::function<change_verdict(server::state&)> execute =
        [what, memory = memory(), over_there = link_->server_clock()->no_later_than(deadline)](
            server::state& server) { return server.change(what, over_there, memory); };
    const auto got = co_await link_->call(asked, std::move(execute));
    if (got.said.other)
        throw_wrong_type(got.said.other, words_for(what.kind));
    fail_if_refused(got.said.refused);
    outcome = got.said.what;
    co_return attempt_of(got, got.said.late ? verdict::late : verdict::granted);
}

asio::awaitable<counter_state> memory_counters::inspect(lock_name name, counter_kind kind) {
    const request asked{verb::inspect, name.text};
    using found = std::pair<const char*, counter_state>;
    std::function<found(server::state&)> execute =
        [name, kind, client = context_.client](server::state& server) {
            return found{server.other_kind(name, kind), server.inspect_counter(name, kind, client)};
        };
    const auto got = co_await link_->call(asked, std::move(execute));
    if (got.said.first)
        throw_wrong_type(got.said.first, words_for(kind));
    co_return got.said.second;
}

asio::awaitable<counter_list> memory_counters::list(counter_kind kind, std::string pattern,
                                                    std::size_t limit) {
    const request asked{verb::inspect, pattern};
    std::function<counter_list(server::state&)> execute =
        [kind, pattern, limit, client = context_.client](server::state& server) {
            return server.list_counters(kind, pattern, limit, client);
        };
    auto got = co_await link_->call(asked, std::move(execute));
    co_return std::move(got.said);
}

counter_place::counter_place(std::shared_ptr<link> way, const store_context& context,
                             counter_ask want, alarm& wake)
    : link_{std::move(way)}
    , context_{context}
    , want_{std::move(want)}
    , in_time_{in_time(want_)}
    , wake_{wake}
    , attempts_{context, in_time_, link_->command_timeout(), is_told()} {}

asio::awaitable<answer> counter_place::look() {
    if (is_told() && attempts_.found_busy() && !ear_)
        listen();
    remote::attempts::sender send = [this](time_point deadline) { return request(deadline); };
    const duration after_the_end{is_told() ? 1 : 0};
    co_return co_await attempts_.look(std::move(send), context_.poll_bound, after_the_end);
}

asio::awaitable<remote::attempt> counter_place::request(time_point deadline) {
    memory::request asked{verb::count, want_.name.text};
    asked.counted = &want_;
    asked.replicas = want_.replicas;
    std::function<count_verdict(server::state&)> execute =
        [want = want_, memory = context_.request_memory,
         over_there = link_->server_clock()->no_later_than(deadline)](server::state& server) {
            return server.count(want, over_there, memory);
        };
    const auto got = co_await link_->call(asked, std::move(execute));
    if (got.said.other)
        throw_wrong_type(got.said.other, words_for(want_.kind));
    fail_if_refused(got.said.refused);
    remote::attempt outcome = attempt_of(got, got.said.said);
    outcome.left = got.said.left;
    if (!is_told()) // the rate may be raised, or permits may be returned, without a notification
        outcome.left = std::min(outcome.left.value_or(duration::max()), context_.poll_bound);
    co_return outcome;
}

void counter_place::listen() {
    auto heard = [this] {
        if (!link_->loses_wake_up())
            wake_.ring();
    };
    ear_ = std::make_unique<ear>(link_, channel_of(want_.name, want_.kind), context_.executor,
                                 heard, want_.amount);
}

asio::awaitable<void> counter_place::leave() {
    ear_.reset();
    if (!must_leave())
        co_return;
    memory::request asked{verb::release, want_.name.text};
    asked.counted = &want_;
    using nothing = bool; // the reply contains no value
    std::function<nothing(server::state&)> execute =
        [want = want_, memory = context_.request_memory](server::state& server) {
            server.give_back(want, memory);
            return true;
        };
    co_await link_->call(asked, std::move(execute));
    attempts_.left();
}

} // namespace holdfast::memory
