// SPDX-License-Identifier: Apache-2.0
#include "compose/rounds.hpp"

#include "sync/lock_handle.hpp"
#include "sync/release.hpp"

#include <algorithm>
#include <string>

namespace holdfast::compose {

asio::awaitable<void> wait_for_answers(sync::acquisition& call, time_point limit,
                                       std::function<bool()> done) {
    while (!call.finished() && !done() && call.home->now() < limit)
        co_await call.wake().wait_until(limit);
}

namespace {

/// Time that a call waits, after its own timeout, for the end of its releases. Usually they end
/// sooner.
constexpr duration farewell{100};

/// Sends a request to each member's hold. Waits until all members have replied, the time `limit` is
/// reached, or the call ends. The handler `told` may run after the end of this wait. The handler
/// always runs, because the `tally`, which combines the replies, has a timeout.
asio::awaitable<sync::failure> ask_parts(sync::acquisition& call, tally::lock_handles parts,
                                         duration timeout, tally::verb what, time_point limit) {
    const auto said = std::make_shared<std::optional<sync::failure>>();
    const std::weak_ptr<sync::acquisition> whose = call.weak_from_this();
    auto told = [said, whose](const sync::failure& why) {
        *said = why;
        const std::shared_ptr<sync::acquisition> waits = whose.lock();
        if (waits)
            waits->ring();
    };
    const std::size_t all = parts.size();
    tally::ask(call.home, parts, all, timeout, std::move(what),
               sync::release_handler{std::move(told)});
    // g++ 12 destroys a temporary lambda twice here, so the lambda is stored in a variable.
    const auto answered = [said] { return said->has_value(); };
    co_await wait_for_answers(call, limit, answered);
    sync::failure why;
    if (*said)
        why = **said;
    co_return why;
}

} // namespace

asio::awaitable<void> let_go(sync::acquisition& call, member_requests& round) {
    const std::shared_ptr<sync::engine> home = call.home;
    tally::lock_handles granted;
    for (std::size_t which = 0; which < round.size(); ++which) {
        round.cancel(which);
        if (!round.granted(which))
            continue;
        granted.push_back(round.answer(which).got.take()->whole());
    }
    round.forget_answers();
    if (granted.empty())
        co_return;
    const duration timeout = home->how().release_timeout;
    const time_point now = home->now();
    const time_point limit = std::max(std::min(sync::later(now, timeout), call.wanted.give_up_at),
                                      sync::later(now, farewell));
    tally::verb let_go = tally::let_go();
    (void)co_await ask_parts(call, std::move(granted), timeout, std::move(let_go), limit);
}

asio::awaitable<void> extend_part(sync::acquisition& call, part& one, duration length) {
    const duration timeout = one.hold()->home->bounds().time_limit;
    tally::lock_handles alone{one.hold()->whole()};
    tally::verb longer = tally::extend(length);
    const sync::failure why =
        co_await ask_parts(call, std::move(alone), timeout, std::move(longer), time_point::max());
    // A lost member's hold is treated like a grant that arrived too late.
    const bool is_lost = why.code == errc::lease_lost;
    if (why.code && !is_lost && !call.finished())
        throw sync::worded_error{why};
}

void tell_acquired(const sync::acquisition& call, sync::lock_handle& held) {
    held.call_number = call.number;
    call.home->tell_of(held, event_kind::acquired, event_cause::none,
                       call.home->now() - call.started_at);
}

time_point answered_by(const sync::engine& home, const member_requests& round, duration timeout) {
    const duration longest = std::max(timeout, duration::zero());
    return sync::later(sync::later(home.now(), longest),
                       2 * round.longest_time_limit() + executor_timeout);
}

sync::failure failure_of(std::size_t which, const std::vector<member>& members,
                         const sync::failure& why) {
    return {why.code, "member " + std::to_string(which + 1) + " (" + members[which]->name.text +
                          "): " + (why.text.empty() ? why.code.message() : why.text)};
}

sync::failure first_failure(const member_requests& round, const std::vector<member>& members) {
    for (std::size_t which = 0; which < round.size(); ++which) {
        if (round.failed(which))
            return failure_of(which, members, round.answer(which).why);
    }
    return {};
}

namespace {

template <typename T>
[[noreturn]] void throw_first(const composite_descriptor& of, const std::vector<reply_of<T>>& all) {
    for (std::size_t which = 0; which < all.size(); ++which)
        if (all[which].why.code) {
            std::string text = "member " + std::to_string(which + 1) + " of " +
                               std::to_string(all.size()) + " (" + of.members[which]->name.text +
                               "): " + all[which].why.text;
            throw sync::worded_error{{all[which].why.code, std::move(text)}};
        }
    throw sync::worded_error{{make_error_code(errc::unreachable), "no member answered"}};
}

template <typename T>
std::size_t failed(const std::vector<reply_of<T>>& all) {
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const auto& each) { return each.why.code; }));
}

/// Returns how many members a caller must hold so that all other callers together can get fewer
/// than `needs` members.
std::size_t blocking(const composite_descriptor& of) {
    return of.members.size() - of.needs + 1;
}

} // namespace

