// SPDX-License-Identifier: Apache-2.0
#include "sim/drawing.hpp"

#include <tuple>

namespace holdfast::sim {
namespace {

using yes_or_no = std::tuple<error_code, bool>;

} // namespace

drawing::drawing(world& w, seat& home, int number, const plan& p, time_point end)
    : visitor{w, home, number, p, end, 0xd4a35} {}

/// Draws a rate. The rate allows the greatest amount that an actor wants at once.
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

} // namespace holdfast::sim
