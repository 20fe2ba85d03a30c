// SPDX-License-Identifier: Apache-2.0
#include "compose/rounds.hpp"

#include "compose/ask_members.hpp"
#include "compose/tally.hpp"
#include "sync/worded_error.hpp"

#include <algorithm>

namespace holdfast::compose {

asio::awaitable<void> wait_for_answers(sync::acquisition& call, time_point limit,
                                       std::function<bool()> done) {
    while (!call.finished() && !done() && call.home->now() < limit)
        co_await call.wake().wait_until(limit);
}

namespace {

/// Time that a call waits for its releases after its timeout. Usually they end sooner.
constexpr duration farewell{100};

/// Sends a request to all parts. Waits until all have replied, the limit is reached or the call
/// ends. The handler may run after this wait, but it always runs, because the tally has a timeout.
asio::awaitable<sync::failure> ask_parts(sync::acquisition& call, tally::tenures parts,
                                         duration patience, tally::verb what, time_point limit) {
    const auto said = std::make_shared<std::optional<sync::failure>>();
    const std::weak_ptr<sync::acquisition> whose = call.weak_from_this();
    auto told = [said, whose](const sync::failure& why) {
        *said = why;
        const std::shared_ptr<sync::acquisition> waits = whose.lock();
        if (waits)
            waits->ring();
    };
    const std::size_t all = parts.size();
    tally::ask(call.home, parts, all, patience, std::move(what),
               sync::release_handler{std::move(told)});
    // A named variable is needed, because g++ 12 destroys a temporary twice here.
    const auto answered = [said] { return said->has_value(); };
    co_await wait_for_answers(call, limit, answered);
    sync::failure why;
    if (*said)
        why = **said;
    co_return why;
}

} // namespace

asio::awaitable<void> let_go(sync::acquisition& call, inquiry& round) {
    const std::shared_ptr<sync::engine> home = call.home;
    tally::tenures granted;
    for (std::size_t which = 0; which < round.size(); ++which) {
        round.cancel(which);
        if (!round.granted(which))
            continue;
        granted.push_back(round.answer(which).got.take()->whole());
    }
    round.forget_answers();
    if (granted.empty())
        co_return;
    const duration patience = home->how().release_patience;
    const time_point now = home->now();
    const time_point limit = std::max(std::min(sync::later(now, patience), call.wanted.give_up_at),
                                      sync::later(now, farewell));
    tally::verb let_go = tally::let_go();
    (void)co_await ask_parts(call, std::move(granted), patience, std::move(let_go), limit);
}

asio::awaitable<void> extend_part(sync::acquisition& call, part& one, duration length) {
    const duration patience = one.hold()->home->bounds().time_limit;
    tally::tenures alone{one.hold()->whole()};
    tally::verb longer = tally::extend(length);
    const sync::failure why =
        co_await ask_parts(call, std::move(alone), patience, std::move(longer), time_point::max());
    const bool is_lost = why.code == errc::lease_lost; // handled like a grant that arrived too late
    if (why.code && !is_lost && !call.finished())
        throw sync::worded_error{why};
}

void tell_acquired(const sync::acquisition& call, const sync::tenure& held) {
    call.home->tell_of(held, event_kind::acquired, event_cause::none,
                       call.home->now() - call.started_at);
}

time_point answered_by(const sync::engine& home, const inquiry& round, duration patience) {
    const duration longest = std::max(patience, duration::zero());
    return sync::later(sync::later(home.now(), longest),
                       2 * round.longest_time_limit() + executor_patience);
}

sync::failure first_failure(const inquiry& round, const std::vector<member>& members) {
    for (std::size_t which = 0; which < round.size(); ++which) {
        if (!round.failed(which))
            continue;
        const sync::failure& why = round.answer(which).why;
        return {why.code, "member " + std::to_string(which + 1) + " (" + members[which]->name.text +
                              "): " + (why.text.empty() ? why.code.message() : why.text)};
    }
    return {};
}

} // namespace holdfast::compose