std::optional<holding> as_one(const composite_descriptor& of,
                              std::vector<reply_of<std::optional<holding>>> all) {
    holding found;
    std::vector<duration> lengths;
    for (const auto& each : all) {
        if (!each.value || !*each.value)
            continue;
        const holding& one = **each.value;
        lengths.push_back(one.remaining.value_or(duration::max()));
        found.shared = found.shared || one.shared;
        found.owners.insert(found.owners.end(), one.owners.begin(), one.owners.end());
    }
    if (lengths.size() < blocking(of)) {
        if (lengths.size() + failed(all) >= blocking(of))
            throw_first(of, all);
        return std::nullopt;
    }
    std::sort(lengths.rbegin(), lengths.rend());
    const duration until = lengths[blocking(of) - 1];
    if (until != duration::max())
        found.remaining = until;
    return found;
}

bool is_decided(const composite_descriptor& of,
                const std::vector<reply_of<std::optional<holding>>>& all) {
    const auto is_held = [](const auto& each) { return each.value && *each.value; };
    const auto held = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_held));
    return held >= blocking(of) || held + failed(all) < blocking(of);
}

bool is_decided(const composite_descriptor& of, const std::vector<reply_of<bool>>& all) {
    return failed(all) <= of.members.size() - of.needs;
}

bool any_of(const composite_descriptor& of, const std::vector<reply_of<bool>>& all) {
    const bool some =
        std::any_of(all.begin(), all.end(), [](const auto& each) { return each.value == true; });
    if (failed(all) > of.members.size() - of.needs)
        throw_first(of, all);
    return some;
}

tally::tally(std::shared_ptr<sync::engine> home, std::size_t asked, std::size_t needs,
             sync::release_handler done)
    : home_{std::move(home)}
    , busy_{std::in_place, *home_}
    , asked_{asked}
    , needs_{needs}
    , done_{std::move(done)} {}

tally::verb tally::let_go() {
    return [](sync::lock_handle& one, sync::release_handler told) {
        one.release(std::move(told), one.home->executor());
    };
}

tally::verb tally::extend(duration length) {
    return [length](sync::lock_handle& one, sync::release_handler told) {
        one.extend(length, std::move(told));
    };
}

void tally::ask(const std::shared_ptr<sync::engine>& home, const lock_handles& parts,
                std::size_t needs, duration timeout, verb what, sync::release_handler done) {
    const auto all = std::make_shared<tally>(home, parts.size(), needs, std::move(done));
    for (const std::shared_ptr<sync::lock_handle>& each : parts)
        all->send(each, what);
    const auto is_far = [&home](const std::shared_ptr<sync::lock_handle>& each) {
        return !each->home->executor_access().leads_where(home->executor_access());
    };
    if (all->done_ && std::any_of(parts.begin(), parts.end(), is_far))
        home->spawn(expire(all, timeout));
}

void tally::send(const std::shared_ptr<sync::lock_handle>& to, const verb& what) {
    const std::shared_ptr<sync::engine>& there = to->home;
    if (there->executor_access().leads_where(home_->executor_access())) {
        auto told = [self = shared_from_this()](const sync::failure& why) { self->answered(why); };
        return what(*to, sync::release_handler{std::move(told)});
    }
    auto told = [self = shared_from_this()](const sync::failure& why) mutable {
        const std::shared_ptr<sync::engine> whose = self->home_;
        (void)whose->executor_access().post([self = std::move(self), why] { self->answered(why); });
    };
    auto begin = [to, what, told = sync::release_handler{std::move(told)}]() mutable {
        what(*to, std::move(told));
    };
    if (!there->executor_access().post(std::move(begin)))
        answered({make_error_code(errc::closed), "the client of a member is closed"});
}

void tally::answered(const sync::failure& why) {
    ++answered_;
    if (!why.code)
        ++well_;
    else if (why.code == errc::lease_lost)
        ++lost_;
    else if (!worst_.code)
        worst_ = why;
    if (done_ && (well_ >= needs_ || answered_ == asked_))
        finish();
}

/// Returns success, `lease_lost` if too few members' holds were still valid, or another failure.
sync::failure tally::verdict() const {
    if (well_ >= needs_)
        return {};
    if (lost_ + needs_ > asked_)
        return {make_error_code(errc::lease_lost), "a part of the hold was lost"};
    if (answered_ < asked_ && !worst_.code)
        return {make_error_code(errc::outcome_unknown), "not all members answered"};
    return worst_;
}

void tally::finish() {
    sync::release_handler done = std::move(done_);
    done_ = {};
    if (wake_)
        wake_->ring();
    sync::tell(*home_, std::move(done), verdict());
    busy_.reset(); // not in the destructor, because another thread may handle the last reply
}

asio::awaitable<void> tally::expire(std::shared_ptr<tally> all, duration timeout) {
    sync::engine& home = *all->home_;
    all->wake_ = home.time().make_alarm();
    const time_point limit = sync::later(sync::later(home.now(), timeout), executor_timeout);
    while (all->done_ && home.now() < limit && !home.stopped())
        co_await home.nap(*all->wake_, limit);
    all->wake_.reset();
    if (all->done_)
        all->finish();
}

} // namespace holdfast::compose
