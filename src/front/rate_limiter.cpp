// SPDX-License-Identifier: Apache-2.0
#include "front/async.hpp"
#include "front/blocking.hpp"
#include "front/counter.hpp"
#include "validation.hpp"

#include <holdfast/rate_limiter.hpp>

namespace holdfast {
namespace {

using shared_limiter = std::shared_ptr<const sync::counter_subject>;

counter_change setting(const sync::counter_subject& of, counter_verb verb, const rate& to) {
    counter_change what = sync::change_of(of, verb);
    what.to = checked_rate(to, of.home->bounds());
    return what;
}

asio::awaitable<bool> set_at(shared_limiter of, counter_verb verb, rate to) {
    counter_change what = setting(*of, verb, to);
    const counter_answer said = co_await sync::change(of->home, std::move(what));
    co_return said.done;
}

asio::awaitable<std::optional<rate>> rate_at(shared_limiter of) {
    const counter_state found = co_await of->home->counters()->inspect(of->name, of->what);
    std::optional<rate> set;
    if (found.exists)
        set = found.of;
    co_return set;
}

} // namespace

rate_limiter::rate_limiter(client& home, lock_name name, limiter_options how)
    : basic_counter{
          home, std::move(name), {.kind = counter_kind::rate, .replicas = how.required_replicas}} {}

bool rate_limiter::try_set_rate(rate to) {
    const shared_limiter of = counter();
    return front::change(*of, setting(*of, counter_verb::set_new, to)).done;
}

void rate_limiter::set_rate(rate to) {
    const shared_limiter of = counter();
    (void)front::change(*of, setting(*of, counter_verb::set, to));
}

std::optional<rate> rate_limiter::current_rate() const {
    return front::wait_for(counter()->home, rate_at(counter()));
}

void rate_limiter::release(std::int64_t permits) {
    (void)change(counter_verb::add, permits);
}

void rate_limiter::start_set(shared_counter of, counter_verb verb, rate to,
                             detail::flag_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, set_at(std::move(of), verb, to), std::move(handler));
}

void rate_limiter::start_current(shared_counter of, rate_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, rate_at(std::move(of)), std::move(handler));
}

} // namespace holdfast
