// SPDX-License-Identifier: Apache-2.0
#include "sim/actor.hpp"

#include "sync/engine.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace holdfast::sim {

actor::actor(world& w, seat& home, int number, const plan& p, time_point end)
    : world_{w}
    , home_{home}
    , number_{number}
    , plan_{p}
    , end_{end}
    , dice_{w.chance.split()}
    , further_{w.further.split()}
    , counters_{w, home, number, p, end} {}

asio::awaitable<void> actor::live() {
    for (int visits = 0; visits < visits_max && world_.clock.now() < end_; ++visits) {
        co_await nap(dice_.between(duration{0}, plan_.people.pause));
        if (dice_.percent(plan_.people.forces))
            co_await force();
        else
            co_await take_and_hold();
    }
    done_ = true;
}

asio::awaitable<void> actor::take_each(duration bound) {
    done_ = false;
    for (int name = 0; name < world_.names(); ++name) {
        if (world_.how.counts(name)) {
            co_await counters_.take_once(name, bound);
        } else if (plan_.shared) {
            door both{*home_.program,
                      world::name_of(name),
                      {.kind = lock_kind::write, .replicas = draw_replicas(name)}};
            co_await take_once(name, both.lock(), false, bound);
            co_await take_once(name, both.shared()->shared(), true, bound);
        } else {
            const std::shared_ptr<door> built = build(name);
            co_await take_once(name, built->lock(), false, bound, built->own_lease());
        }
    }
    done_ = true;
}

asio::awaitable<void> actor::take_once(int name, basic_mutex& m, bool reads, duration bound,
                                       std::optional<lease_time> own) {
    wanted how{.how = deed::try_lock_for, .timeout = bound};
    how.reads = reads;
    if (own)
        how.usual = own->value;
    auto held = co_await acquire(world_, about(name), home_.of_program, m, how);
    if (!held)
        world_.violated("liveness", name, "all is well again, and the lock cannot be taken");
    else if (co_await release(world_, *held, home_.of_program) != outcome::done)
        world_.violated("liveness", name, "all is well again, and a release failed");
}

/// Sleeps for this time, but at most until `end_`, when all actors stop.
asio::awaitable<void> actor::nap(duration d) {
    const duration left = std::max(end_ - world_.clock.now(), duration{0});
    return world_.sleep(std::min(d, left));
}

std::shared_ptr<door> actor::build(int name) {
    door::making how{.kind = kind_of(name),
                     .tokens = plan_.tokens,
                     .waiter_timeout = world_.how.waiter_timeout()};
    const lease_time own{dice_.between(plan_.how.lease_time / 2, plan_.how.lease_longest)};
    if (dice_.percent(plan_.people.recursive))
        how.again = recursion::counted;
    if (dice_.percent(plan_.people.own_lease))
        how.lease = own;
    if (plan_.shared)
        how.kind = further_.percent(plan_.people.reads) ? lock_kind::read : lock_kind::write;
    how.replicas = draw_replicas(name);
    return std::make_shared<door>(*home_.program, world::name_of(name), how);
}

/// Draws the number of replicas that a new lock object requires. Returns nothing if the server has
/// no replicas.
std::optional<unsigned> actor::draw_replicas(int name) {
    if (!world_.replicas.exists())
        return std::nullopt;
    const std::vector<unsigned>& some = plan_.how.replicas.wants.at(static_cast<std::size_t>(name));
    return some[further_.below(some.size())];
}

duration actor::usual_lease(const door& of) const {
    return of.own_lease() ? of.own_lease()->value : plan_.how.lease_time;
}

lock_kind actor::kind_of(int name) const {
    return world_.how.is_fair(name) ? lock_kind::fair
                                    : plan_.kinds.at(static_cast<std::size_t>(name));
}

wanted actor::draw_wanted() {
    const habits& of = plan_.people;
    wanted w;
    if (dice_.percent(of.impatient)) {
        w.how = deed::try_lock;
        w.timeout = duration::zero();
    } else if (dice_.percent(of.timed)) {
        w.how = deed::try_lock_for;
        w.timeout = dice_.between(duration{1}, of.timeout);
    }
    if (dice_.percent(of.fixed))
        w.fixed = dice_.between(plan_.how.lease_time / 4, plan_.how.lease_longest);
    return w;
}

