// SPDX-License-Identifier: Apache-2.0
#include "sim/several/player.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast::sim::several {

player::player(realm& r, int program, int number, const script& plan, time_point end)
    : realm_{r}
    , program_{program}
    , number_{number}
    , plan_{plan}
    , end_{end}
    , dice_{r.chance.split()} {}

basic_mutex& player::thing::lock() {
    if (all)
        return *all;
    if (most)
        return *most;
    return parts.front()->lock();
}

deal player::deal_on(const thing& it, deed what) const {
    deal d{.what = what, .how = it.how, .program = program_, .actor = number_, .of = it.of};
    d.lease = it.lease;
    d.generations = it.generations;
    return d;
}

std::unique_ptr<player::thing> player::build(way how, std::vector<spot> of) {
    auto made = std::make_unique<thing>();
    made->how = how;
    made->of = std::move(of);
    made->lease = realm_.how.lease_time;
    made->generations = generations_of(realm_, program_);
    const lock_name name = realm::name_of(made->of.front().name);
    if (how == way::majority) {
        quorum_mutex::nodes all;
        for (const spot each : made->of)
            all.push_back(at(each.server));
        quorum_options options{.again = recursion::counted};
        options.node_timeout = realm_.ways.node_timeout;
        options.longest_lease = lease_time{realm_.how.lease_longest};
        made->most.emplace(all, name, options);
        return made;
    }
    multi_mutex::members members;
    for (const spot each : made->of) {
        const door::making making{.kind = plan_.kinds.at(static_cast<std::size_t>(each.name))};
        made->parts.push_back(
            std::make_unique<door>(at(each.server), realm::name_of(each.name), making));
        members.push_back(made->parts.back()->lock());
    }
    if (how != way::single)
        made->all.emplace(members);
    return made;
}

std::vector<spot> player::draw_spots(int count) {
    std::vector<spot> all;
    for (int server = 0; server < realm_.servers(); ++server)
        for (int name = 0; name < realm_.names(); ++name)
            all.push_back({server, name});
    for (std::size_t i = all.size() - 1; i > 0; --i)
        std::swap(all[i], all[dice_.below(i + 1)]);
    all.resize(std::min(all.size(), static_cast<std::size_t>(count)));
    return all;
}

std::unique_ptr<player::thing> player::build_any_of_them() {
    if (dice_.percent(plan_.people.single))
        return build(way::single, draw_spots(1));
    if (realm_.ways.is_quorum) {
        std::vector<spot> of;
        const int name = dice_.between(0, realm_.names() - 1);
        for (int server = 0; server < realm_.servers(); ++server)
            of.push_back({server, name});
        return build(way::majority, std::move(of));
    }
    const way how = dice_.percent(plan_.people.any) ? way::any : way::all;
    return build(how, draw_spots(dice_.between(2, 4)));
}

asio::awaitable<void> player::live() {
    for (int visits = 0; visits < visits_max && realm_.clock.now() < end_; ++visits) {
        co_await nap(dice_.between(duration{0}, plan_.people.pause));
        if (dice_.percent(plan_.people.forces))
            co_await force();
        else
            co_await take_and_hold();
    }
    done_ = true;
}

asio::awaitable<void> player::nap(duration d) {
    const duration left = std::max(end_ - realm_.clock.now(), duration{0});
    return realm_.sleep(std::min(d, left));
}

void player::draw_timeout(deal& d) {
    const manners& of = plan_.people;
    if (dice_.percent(of.impatient)) {
        d.what = deed::try_lock;
        d.timeout = duration{0};
    } else if (dice_.percent(of.timed) || d.how == way::any) {
        d.what = deed::try_lock_for;
        d.timeout = dice_.between(duration{1}, of.timeout);
    }
}

cancellation player::draw_cancellation() {
    cancellation c;
    if (!dice_.percent(plan_.people.cancels))
        return c;
    if (dice_.percent(60))
        c.after_steps = static_cast<std::size_t>(dice_.between(1, 80));
    else
        c.after = dice_.between(duration{1}, plan_.people.timeout);
    using type = asio::cancellation_type;
    c.type = dice_.one_of({type::terminal, type::partial, type::total});
    return c;
}

