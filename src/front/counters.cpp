// SPDX-License-Identifier: Apache-2.0
#include "config/errors.hpp"
#include "config/validation.hpp"
#include "front/async_calls.hpp"
#include "front/blocking_calls.hpp"
#include "front/requests.hpp"

#include <holdfast/basic_counter.hpp>
#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace holdfast {
namespace {

using shared_counter = std::shared_ptr<const sync::counter_descriptor>;

/// Request to change a counter; the change does not wait for permits. The arguments of the request
/// are checked on the executor, so that the handler of an asynchronous function gets the error.
struct counter_command {
    counter_verb verb;
    std::int64_t amount = 0;
    std::optional<duration> kept{};
};

asio::awaitable<counter_answer> answer_to(shared_counter of, counter_command what) {
    const std::optional<counter_change> wanted =
        front::checked_change(*of, what.verb, what.amount, what.kept);
    counter_answer nothing_to_do;
    if (!wanted)
        co_return nothing_to_do;
    counter_change once = *wanted;
    const counter_answer said = co_await sync::change(of->home, std::move(once));
    co_return said;
}

asio::awaitable<void> do_it(shared_counter of, counter_command what) {
    (void)co_await answer_to(std::move(of), what);
}

/// Returns whether the store has made the change. If a latch was counted down but stays closed, the
/// store does not set `done`, but the count is above zero.
bool is_carried_out(counter_verb verb, const counter_answer& said) {
    return said.done || (verb == counter_verb::count_down && said.value > 0);
}

asio::awaitable<bool> is_done(shared_counter of, counter_command what) {
    const counter_answer said = co_await answer_to(std::move(of), what);
    co_return is_carried_out(what.verb, said);
}

asio::awaitable<std::int64_t> number_from(shared_counter of, counter_command what) {
    const counter_answer said = co_await answer_to(std::move(of), what);
    co_return said.value;
}

asio::awaitable<std::int64_t> value_at(shared_counter of) {
    const counter_state found = co_await of->home->counters()->inspect(of->name, of->what);
    co_return found.value;
}

/// Returns whether the call is for zero permits. Such a call succeeds at once.
bool is_for_nothing(const sync::counter_descriptor& of, std::int64_t amount) {
    return of.what != counter_kind::latch && amount == 0;
}

asio::awaitable<void> nothing() {
    co_return;
}

asio::awaitable<bool> nothing_taken() {
    co_return true;
}

} // namespace

basic_counter::basic_counter(client& home, lock_name name, const detail::counter_setup& how)
    : counter_{front::make_counter(home.engine(), name, how)} {}

basic_counter::~basic_counter() = default;

bool basic_counter::take(detail::counter_options how) const {
    // Keep a copy of the descriptor during the wait. While the program exits, a static counter
    // object may be destroyed although a thread still waits here.
    const shared_counter of = counter_;
    front::throw_if(front::objection_to_blocking(*of->home));
    const std::int64_t amount = front::checked_take(*of, how.amount);
    if (is_for_nothing(*of, amount))
        return true;
    sync::request what = front::request_for(of, amount, how.timeout);
    return front::outcome_of(std::move(what), how.cancel).counted;
}

counter_answer basic_counter::change(counter_verb verb, std::int64_t amount,
                                     std::optional<duration> kept) const {
    const shared_counter of = counter_;
    front::throw_if(front::objection_to_blocking(*of->home));
    std::optional<counter_change> what = front::checked_change(*of, verb, amount, kept);
    return what ? front::change(*of, std::move(*what)) : counter_answer{};
}

std::int64_t basic_counter::value() const {
    return front::wait_for_query(counter_->home, [of = counter_] { return value_at(of); });
}

bool basic_counter::erase() const {
    return change(counter_verb::erase).done;
}

void basic_counter::start_take(shared_counter of, std::int64_t amount,
                               detail::done_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    if (const error_code ec = front::objection_to_posting(*home))
        return front::complete_elsewhere(std::move(handler), ec);
    if (is_for_nothing(*of, amount))
        return front::start(home, nothing(), std::move(handler));
    auto deliver = [](front::awaited<detail::done_handler>& waiting, const sync::outcome& got) {
        waiting.complete(got.why.code);
    };
    front::start_call(home, std::move(handler), deliver, [&] {
        return front::request_for(of, front::checked_take(*of, amount), duration::max());
    });
}

