// SPDX-License-Identifier: Apache-2.0
#include "sim/counting.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

namespace holdfast::sim {

visitor::visitor(world& w, seat& home, int number, const plan& p, time_point end, int salt)
    : world_{w}
    , home_{home}
    , number_{number}
    , plan_{p}
    , end_{end}
    , dice_{p.seed ^ static_cast<std::uint64_t>(salt * (1 + home.number * 64 + number))} {}

operation visitor::deed_on(int name, deed what, std::int64_t amount) const {
    operation o{.what = what, .who = {home_.number, number_, name}};
    o.generation = generation_;
    o.amount = amount;
    return o;
}

operation visitor::patiently(operation what) {
    const habits& of = plan_.people;
    if (dice_.percent(of.impatient))
        what.timeout = duration::zero();
    else if (dice_.percent(of.timed))
        what.timeout = dice_.between(duration{1}, of.timeout);
    return what;
}

cancellation visitor::draw_cancellation() {
    cancellation c;
    if (!dice_.percent(plan_.people.cancels))
        return c;
    if (dice_.percent(60))
        c.after_steps = static_cast<std::size_t>(dice_.between(1, 40));
    else
        c.after = dice_.between(duration{1}, plan_.people.timeout);
    using type = asio::cancellation_type;
    c.type = dice_.one_of({type::terminal, type::partial, type::total});
    return c;
}

/// Sleeps for this time, but at most until `end_`.
asio::awaitable<void> visitor::nap(duration d) {
    const duration left = std::max(end_ - world_.clock.now(), duration{0});
    return world_.sleep(std::min(d, left));
}

/// Sleeps if the program was closed, to wait for the start of the next program.
asio::awaitable<void> visitor::nap_if_closed() {
    if (generation_ != home_.generation)
        co_await nap(std::chrono::milliseconds{50});
}

namespace {

using yes_or_no = std::tuple<error_code, bool>;

} // namespace

leasing::leasing(world& w, seat& home, int number, const plan& p, time_point end)
    : visitor{w, home, number, p, end, 0x1ea5e}
    , of_ids_{p.seed ^ static_cast<std::uint64_t>(0x1d5 * (1 + home.number * 64 + number))} {}

asio::awaitable<void> leasing::visit(int name) {
    generation_ = home_.of_program;
    const habits& of = plan_.people;
    leased_options how;
    if (dice_.percent(of.own_lease))
        how.lease.emplace(draw_lease());
    const semaphore built = build<leased_semaphore>(name, how);
    if (known_.insert(name).second || dice_.percent(of.sets))
        co_await set(**built, name);
    if (dice_.percent(of.asks))
        co_await erase_or_ask(**built, name);
    if (dice_.percent(of.adds))
        co_await change(**built, name);
    else
        co_await take_and_work(built, name, how.lease ? how.lease->value : plan_.how.lease_time);
    co_await nap_if_closed();
}

asio::awaitable<void> leasing::take_and_work(semaphore built, int name, duration usual) {
    const int generation = generation_; // another visit may change `generation_` meanwhile
    const habits& of = plan_.people;
    const operation wish = patiently(deed_on(name, deed::acquire, draw_amount()));
    const cancellation plot = draw_cancellation();
    std::optional<duration> fixed;
    if (dice_.percent(of.fixed))
        fixed = draw_lease();
    throw_away_perhaps(built);
    const std::unique_ptr<grip> held = co_await acquire(**built, wish, fixed, usual, plot);
    if (held)
        co_await work(built, *held, generation, name);
}

asio::awaitable<void> leasing::work(semaphore built, grip& held, int generation, int name) {
    const habits& of = plan_.people;
    const duration longest = dice_.percent(of.outlasts) ? 3 * world_.how.lease_time : of.holds;
    co_await nap(dice_.between(duration{0}, longest));
    if (*built && generation == home_.generation && dice_.percent(2 * of.adds))
        co_await meddle(**built, name);
    co_await nap(dice_.between(duration{0}, of.holds));
    if (of_ids_.percent(30))
        expect_ids_to_end(held.what().held.permit_ids(), name);
    if (!dice_.percent(of.drops))
        co_await release(world_, held, generation);
}

/// Checks some time later that no other holder has a permit with an id in `seen`.
void leasing::expect_ids_to_end(std::vector<std::string> seen, int name) {
    const subject who = deed_on(name, deed::give_back_permit).who;
    const auto look = [&w = world_, seen = std::move(seen), who] {
        for (const claim* c : w.books.believed()) {
            const bool is_another = c->who.client != who.client || c->who.actor != who.actor;
            for (const std::string& id : seen)
                if (is_another && std::ranges::count(c->permits, id) > 0)
                    w.violated("permit ids", who.name,
                               id + " was seen by a user, and another one holds it");
        }
    };
    for (const std::size_t steps : {5U, 50U, 500U})
        world_.after_steps(steps, look);
}

/// Gives back one permit of another holder, which keeps its other permits.
asio::awaitable<void> leasing::meddle(leased_semaphore& at, int name) {
    const std::string id = somebodys_permit(name);
    if (id.empty())
        co_return;
    if (dice_.percent(30)) {
        ongoing call{world_, deed_on(name, deed::set_permit_lease)};
        const lease_time lasts{world_.how.lease_longest};
        const yes_or_no answer = co_await at.async_set_lease(id, lasts, call.token());
        call.ended(std::get<0>(answer));
        co_return;
    }
    ongoing call{world_, deed_on(name, deed::give_back_permit)};
    const yes_or_no answer = co_await at.async_release(id, call.token());
    call.ended(std::get<0>(answer));
}

std::string leasing::somebodys_permit(int name) {
    std::vector<std::string> all;
    for (const claim* c : world_.books.believed())
        if (c->who.name == name)
            all.insert(all.end(), c->permits.begin(), c->permits.end());
    if (all.empty())
        return {};
    return all[static_cast<std::size_t>(dice_.between(0, static_cast<int>(all.size()) - 1))];
}

asio::awaitable<void> leasing::take_once(int name, duration bound) {
    generation_ = home_.of_program;
    leased_semaphore it{*home_.program, world::name_of(name)};
    operation wish = deed_on(name, deed::acquire, 1);
    wish.timeout = bound;
    const duration usual = world_.how.lease_time;
    const std::unique_ptr<grip> held = co_await acquire(it, wish, {}, usual);
    outcome how = outcome::nothing;
    if (held)
        how = co_await release(world_, *held, generation_);
    if (how != outcome::done)
        world_.violated("liveness", name, "all is well again, and no permit can be had and given");
}

// Each of the next functions runs one operation.

asio::awaitable<std::unique_ptr<grip>> leasing::acquire(leased_semaphore& at, operation what,
                                                        std::optional<duration> fixed,
                                                        duration usual, cancellation plot) {
    const auto permits = static_cast<std::uint32_t>(what.amount);
    const lease_time length{fixed.value_or(duration{1})};
    what.lease = fixed.value_or(usual);
    ongoing call{world_, what, plot};
    error_code failed;
    std::optional<lease> got;
    if (what.timeout == duration::max()) {
        std::tuple<error_code, lease> answer;
        if (fixed)
            answer = co_await at.async_acquire(length, permits, call.token());
        else
            answer = co_await at.async_acquire(permits, call.token());
        failed = std::get<0>(answer);
        if (!failed)
            got = std::move(std::get<1>(answer));
    } else {
        std::tuple<error_code, std::optional<lease>> answer;
        if (fixed)
            answer = co_await at.async_try_acquire_for(what.timeout, length, permits, call.token());
        else
            answer = co_await at.async_try_acquire_for(what.timeout, permits, call.token());
        failed = std::get<0>(answer);
        got = std::move(std::get<1>(answer));
    }
    if (call.ended(failed, got.has_value()) != outcome::done)
        co_return nullptr;
    co_return std::make_unique<grip>(world_, what.who, std::move(*got), fixed.value_or(usual));
}

asio::awaitable<void> leasing::set(leased_semaphore& at, int name) {
    const std::int64_t number = draw_amount() + plan_.people.amount - 1;
    ongoing call{world_, deed_on(name, deed::set_permits, number)};
    const yes_or_no answer = co_await at.async_try_set_permits(number, call.token());
    call.ended(std::get<0>(answer));
}

asio::awaitable<void> leasing::change(leased_semaphore& at, int name) {
    if (dice_.percent(50)) {
        const std::int64_t number = dice_.one_of({1, 1, 2, -1});
        ongoing call{world_, deed_on(name, deed::add_permits, number)};
        const std::tuple<error_code> answer = co_await at.async_add_permits(number, call.token());
        call.ended(std::get<0>(answer));
        co_return;
    }
    const std::int64_t number = draw_amount() + plan_.people.amount - 1;
    ongoing call{world_, deed_on(name, deed::set_all_permits, number)};
    const std::tuple<error_code> answer = co_await at.async_set_permits(number, call.token());
    call.ended(std::get<0>(answer));
}

asio::awaitable<void> leasing::erase_or_ask(leased_semaphore& at, int name) {
    if (dice_.percent(10)) {
        ongoing call{world_, deed_on(name, deed::erase)};
        const yes_or_no answer = co_await at.async_erase(call.token());
        call.ended(std::get<0>(answer));
        co_return;
    }
    ongoing call{world_, deed_on(name, deed::value)};
    std::tuple<error_code, std::int64_t> answer;
    if (dice_.percent(50))
        answer = co_await at.async_available_permits(call.token());
    else
        answer = co_await at.async_acquired_permits(call.token());
    call.ended(std::get<0>(answer));
}

drawing::drawing(world& w, seat& home, int number, const plan& p, time_point end)
    : visitor{w, home, number, p, end, 0xd4a35} {}

/// Draws (by dice) a rate that allows the greatest amount that an actor wants at once.
rate drawing::draw_rate(int name) {
    rate how;
    how.permits = plan_.people.amount + dice_.between(0, 3);
    how.per = dice_.between(duration{20}, duration{400});
    const bool for_each = (plan_.seed + static_cast<std::uint64_t>(name)) % 4 == 0;
    how.scope = for_each ? rate::scope_of::per_client : rate::scope_of::overall;
    return how;
}

asio::awaitable<void> drawing::visit(int name) {
    generation_ = home_.of_program;
    const disposable<rate_limiter> built = build<rate_limiter>(name);
    const habits& of = plan_.people;
    const bool anew = dice_.percent(of.adds / 4);
    const rate wanted = draw_rate(name);
    const outcome is_set =
        co_await set(**built, deed_on(name, deed::set_rate, wanted.permits), wanted, anew);
    if (dice_.percent(of.asks))
        co_await erase_or_ask(**built, name);
    if (is_set == outcome::done && dice_.percent(of.adds / 4)) {
        co_await give(**built, name);
    } else if (is_set == outcome::done) {
        const operation wish = patiently(deed_on(name, deed::acquire, draw_amount()));
        const cancellation plot = draw_cancellation();
        throw_away_perhaps(built);
        co_await draw(**built, wish, plot);
    }
    co_await nap_if_closed();
}

asio::awaitable<void> drawing::take_once(int name, duration bound) {
    generation_ = home_.of_program;
    rate_limiter it{*home_.program, world::name_of(name)};
    const rate wanted = draw_rate(name);
    outcome how = co_await set(it, deed_on(name, deed::set_rate, wanted.permits), wanted, false);
    operation wish = deed_on(name, deed::acquire, 1);
    wish.timeout = bound;
    if (how == outcome::done)
        how = co_await draw(it, wish);
    if (how != outcome::done)
        world_.violated("liveness", name, "all is well again, and nothing can be drawn");
}

asio::awaitable<outcome> drawing::draw(rate_limiter& at, operation what, cancellation plot) {
    ongoing call{world_, what, plot};
    if (what.timeout == duration::max()) {
        const std::tuple<error_code> answer = co_await at.async_acquire(what.amount, call.token());
        co_return call.ended(std::get<0>(answer));
    }
    const yes_or_no answer =
        co_await at.async_try_acquire_for(what.timeout, what.amount, call.token());
    co_return call.ended(std::get<0>(answer), std::get<1>(answer));
}

asio::awaitable<outcome> drawing::set(rate_limiter& at, operation what, rate to, bool anew) {
    ongoing call{world_, what};
    yes_or_no answer;
    if (anew)
        answer = co_await at.async_set_rate(to, call.token());
    else
        answer = co_await at.async_try_set_rate(to, call.token());
    co_return call.ended(std::get<0>(answer));
}

asio::awaitable<void> drawing::give(rate_limiter& at, int name) {
    ongoing call{world_, deed_on(name, deed::give_rate, 1)};
    const std::tuple<error_code> answer = co_await at.async_release(1, call.token());
    call.ended(std::get<0>(answer));
}

asio::awaitable<void> drawing::erase_or_ask(rate_limiter& at, int name) {
    if (dice_.percent(10)) {
        ongoing call{world_, deed_on(name, deed::erase)};
        const yes_or_no answer = co_await at.async_erase(call.token());
        call.ended(std::get<0>(answer));
        co_return;
    }
    ongoing call{world_, deed_on(name, deed::value)};
    const std::tuple<error_code, std::int64_t> answer =
        co_await at.async_available_permits(call.token());
    call.ended(std::get<0>(answer));
}

namespace {

using done_or_not = std::tuple<error_code, bool>;

/// Maximum number of attempts. After the error `unreachable`, nothing was executed, so the call may
/// be repeated.
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
    const int generation = generation_; // another visit may change `generation_` meanwhile
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
        co_await give(built, generation, name, first, false);
    if (first < amount)
        co_await give(built, generation, name, amount - first, dice_.percent(20));
}

asio::awaitable<void> counting::drain(semaphore built, int name) {
    const int generation = generation_;
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
        co_await give(built, generation, name, got, false);
}

/// Releases permits that a program of this generation took. Repeats a call that certainly had no
/// effect, so that no permits are lost.
asio::awaitable<void> counting::give(semaphore built, int generation, int name, std::int64_t amount,
                                     bool if_there) {
    if (!*built && generation == home_.of_program)
        built = build<counting_semaphore>(name);
    if (!*built)
        co_return; // the permits belonged to an earlier program
    operation what = deed_on(name, amount < 0 ? deed::add_permits : deed::release_permits, amount);
    what.generation = generation;
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

// Each of the next functions runs one operation, which is in the ledger until its end.

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
    const done_or_not answer = co_await at.async_count_down(what.amount, call.token());
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