asio::awaitable<void> player::take_and_hold() {
    std::unique_ptr<thing> it = build_any_of_them();
    deal d = deal_on(*it, deed::lock);
    draw_timeout(d);
    std::optional<duration> fixed;
    if (dice_.percent(plan_.people.fixed) && it->how != way::any)
        fixed = dice_.between(realm_.how.lease_time / 8, realm_.how.lease_longest);
    const cancellation plot = draw_cancellation();
    std::unique_ptr<hands> held;
    if (it->how == way::any)
        held = co_await acquire_any(realm_, d, *it->all, plot);
    else
        held = co_await acquire(realm_, d, it->lock(), fixed, plot);
    if (!held) {
        // a client may be closed, and the next one not started yet
        co_await nap(duration{5});
        co_return;
    }
    co_await use(*it, *held);
    if (held->empty())
        co_return;
    if (dice_.percent(plan_.people.drops)) {
        realm_.log.note({.client = program_, .actor = number_}, "drops its lease");
        co_return;
    }
    const cancellation second_plot = draw_cancellation();
    co_await release(realm_, *held, second_plot);
}

asio::awaitable<void> player::use(thing& it, hands& held) {
    const manners& of = plan_.people;
    const int stages = dice_.between(1, 3);
    const duration whole = dice_.percent(of.outlasts)
                               ? realm_.how.lease_longest * dice_.between(1, 3)
                               : dice_.between(duration{0}, of.holds);
    for (int stage = 0; stage < stages; ++stage) {
        co_await nap(whole / stages);
        const duration length = dice_.between(realm_.how.lease_time / 2, realm_.how.lease_longest);
        const cancellation plot = draw_cancellation();
        if (dice_.percent(of.extends))
            co_await extend(realm_, held, length, plot);
        if (dice_.percent(of.asks))
            co_await ask(it);
        if (dice_.percent(of.re_enters) && it.most)
            co_await re_enter(it, held);
    }
}

asio::awaitable<void> player::re_enter(thing& it, hands& outer) {
    deal d = deal_on(it, deed::share);
    under_way call{realm_, d};
    auto begun = it.most->async_lock(outer.what().held, call.token());
    std::tuple<error_code, lease> answer = co_await std::move(begun);
    if (call.ended(std::get<0>(answer)) != outcome::done)
        co_return;
    hands inner{realm_, d, std::move(std::get<1>(answer)), outer.what().longest};
    co_await nap(dice_.between(duration{0}, plan_.people.holds));
    co_await release(realm_, inner);
}

asio::awaitable<void> player::ask(thing& it) {
    deal d = deal_on(it, deed::is_locked);
    const cancellation plot = draw_cancellation();
    under_way call{realm_, d, plot};
    auto begun = it.lock().async_is_locked(call.token());
    const std::tuple<error_code, bool> answer = co_await std::move(begun);
    call.ended(std::get<0>(answer));
}

asio::awaitable<void> player::force() {
    std::unique_ptr<thing> it = build_any_of_them();
    deal d = deal_on(*it, deed::force_unlock);
    under_way call{realm_, d};
    auto begun = it->lock().async_force_unlock(call.token());
    const std::tuple<error_code, bool> answer = co_await std::move(begun);
    call.ended(std::get<0>(answer));
}

asio::awaitable<void> player::take_each(duration bound) {
    done_ = false;
    for (int name = 0; name < realm_.names(); ++name) {
        std::vector<spot> of;
        for (int server = 0; server < realm_.servers(); ++server)
            of.push_back({server, name});
        const way how = realm_.ways.is_quorum ? way::majority : way::single;
        if (how == way::single)
            of.resize(1);
        co_await take_once(build(how, std::move(of)), bound);
    }
    const int all = realm_.servers() * realm_.names();
    if (!realm_.ways.is_quorum)
        co_await take_once(build(way::all, draw_spots(all)), bound);
    done_ = true;
}

asio::awaitable<void> player::take_once(std::unique_ptr<thing> it, duration bound) {
    deal d = deal_on(*it, deed::try_lock_for);
    d.timeout = bound;
    const std::unique_ptr<hands> held = co_await acquire(realm_, d, it->lock(), {});
    if (!held) {
        realm_.violated("liveness", it->of.front().name,
                        "all is well again, and a lock cannot be taken");
        co_return;
    }
    if (co_await release(realm_, *held) != outcome::done)
        realm_.violated("liveness", it->of.front().name, "all is well again, and a release failed");
}

} // namespace holdfast::sim::several
