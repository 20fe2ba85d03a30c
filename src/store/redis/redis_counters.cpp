// SPDX-License-Identifier: Apache-2.0
#include "store/redis/redis_counters.hpp"

#include "store/redis/confirmation.hpp"
#include "store/redis/counter_place.hpp"
#include "store/redis/counter_requests.hpp"
#include "store/redis/name_finder.hpp"
#include "store/redis/names.hpp"
#include "store/redis/permit_requests.hpp"
#include "store/redis/rate_place.hpp"
#include "store/redis/rate_requests.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <utility>

namespace holdfast::redis {

std::optional<std::string> redis_counters::objection_to(const lock_name& name, counter_kind) const {
    return objection_to_name(name, limits{}.name_bytes_max);
}

std::unique_ptr<place> redis_counters::line_up(counter_ask want, alarm& wake) {
    if (want.kind == counter_kind::rate)
        return std::make_unique<rate_place>(server_, context_, denials_, std::move(want));
    return std::make_unique<counter_place>(server_, context_, denials_, slots_, std::move(want),
                                           wake);
}

asio::awaitable<counter_answer> redis_counters::change(counter_change what) {
    const time_point deadline = context_.time.now() + server_.command_timeout();
    const request_slot where = co_await slots_.take(what.name, what.request.number, deadline);
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
        denials_.note(nobody, got.seen);
        if (got.seen.said == remote::verdict::granted)
            require_confirmed(got.seen, what.replicas);
        co_return got.seen;
    };
    // Send the request like a waiter's first request, which may use the store's whole time limit.
    // If the request is late, the server does nothing.
    remote::attempts one{context_, nobody, server_.command_timeout()};
    co_await one.look(std::move(send), duration::zero(), duration::zero());
    denials_.note(
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
            if (one.state.exists) // otherwise the counter was deleted meanwhile
                all.counters.push_back(std::move(one));
        } catch (const boost::system::system_error& e) {
            if (e.code() != store_errc::wrong_type) // wrong_type: the name has another kind now
                throw;
        }
    }
    co_return all;
}

} // namespace holdfast::redis
