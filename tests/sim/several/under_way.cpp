// SPDX-License-Identifier: Apache-2.0
#include "sim/several/under_way.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast::sim::several {
namespace {

subject whom(const deal& d) {
    return {.client = d.program,
            .actor = d.actor,
            .name = d.of.empty() ? -1 : d.of.front().name,
            .server = d.of.size() == 1 ? d.of.front().server : -1};
}

const char* in_words(way how) {
    switch (how) {
    case way::single:
        return "  of one";
    case way::all:
        return "  of all of {}";
    case way::any:
        return "  of any of {}";
    default:
        return "  of a majority of {}";
    }
}

void describe(realm& r, const deal& d) {
    r.log.note(whom(d), spelled(d.what));
    r.log.note(whom(d), in_words(d.how), static_cast<std::int64_t>(d.of.size()));
    if (d.how != way::majority)
        for (const spot each : d.of)
            r.log.note(
                {.client = d.program, .actor = d.actor, .name = each.name, .server = each.server},
                "    this one");
    if (d.what == deed::try_lock_for)
        r.log.note(whom(d), "  for up to {} ms", d.timeout);
}

asio::awaitable<void> call_later(realm& r, duration after, std::function<void()> act) {
    co_await r.sleep(after);
    act();
}

} // namespace

std::vector<int> generations_of(const realm& r, int program) {
    std::vector<int> all;
    for (int server = 0; server < r.servers(); ++server)
        all.push_back(r.at(program, server).of_client);
    return all;
}

deal deal_about(const claim& c, deed what) {
    deal d{.what = what, .how = c.how, .program = c.program, .actor = c.actor, .of = c.of};
    d.generations = c.generations;
    return d;
}

under_way::under_way(realm& r, deal d, cancellation plot)
    : realm_{r}
    , what_{[&] {
        d.started_at = r.clock.now();
        return std::move(d);
    }()}
    , id_{r.books.begin(what_)} {
    describe(r, what_);
    const auto pull = [&r, id = id_, signal = signal_, type = plot.type] {
        if (!r.books.under_way().contains(id))
            return;
        deal& call = r.books.at(id);
        r.log.note(whom(call), "is cancelled");
        call.cancelled_at = r.clock.now();
        signal->emit(type);
    };
    if (plot.after_steps)
        r.after_steps(*plot.after_steps, pull);
    if (plot.after)
        r.play(call_later(r, *plot.after, pull));
}

under_way::~under_way() {
    if (!ended_)
        realm_.checks().dropped(realm_.books.end(id_));
}

outcome under_way::ended(const error_code& ec, bool got) {
    outcome how = meaning_of(ec);
    if (how == outcome::done && !got)
        how = outcome::nothing;
    ended_ = true;
    const deal was = realm_.books.end(id_);
    realm_.log.note(whom(was), spelled(how));
    realm_.checks().completed(was, how);
    return how;
}

hands::hands(realm& r, const deal& d, lease held, duration longest)
    : realm_{r}
    , claim_{std::make_unique<claim>(d, std::move(held), longest)} {
    claim& c = *claim_;
    r.checks().granted(c);
    c.on_lost.emplace(c.held.lost(), [&c, &r] {
        c.told_lost = true;
        r.log.note({.client = c.program, .actor = c.actor, .name = c.of.front().name},
                   "hears that it has lost the lock");
        r.checks().lost(c);
    });
    r.books.add(c);
}

hands::~hands() {
    if (claim_)
        strike_out();
}

lease hands::take_out() {
    lease out = std::move(claim_->held);
    strike_out();
    return out;
}

void hands::strike_out() {
    claim_->on_lost.reset();
    realm_.books.remove(*claim_);
    claim_.reset();
}

asio::awaitable<std::unique_ptr<hands>> acquire(realm& r, deal d, basic_mutex& m,
                                                std::optional<duration> fixed, cancellation plot) {
    under_way call{r, d, plot};
    const lease_time length{fixed.value_or(duration{1})};
    error_code why;
    std::optional<lease> got;
    if (d.what == deed::lock) {
        auto begun = fixed ? m.async_lock(length, call.token()) : m.async_lock(call.token());
        std::tuple<error_code, lease> answer = co_await std::move(begun);
        why = std::get<0>(answer);
        if (!why)
            got = std::move(std::get<1>(answer));
    } else {
        const duration timeout = d.what == deed::try_lock ? duration{0} : d.timeout;
        auto begun = fixed ? m.async_try_lock_for(timeout, length, call.token())
                           : m.async_try_lock_for(timeout, call.token());
        std::tuple<error_code, std::optional<lease>> answer = co_await std::move(begun);
        why = std::get<0>(answer);
        got = std::move(std::get<1>(answer));
    }
    const bool granted = !why && got;
    if (call.ended(why, granted) != outcome::done)
        co_return nullptr;
    co_return std::make_unique<hands>(r, d, std::move(*got), fixed.value_or(d.lease));
}

asio::awaitable<std::unique_ptr<hands>> acquire_any(realm& r, deal d, multi_mutex& m,
                                                    cancellation plot) {
    under_way call{r, d, plot};
    auto begun = m.async_try_lock_any_for(d.timeout, call.token());
    std::tuple<error_code, std::optional<lease>> answer = co_await std::move(begun);
    const bool granted = !std::get<0>(answer) && std::get<1>(answer);
    if (call.ended(std::get<0>(answer), granted) != outcome::done)
        co_return nullptr;
    lease got = std::move(*std::get<1>(answer));
    const terminal* const home = r.home_of(got.owner());
    d.of = {spot{home->server, world::number_of(got.name())}};
    co_return std::make_unique<hands>(r, d, std::move(got), d.lease);
}

asio::awaitable<outcome> release(realm& r, hands& held, cancellation plot) {
    const claim& c = held.what();
    const bool was_lost = !c.held.owns_lock();
    const deal d = deal_about(c, deed::unlock);
    const bool is_closing = r.is_closed(c);
    under_way call{r, d, plot};
    lease out = held.take_out();
    const std::tuple<error_code> answer = co_await out.async_unlock(call.token());
    const outcome how = call.ended(std::get<0>(answer));
    if (was_lost && !is_closing && how == outcome::done)
        r.violated("loss is told", d.of.front().name, "a lease that was lost was released well");
    co_return how;
}

asio::awaitable<outcome> extend(realm& r, hands& held, duration length, cancellation plot) {
    claim& c = held.what();
    c.longest = std::max(c.longest, length);
    under_way call{r, deal_about(c, deed::extend), plot};
    const lease_time asked{length};
    auto begun = c.held.async_extend(asked, call.token());
    const std::tuple<error_code> answer = co_await std::move(begun);
    const outcome how = call.ended(std::get<0>(answer));
    co_return how;
}

} // namespace holdfast::sim::several
