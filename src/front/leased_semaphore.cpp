// SPDX-License-Identifier: Apache-2.0
#include "front/async.hpp"
#include "front/blocking.hpp"
#include "front/counter.hpp"
#include "front/wish.hpp"
#include "refusal.hpp"
#include "validation.hpp"

#include <holdfast/leased_semaphore.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace holdfast {
namespace {

using leased_capacity = std::shared_ptr<const sync::counter_subject>;

sync::request permits_wanted(const std::shared_ptr<sync::subject>& of,
                             const detail::permits_wish& wanted) {
    sync::request all = front::request_for(of, wanted.how);
    all.amount = checked_amount(wanted.permits, 1, leased_semaphore::most_at_once,
                                "the number of permits of one lease");
    return all;
}

/// Checks a permit id, and returns it in lower case, the form that Redisson writes. Users may have
/// copied it in upper case.
std::string checked_permit(std::string id) {
    constexpr std::size_t digits = 32;
    const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
    if (id.size() != digits || !std::ranges::all_of(id, is_digit))
        refuse("the id of a permit has 32 hexadecimal digits");
    std::ranges::transform(id, id.begin(), [](unsigned char c) { return std::tolower(c); });
    return id;
}

/// Returns a change of one held permit of any client.
counter_change change_of_held(const sync::counter_subject& of, counter_verb verb, std::string id,
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
void start_leasing(const std::shared_ptr<sync::subject>& of, const detail::permits_wish& wanted,
                   Handler handler, Wrap wrap) {
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
    , permits_{front::make_subject(
          home.engine(), name,
          {.kind = lock_kind::permit, .lease = how.lease, .replicas = how.required_replicas})} {}

leased_semaphore::~leased_semaphore() = default;

std::optional<lease> leased_semaphore::take(const detail::permits_wish& wanted) {
    // Keeps the semaphore alive: at exit() a waiting thread may outlive this object.
    const shared_subject of = permits_;
    front::throw_if(front::objection_to_blocking(*of));
    sync::request what = permits_wanted(of, wanted);
    std::shared_ptr<sync::tenure> held = front::acquire(std::move(what), wanted.how.cancel);
    if (!held)
        return std::nullopt;
    return lease{std::move(held)};
}

lease leased_semaphore::lease_of(const detail::permits_wish& wanted) {
    std::optional<lease> got = take(wanted);
    return got ? std::move(*got) : lease{}; // never empty: there is no timeout
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
    return front::wait_for(counter()->home, taken_at(counter()));
}

void leased_semaphore::start_acquire(const shared_subject& of, const detail::permits_wish& wanted,
                                     detail::lease_handler handler) {
    start_leasing(of, wanted, std::move(handler), [](std::shared_ptr<sync::tenure> held) {
        return held ? lease{std::move(held)} : lease{};
    });
}

void leased_semaphore::start_try_acquire(const shared_subject& of,
                                         const detail::permits_wish& wanted,
                                         detail::maybe_lease_handler handler) {
    start_leasing(of, wanted, std::move(handler), [](std::shared_ptr<sync::tenure> held) {
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