void basic_counter::start_try(shared_counter of, std::int64_t amount, duration timeout,
                              detail::flag_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    if (const error_code ec = front::objection_to_posting(*home))
        return front::complete_elsewhere(std::move(handler), ec, false);
    if (is_for_nothing(*of, amount))
        return front::start(home, nothing_taken(), std::move(handler));
    auto deliver = [](front::awaited<detail::flag_handler>& waiting, const sync::outcome& got) {
        waiting.complete(got.why.code, bool{got.counted});
    };
    front::start_call(home, std::move(handler), deliver, [&] {
        return front::request_for(of, front::checked_take(*of, amount), timeout);
    });
}

void basic_counter::start_change(shared_counter of, counter_verb verb, std::int64_t amount,
                                 detail::done_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, do_it(std::move(of), {verb, amount}), std::move(handler));
}

void basic_counter::start_flag(shared_counter of, counter_verb verb, std::int64_t amount,
                               std::optional<duration> kept, detail::flag_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, is_done(std::move(of), {verb, amount, kept}), std::move(handler));
}

void basic_counter::start_number(shared_counter of, counter_verb verb,
                                 detail::number_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, number_from(std::move(of), {verb}), std::move(handler));
}

void basic_counter::start_value(shared_counter of, detail::number_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, value_at(std::move(of)), std::move(handler));
}

counting_semaphore::counting_semaphore(client& home, lock_name name, semaphore_options how)
    : basic_counter{
          home, std::move(name), {counter_kind::semaphore, how.most, how.required_replicas}} {}

void counting_semaphore::release(std::int64_t permits) {
    (void)change(counter_verb::add, permits);
}

bool counting_semaphore::release_if_exists(std::int64_t permits) {
    return change(counter_verb::add_if_there, permits).done;
}

bool counting_semaphore::try_set_permits(std::int64_t permits) {
    return change(counter_verb::set_new, permits).done;
}

bool counting_semaphore::try_set_permits(std::int64_t permits, duration kept) {
    return change(counter_verb::set_new, permits, kept).done;
}

void counting_semaphore::add_permits(std::int64_t permits) {
    checked_amount(permits, -max(), max(), "the number of permits");
    (void)change(permits < 0 ? counter_verb::take_back : counter_verb::add, std::abs(permits));
}

std::int64_t counting_semaphore::drain_permits() {
    return change(counter_verb::drain).value;
}

latch::latch(client& home, lock_name name, latch_options how)
    : basic_counter{home,
                    std::move(name),
                    {.kind = counter_kind::latch, .replicas = how.required_replicas}} {}

bool latch::try_set_count(std::int64_t count) {
    return change(counter_verb::set_new, count).done;
}

bool latch::count_down(std::int64_t by) {
    return is_carried_out(counter_verb::count_down, change(counter_verb::count_down, by));
}