cancellation actor::draw_cancellation() {
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

operation actor::deed_on(int name, deed what) const {
    operation o{.what = what, .who = about(name)};
    o.generation = home_.of_program;
    return o;
}

asio::awaitable<void> actor::take_and_hold() {
    const int name = dice_.between(0, world_.names() - 1);
    if (world_.how.counts(name)) {
        co_await counters_.visit(name);
        co_return;
    }
    const int generation = home_.of_program;
    const std::shared_ptr<door> built = build(name);
    if (dice_.percent(plan_.people.throws_away)) {
        const auto steps = static_cast<std::size_t>(dice_.between(1, 20));
        world_.after_steps(steps, [built] { built->destroy(); });
    }
    wanted how = draw_wanted();
    if (built->own_lease())
        how.usual = built->own_lease()->value;
    how.reads = built->reads();
    how.replicas = built->replicas();
    const cancellation plot = draw_cancellation();
    if (further_.percent(plan_.people.blunders))
        co_return co_await blunder_into(built, name, how, plot);
    const std::unique_ptr<grip> held =
        co_await acquire(world_, about(name), generation, built->lock(), how, plot);
    // the program was closed, and the next program has not started yet
    if (!held && generation != home_.generation)
        co_await nap(std::chrono::milliseconds{50});
    if (!held)
        co_return;
    reactions in_callbacks;
    if (dice_.percent(plan_.people.reacts))
        react(in_callbacks, *held, generation);
    co_await use(built, *held, generation);
    in_callbacks.lost.reset();
    in_callbacks.in_danger.reset();
    if (held->empty())
        co_return;
    if (dice_.percent(plan_.people.drops)) {
        world_.log.note(about(name), "drops its lease");
        co_return;
    }
    if (further_.percent(plan_.people.blunders))
        co_return blunder_out_of(world_, *held, generation, another_thing_aside());
    const cancellation second_plot = draw_cancellation();
    co_await release(world_, *held, generation, second_plot);
}

/// Begins an acquisition whose handler will throw. Then pauses for a while.
asio::awaitable<void> actor::blunder_into(std::shared_ptr<door> built, int name, wanted how,
                                          cancellation plot) {
    how.fixed.reset();
    sim::blunder_into(world_, about(name), home_.of_program, built->lock(), how, plot,
                      another_thing_aside());
    co_await nap(dice_.between(duration{0}, plan_.people.pause));
}

/// Counts an activity that runs beside the actor. Returns a function to call at its end.
std::function<void()> actor::another_thing_aside() {
    ++aside_;
    return [this] { --aside_; };
}

asio::awaitable<void> actor::use(std::shared_ptr<door> built, grip& held, int generation) {
    const habits& of = plan_.people;
    const int stages = dice_.between(1, 3);
    const duration whole = dice_.percent(of.outlasts)
                               ? plan_.how.lease_longest * dice_.between(1, 3)
                               : dice_.between(duration{0}, of.holds);
    for (int stage = 0; stage < stages; ++stage) {
        co_await nap(whole / stages);
        if (held.empty())
            co_return;
        if (dice_.percent(of.extends))
            co_await now_or_beside(extend(held, generation));
        if (dice_.percent(of.asks) && built->exists() && !held.empty())
            co_await ask(*built, held.what().who, generation);
        if (further_.percent(of.renews) && !held.empty())
            renew_from_now_on(held);
        if (dice_.percent(of.re_enters) && built->counts() && !held.empty())
            co_await now_or_beside(re_enter(*built, held, generation));
        if (built->shared() && !held.empty() && built->reads() && further_.percent(of.upgrades))
            co_await upgrade(*built, held, generation);
        if (built->shared() && !held.empty() && !built->reads() && further_.percent(of.downgrades))
            co_await downgrade(*built, held, generation);
    }
}

/// Runs the work. Most actors wait until the work ends; some continue at once.
asio::awaitable<void> actor::now_or_beside(asio::awaitable<void> work) {
    if (dice_.percent(70))
        co_await std::move(work);
    else
        beside(std::move(work));
}

void actor::beside(asio::awaitable<void> work) {
    ++aside_;
    auto aside = [](actor& self, asio::awaitable<void> it) -> asio::awaitable<void> {
        co_await std::move(it);
        --self.aside_;
    };
    world_.play(aside(*this, std::move(work)));
}

void actor::react(reactions& to, grip& held, int generation) {
    auto ask_anew = [this] { beside(take_and_hold()); };
    auto let_go = [this, &held, generation] {
        // A callback may call any function, for example lost(), which may find that the lease has
        // ended.
        if (!held.empty())
            (void)held.what().held.lost();
        auto releasing = [](world& w, grip& it, int of) -> asio::awaitable<void> {
            co_await release(w, it, of);
        };
        if (!held.empty())
            beside(releasing(world_, held, generation));
    };
    const std::stop_token lost = held.what().held.lost();
    const std::stop_token in_danger = held.what().held.in_danger();
    to.lost.emplace(lost, ask_anew);
    to.in_danger.emplace(in_danger, let_go); // the callback may run here at once
}

asio::awaitable<void> actor::extend(grip& held, int generation) {
    const duration length = dice_.between(plan_.how.lease_time / 2, plan_.how.lease_longest);
    claim& what = held.what();
    what.longest = std::max(what.longest, length);
    operation o = deed_on(what.who.name, deed::extend);
    o.generation = generation;
    auto call = std::make_unique<ongoing>(world_, o, draw_cancellation());
    auto answer = what.held.async_extend(lease_time{length}, call->token());
    std::optional<std::string> believed;
    if (what.held.owns_lock())
        believed = what.owner;
    return finish_extending(std::move(call), std::move(answer), std::move(believed));
}

asio::awaitable<void> actor::finish_extending(std::unique_ptr<ongoing> call,
                                              asio::awaitable<std::tuple<error_code>> pending,
                                              std::optional<std::string> believed) {
    const std::tuple<error_code> answer = co_await std::move(pending);
    if (call->ended(std::get<0>(answer)) == outcome::lease_lost && believed)
        world_.checks().known_lost(call->what().who.name, *believed);
}

/// Takes a lock that is already held with a fixed lease once more, without a lease time. From then
/// on the lease is renewed.
void actor::renew_from_now_on(grip& held) {
    claim& what = held.what();
    const std::shared_ptr<sync::lock_handle>& hold = what.held.hold();
    constexpr duration room_for_two_answers{600};
    if (hold->renewed() || hold->remaining() < room_for_two_answers)
        return; // too late to promise anything
    world_.log.note(what.who, "is renewed from now on");
    what.longest = std::max(what.longest, plan_.how.lease_time);
    what.renewed_from = world_.clock.now();
    hold->renew_from_now_on(plan_.how.lease_time);
}

asio::awaitable<void> actor::ask(door& built, subject who, int generation) {
    const bool how_long = dice_.percent(50);
    operation o = deed_on(who.name, how_long ? deed::remaining_lease : deed::is_locked);
    o.generation = generation;
    const cancellation plot = draw_cancellation();
    ongoing call{world_, o, plot};
    if (how_long) {
        const std::tuple<error_code, std::optional<duration>> answer =
            co_await built.lock().async_remaining_lease(call.token());
        call.ended(std::get<0>(answer));
    } else {
        const std::tuple<error_code, bool> answer =
            co_await built.lock().async_is_locked(call.token());
        call.ended(std::get<0>(answer));
    }
}

asio::awaitable<void> actor::upgrade(door& built, grip& outer, int generation) {
    const subject who = outer.what().who;
    const std::string beside = outer.what().owner;
    operation o{.what = deed::upgrade, .who = who};
    o.generation = generation;
    o.timeout = further_.between(duration{1}, plan_.people.timeout);
    ongoing call{world_, o, draw_cancellation()};
    auto [code, got] =
        co_await built.shared()->async_try_upgrade_for(outer.what().held, o.timeout, call.token());
    if (call.ended(code, got.has_value()) != outcome::done)
        co_return;
    grip inner{
        world_,          who, std::move(*got), usual_lease(built), taken_by::acquisition, beside,
        built.replicas()};
    co_await nap(further_.between(duration{0}, plan_.people.holds));
    co_await release(world_, inner, generation);
}

asio::awaitable<void> actor::downgrade(door& built, grip& outer, int generation) {
    const subject who = outer.what().who;
    const std::string beside = outer.what().owner;
    operation o{.what = deed::read_beside, .who = who};
    o.generation = generation;
    o.reads = true;
    ongoing call{world_, o};
    auto [code, got] = co_await built.shared()->async_lock_shared(outer.what().held, call.token());
    if (call.ended(code) != outcome::done)
        co_return;
    grip inner{
        world_,          who, std::move(got), usual_lease(built), taken_by::acquisition, beside,
        built.replicas()};
    if (!outer.empty())
        co_await release(world_, outer, generation);
    co_await nap(further_.between(duration{0}, plan_.people.holds));
    co_await release(world_, inner, generation);
}

asio::awaitable<void> actor::re_enter(door& built, grip& outer, int generation) {
    const subject who = outer.what().who;
    operation o = deed_on(who.name, deed::share);
    o.generation = generation;
    auto call = std::make_unique<ongoing>(world_, o);
    const bool may_want_more = world_.replicas.exists() && generation == home_.generation;
    if (!may_want_more) {
        auto answer = built.lock_again(outer.what().held, call->token());
        return use_inner(std::move(call), who, generation, outer.what().longest, built.replicas(),
                         std::move(answer));
    }
    door::making how = built.how();
    how.replicas = draw_replicas(who.name);
    door same{*home_.program, world::name_of(who.name), how};
    auto answer = same.lock_again(outer.what().held, call->token());
    return use_inner(std::move(call), who, generation, outer.what().longest, same.replicas(),
                     std::move(answer));
}

asio::awaitable<void> actor::use_inner(std::unique_ptr<ongoing> call, subject who, int generation,
                                       duration longest, unsigned replicas,
                                       asio::awaitable<std::tuple<error_code, lease>> pending) {
    std::tuple<error_code, lease> answer = co_await std::move(pending);
    if (call->ended(std::get<0>(answer)) != outcome::done)
        co_return;
    grip inner{world_, who,     std::move(std::get<1>(answer)), longest, taken_by::re_entry,
               {},     replicas};
    co_await nap(dice_.between(duration{0}, plan_.people.holds));
    co_await release(world_, inner, generation);
}

asio::awaitable<void> actor::force() {
    const int name = dice_.between(0, world_.names() - 1);
    if (world_.how.counts(name)) { // a counter has no holder
        co_await counters_.visit(name);
        co_return;
    }
    const lock_kind side = world_.seen(name).written ? lock_kind::write : lock_kind::read;
    door built{*home_.program,
               world::name_of(name),
               {.kind = plan_.shared ? side : kind_of(name), .tokens = plan_.tokens}};
    const operation o = deed_on(name, deed::force_unlock);
    ongoing call{world_, o};
    const std::optional<std::string> ours = believed_here(name);
    const std::tuple<error_code, bool> answer =
        co_await built.lock().async_force_unlock(call.token());
    const bool was_locked = std::get<1>(answer);
    const std::optional<holding> now = inspect(world_.server, world::name_of(name));
    if (call.ended(std::get<0>(answer)) == outcome::done && was_locked && ours &&
        (!now || std::ranges::count(now->owners, *ours) == 0))
        world_.checks().known_lost(name, *ours);
}

/// Returns the owner of a lock that this program believes to hold. Returns nothing if there is
/// none.
std::optional<std::string> actor::believed_here(int name) const {
    for (const claim* c : world_.books.believed())
        if (c->who.client == home_.number && c->who.name == name && c->held.owns_lock())
            return c->owner;
    return std::nullopt;
}

} // namespace holdfast::sim
