// SPDX-License-Identifier: Apache-2.0
#include "sim/counting.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast::sim {
namespace {

using done_or_not = std::tuple<error_code, bool>;

/// Maximum number of attempts. The error `unreachable` means that nothing was carried out, so the
/// call may be repeated.
constexpr int tries_max = 3;

} // namespace

counting::counting(world& w, seat& home, int number, const plan& p, time_point end)
    : visitor{w, home, number, p, end, 0xc0117}
    , leases_{w, home, number, p, end}
    , draws_{w, home, number, p, end} {}

asio::awaitable<void> counting::visit(int name) {
    generation_ = home_.of_program;
    switch (world_.how.counts(name).value()) {
    case counter_kind::permits:
        return leases_.visit(name);
    case counter_kind::rate:
        return draws_.visit(name);
    case counter_kind::latch:
        return visit_latch(name);
    case counter_kind::semaphore:
        break;
    }
    return visit_semaphore(name);
}

asio::awaitable<void> counting::visit_semaphore(int name) {
    const semaphore built = build<counting_semaphore>(name);
    const habits& of = plan_.people;
    const bool is_new = known_.insert(name).second;
    if (is_new || dice_.percent(of.sets)) {
        const bool passes = dice_.percent(of.sets);
        const duration kept = passes ? dice_.between(duration{1}, of.timeout) : duration{};
        co_await set(**built, deed_on(name, deed::set_permits, draw_amount()), kept);
    }
    if (dice_.percent(of.asks))
        co_await erase_or_ask(**built, name);
    if (dice_.percent(of.drains))
        co_await drain(built, name);
    else if (dice_.percent(of.adds))
        co_await add(**built, deed_on(name, deed::add_permits, draw_addition()));
    else
        co_await take_and_release(built, name);
    co_await nap_if_closed();
}

asio::awaitable<void> counting::take_and_release(semaphore built, int name) {
    const std::int64_t amount = draw_amount();
    const operation wish = patiently(deed_on(name, deed::acquire, amount));
    const cancellation plot = draw_cancellation();
    throw_away_perhaps(built);
    const outcome got = co_await acquire(**built, wish, plot);
    if (got != outcome::done)
        co_return;
    co_await nap(dice_.between(duration{0}, plan_.people.holds));
    const std::int64_t first = dice_.percent(30) ? dice_.between(0, static_cast<int>(amount)) : 0;
    if (first > 0)
        co_await give(built, name, first, false);
    if (first < amount)
        co_await give(built, name, amount - first, dice_.percent(20));
}

asio::awaitable<void> counting::drain(semaphore built, int name) {
    std::int64_t got = 0;
    {
        ongoing call{world_, deed_on(name, deed::drain)};
        const std::tuple<error_code, std::int64_t> answer =
            co_await (*built)->async_drain_permits(call.token());
        if (call.ended_with(std::get<0>(answer), std::get<1>(answer)) == outcome::done)
            got = std::get<1>(answer);
    }
    co_await nap(dice_.between(duration{0}, plan_.people.holds));
    if (got != 0)
        co_await give(built, name, got, false);
}

/// Releases permits. Repeats a call that certainly had no effect, because the number of permits
/// would otherwise fall forever.
asio::awaitable<void> counting::give(semaphore built, int name, std::int64_t amount,
                                     bool if_there) {
    if (!*built && generation_ == home_.of_program)
        built = build<counting_semaphore>(name);
    if (!*built)
        co_return; // the permits belonged to an earlier program
    const operation what =
        deed_on(name, amount < 0 ? deed::add_permits : deed::release_permits, amount);
    for (int tries = 0; tries < tries_max; ++tries) {
        outcome how{};
        if (amount < 0)
            how = co_await add(**built, what);
        else
            how = co_await release(**built, what, if_there);
        if (how != outcome::unreachable || what.generation != home_.generation)
            co_return;
    }
}

asio::awaitable<void> counting::visit_latch(int name) {
    const gateway built = build<latch>(name);
    const habits& of = plan_.people;
    if (dice_.percent(of.asks))
        co_await erase_or_ask(**built, name);
    const int what = dice_.between(0, 99);
    if (known_.insert(name).second || what < 15)
        co_await set(**built, deed_on(name, deed::set_count, draw_amount()));
    else if (what < 45)
        co_await count_down(**built, deed_on(name, deed::count_down, dice_.between(1, 2)));
    else if (what < 60 && // call arrive_and_wait
             co_await count_down(**built, deed_on(name, deed::count_down, 1)) == outcome::done)
        co_await wait(built, name);
    else
        co_await wait(built, name);
    co_await nap_if_closed();
}

asio::awaitable<void> counting::wait(gateway built, int name) {
    const operation wish = patiently(deed_on(name, deed::wait));
    const cancellation plot = draw_cancellation();
    throw_away_perhaps(built);
    const outcome got = co_await wait(**built, wish, plot);
    // set the count for the next round
    if (got == outcome::done && *built && dice_.percent(plan_.people.sets))
        co_await set(**built, deed_on(name, deed::set_count, draw_amount()));
}