namespace {

using shared_limiter = std::shared_ptr<const sync::counter_descriptor>;

counter_change setting(const sync::counter_descriptor& of, counter_verb verb, const rate& to) {
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
    return front::wait_for_query(counter()->home, [of = counter()] { return rate_at(of); });
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

namespace {

using leased_capacity = std::shared_ptr<const sync::counter_descriptor>;

sync::request permits_wanted(const std::shared_ptr<sync::lock_descriptor>& of,
                             const detail::permit_options& wanted) {
    sync::request all = front::request_for(of, wanted.how);
    all.amount = checked_amount(wanted.permits, 1, leased_semaphore::most_at_once,
                                "the number of permits of one lease");
    return all;
}

/// Checks a permit id and converts it to lower case, the form that Redisson writes. Users may write
/// it in upper case.
std::string checked_permit(std::string id) {
    constexpr std::size_t digits = 32;
    const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
    if (id.size() != digits || !std::ranges::all_of(id, is_digit))
        refuse("the id of a permit must have 32 hexadecimal digits");
    std::ranges::transform(id, id.begin(), [](unsigned char c) { return std::tolower(c); });
    return id;
}

/// Returns a change of one held permit of any client.
counter_change change_of_held(const sync::counter_descriptor& of, counter_verb verb, std::string id,
                              duration lasts) {
    counter_change all = sync::change_of(of, verb);
    all.permit = checked_permit(std::move(id));
    if (verb == counter_verb::set_lease)
        all.kept = checked_lease(lasts, of.home->bounds());
    return all;
}

asio::awaitable<bool> held_changed(leased_capacity of, counter_verb verb, std::string id,
                                   duration lasts) {
    counter_change what = change_of_held(*of, verb, std::move(id), lasts);
    const counter_answer said = co_await sync::change(of->home, std::move(what));
    co_return said.done;
}

asio::awaitable<std::int64_t> taken_at(leased_capacity of) {
    const counter_state found = co_await of->home->counters()->inspect(of->name, of->what);
    co_return found.taken;
}

template <typename Handler, typename Wrap>
void start_leasing(const std::shared_ptr<sync::lock_descriptor>& of,
                   const detail::permit_options& wanted, Handler handler, Wrap wrap) {
    const std::shared_ptr<sync::engine>& home = of->home;
    if (const error_code ec = front::objection_to_posting(*home))
        return front::complete_elsewhere(std::move(handler), ec, wrap(nullptr));
    auto deliver = [wrap](front::awaited<Handler>& waiting, sync::outcome got) {
        waiting.complete(got.why.code, wrap(std::move(got.held)));
    };
    front::start_call(home, std::move(handler), deliver,
                      [&] { return permits_wanted(of, wanted); });
}

} // namespace

leased_semaphore::leased_semaphore(client& home, lock_name name, leased_options how)
    : basic_counter{home, name, {.kind = counter_kind::permits, .replicas = how.required_replicas}}
    , permits_{front::make_descriptor(
          home.engine(), name,
          {.kind = lock_kind::permit, .lease = how.lease, .replicas = how.required_replicas})} {}

leased_semaphore::~leased_semaphore() = default;

std::optional<lease> leased_semaphore::take(const detail::permit_options& wanted) {
    // Keep a copy of the descriptor during the wait. While the program exits, a static semaphore
    // object may be destroyed although a thread still waits here.
    const shared_descriptor of = permits_;
    front::throw_if(front::objection_to_blocking(*of));
    sync::request what = permits_wanted(of, wanted);
    std::shared_ptr<sync::lock_handle> held = front::acquire(std::move(what), wanted.how.cancel);
    if (!held)
        return std::nullopt;
    return lease{std::move(held)};
}

lease leased_semaphore::lease_of(const detail::permit_options& wanted) {
    std::optional<lease> got = take(wanted);
    return got ? std::move(*got) : lease{}; // `got` is never empty, because there is no timeout
}

bool leased_semaphore::release(std::string_view permit_id) {
    const leased_capacity of = counter();
    front::throw_if(front::objection_to_blocking(*of->home));
    counter_change what =
        change_of_held(*of, counter_verb::give_back, std::string{permit_id}, duration::zero());
    return front::change(*of, std::move(what)).done;
}

bool leased_semaphore::set_lease(std::string_view permit_id, lease_time lasts) {
    const leased_capacity of = counter();
    front::throw_if(front::objection_to_blocking(*of->home));
    counter_change what =
        change_of_held(*of, counter_verb::set_lease, std::string{permit_id}, lasts.value);
    return front::change(*of, std::move(what)).done;
}

bool leased_semaphore::try_set_permits(std::int64_t permits) {
    return change(counter_verb::set_new, permits).done;
}

void leased_semaphore::set_permits(std::int64_t permits) {
    (void)change(counter_verb::set, permits);
}

void leased_semaphore::add_permits(std::int64_t permits) {
    checked_amount(permits, -max(), max(), "the number of permits");
    (void)change(permits < 0 ? counter_verb::take_back : counter_verb::add, std::abs(permits));
}

std::int64_t leased_semaphore::acquired_permits() const {
    return front::wait_for_query(counter()->home, [of = counter()] { return taken_at(of); });
}

void leased_semaphore::start_acquire(const shared_descriptor& of,
                                     const detail::permit_options& wanted,
                                     detail::lease_handler handler) {
    start_leasing(of, wanted, std::move(handler), [](std::shared_ptr<sync::lock_handle> held) {
        return held ? lease{std::move(held)} : lease{};
    });
}

void leased_semaphore::start_try_acquire(const shared_descriptor& of,
                                         const detail::permit_options& wanted,
                                         detail::maybe_lease_handler handler) {
    start_leasing(of, wanted, std::move(handler), [](std::shared_ptr<sync::lock_handle> held) {
        return held ? std::optional<lease>{std::move(held)} : std::nullopt;
    });
}

void leased_semaphore::start_held(shared_counter of, counter_verb verb, std::string permit_id,
                                  duration lasts, detail::flag_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, held_changed(std::move(of), verb, std::move(permit_id), lasts),
                 std::move(handler));
}

void leased_semaphore::start_taken(shared_counter of, detail::number_handler handler) {
    const std::shared_ptr<sync::engine> home = of->home;
    front::start(home, taken_at(std::move(of)), std::move(handler));
}

} // namespace holdfast
