// SPDX-License-Identifier: Apache-2.0
#include "sim/leasing.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace holdfast::sim {
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
    const habits& of = plan_.people;
    const operation wish = patiently(deed_on(name, deed::acquire, draw_amount()));
    const cancellation plot = draw_cancellation();
    std::optional<duration> fixed;
    if (dice_.percent(of.fixed))
        fixed = draw_lease();
    throw_away_perhaps(built);
    const std::unique_ptr<grip> held = co_await acquire(**built, wish, fixed, usual, plot);
    if (held)
        co_await work(built, *held, name);
}

asio::awaitable<void> leasing::work(semaphore built, grip& held, int name) {
    const habits& of = plan_.people;
    const duration longest = dice_.percent(of.outlasts) ? 3 * world_.how.lease_time : of.holds;
    co_await nap(dice_.between(duration{0}, longest));
    if (*built && generation_ == home_.generation && dice_.percent(2 * of.adds))
        co_await meddle(**built, name);
    co_await nap(dice_.between(duration{0}, of.holds));
    if (of_ids_.percent(30))
        expect_ids_to_end(held.what().held.permit_ids(), name);
    if (!dice_.percent(of.drops))
        co_await release(world_, held, generation_);
}

/// Waits some time. Then checks that no other holder has a permit with an id in `seen`.
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

/// Gives back one permit of another holder. That holder keeps its other permits, and may not have
/// noticed the loss yet.
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

} // namespace holdfast::sim