asio::awaitable<void> counting::take_once(int name, duration bound) {
    if (world_.how.counts(name) == counter_kind::permits)
        co_return co_await leases_.take_once(name, bound);
    if (world_.how.counts(name) == counter_kind::rate)
        co_return co_await draws_.take_once(name, bound);
    generation_ = home_.of_program;
    outcome how{};
    if (world_.how.counts(name) == counter_kind::latch) {
        latch it{*home_.program, world::name_of(name)};
        const outcome closed = co_await set(it, deed_on(name, deed::set_count, 1));
        const outcome counted = co_await count_down(it, deed_on(name, deed::count_down, 1));
        operation wish = deed_on(name, deed::wait);
        wish.timeout = bound;
        how = co_await wait(it, wish);
        how = std::max({how, closed, counted});
    } else {
        counting_semaphore it{*home_.program, world::name_of(name)};
        operation wish = deed_on(name, deed::acquire, 1);
        wish.timeout = bound;
        how = co_await acquire(it, wish);
        const outcome given = co_await release(it, deed_on(name, deed::release_permits, 1), false);
        how = std::max(how, given);
    }
    if (how != outcome::done)
        world_.violated("liveness", name, "all is well again, and the counter is of no use");
}

// Each of the next functions runs one operation, from its entry in the ledger to its end.

asio::awaitable<outcome> counting::acquire(counting_semaphore& at, operation what,
                                           cancellation plot) {
    ongoing call{world_, what, plot};
    if (what.timeout == duration::max()) {
        const std::tuple<error_code> answer = co_await at.async_acquire(what.amount, call.token());
        co_return call.ended(std::get<0>(answer));
    }
    const done_or_not answer =
        co_await at.async_try_acquire_for(what.timeout, what.amount, call.token());
    co_return call.ended(std::get<0>(answer), std::get<1>(answer));
}

asio::awaitable<outcome> counting::wait(latch& at, operation what, cancellation plot) {
    ongoing call{world_, what, plot};
    if (what.timeout == duration::max()) {
        const std::tuple<error_code> answer = co_await at.async_wait(call.token());
        co_return call.ended(std::get<0>(answer));
    }
    const done_or_not answer = co_await at.async_wait_for(what.timeout, call.token());
    co_return call.ended(std::get<0>(answer), std::get<1>(answer));
}

asio::awaitable<outcome> counting::release(counting_semaphore& at, operation what, bool if_there) {
    ongoing call{world_, what};
    if (!if_there) {
        const std::tuple<error_code> answer = co_await at.async_release(what.amount, call.token());
        co_return call.ended(std::get<0>(answer));
    }
    const done_or_not answer = co_await at.async_release_if_exists(what.amount, call.token());
    const auto& [failed, was_there] = answer;
    const bool did_nothing = !failed && !was_there;
    co_return call.ended_with(failed, did_nothing ? 0 : what.amount);
}

asio::awaitable<outcome> counting::add(counting_semaphore& at, operation what) {
    ongoing call{world_, what};
    const std::tuple<error_code> answer = co_await at.async_add_permits(what.amount, call.token());
    co_return call.ended(std::get<0>(answer));
}

asio::awaitable<outcome> counting::set(counting_semaphore& at, operation what, duration kept) {
    ongoing call{world_, what};
    done_or_not answer;
    if (kept > duration{})
        answer = co_await at.async_try_set_permits(what.amount, kept, call.token());
    else
        answer = co_await at.async_try_set_permits(what.amount, call.token());
    co_return call.ended(std::get<0>(answer));
}

asio::awaitable<outcome> counting::set(latch& at, operation what) {
    ongoing call{world_, what};
    const done_or_not answer = co_await at.async_try_set_count(what.amount, call.token());
    co_return call.ended(std::get<0>(answer));
}

asio::awaitable<outcome> counting::count_down(latch& at, operation what) {
    ongoing call{world_, what};
    const std::tuple<error_code> answer = co_await at.async_count_down(what.amount, call.token());
    co_return call.ended(std::get<0>(answer));
}

template <typename Counter>
asio::awaitable<void> counting::erase_or_ask(Counter& at, int name) {
    if (dice_.percent(30)) {
        ongoing call{world_, deed_on(name, deed::erase)};
        const done_or_not answer = co_await at.async_erase(call.token());
        call.ended(std::get<0>(answer));
        co_return;
    }
    ongoing call{world_, deed_on(name, deed::value)};
    std::tuple<error_code, std::int64_t> answer;
    if constexpr (std::is_same_v<Counter, latch>)
        answer = co_await at.async_count(call.token());
    else
        answer = co_await at.async_available_permits(call.token());
    call.ended(std::get<0>(answer));
}

} // namespace holdfast::sim
