// SPDX-License-Identifier: Apache-2.0
#include "sim/visitor.hpp"

#include <algorithm>
#include <chrono>

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

/// Sleeps for this time, but at most until the end of the safety phase.
asio::awaitable<void> visitor::nap(duration d) {
    const duration left = std::max(end_ - world_.clock.now(), duration{0});
    return world_.sleep(std::min(d, left));
}

/// Sleeps if the program was closed, because the next program may not have started yet.
asio::awaitable<void> visitor::nap_if_closed() {
    if (generation_ != home_.generation)
        co_await nap(std::chrono::milliseconds{50});
}

} // namespace holdfast::sim
