// SPDX-License-Identifier: Apache-2.0
#include "sync/hand_off.hpp"

#include "sync/engine.hpp"
#include "sync/family.hpp"

#include <algorithm>

namespace holdfast::sync {
namespace {

/// Where other clients wait too, they have their turn twice as often.
duration time_budget(const hand_off& how, const wire_hold& held) {
    return held.others_listen ? how.within / 2 : how.within;
}

/// Counted from when the store granted it, whoever has had it since.
bool young(const wire_hold& held) {
    return held.home->now() - held.taken_at < time_budget(held.home->how().hand_off, held);
}

bool within_budget(const wire_hold& held) {
    const hand_off& how = held.home->how().hand_off;
    return held.handed_on < how.times_max && young(held);
}

/// Trouble with the store is no inheritance, nor is a request that was sent for another.
bool in_good_state(const wire_hold& held) {
    return held.renewed() && held.believed() && !held.warned && held.in_flight == 0 &&
           held.has_token_for_heir() && !held.is_asked_for_company() &&
           !held.stays_with_its_holder() && held.extensions == 0;
}

/// What the store may have of it lasts at most so many times as long as what the heir would have
/// been given there: for so long others wait if the heir dies.
constexpr int inherited_max = 2;

/// A hold of another kind, or of a length of its own, or for who wants more replicas, is granted by
/// the store; and nobody begins with less than half of what it would have been given there, nor
/// with far more. A session is as long for one as for another.
bool suits(const wire_hold& held, const request& wanted) {
    const duration stored = held.store_forgets_at() - held.home->now();
    const bool by_session = held.home->bounds().by_session;
    const bool enough = held.remaining() >= std::min(wanted.lease, held.given()) / 2;
    const bool far_more = stored / inherited_max > wanted.lease && !by_session;
    const bool confirmed = held.what.replicas >= wanted.of->replicas;
    return held.what.kind == wanted.of->kind && held.what.permits == wanted.permits() &&
           wanted.renewed && enough && !far_more && confirmed;
}

/// Who is next. For permits some may wait at the store: they came before those who queue here.
acquisition* next_at(gate& here, const wire_hold& held) {
    return held.what.kind == lock_kind::permit ? here.first_to_serve() : here.first();
}

/// A write hold is not passed on while others of this client read under it.
bool is_read_beside(const gate& here, const wire_hold& held) {
    return held.what.kind != lock_kind::permit && !here.readers().empty();
}

} // namespace

bool hand_on(const std::shared_ptr<wire_hold>& held) {
    if (held->what.kind == lock_kind::read)
        return false; // it is shared, and not passed on
    engine& home = *held->home;
    if (queues_in_store(family_of(held->what.kind)))
        return false; // who is next, the store knows
    gate* const here = home.queues().find(key_of(held->what));
    acquisition* const next = here && !home.closing() ? next_at(*here, *held) : nullptr;
    if (!next || is_read_beside(*here, *held) || !within_budget(*held) || !in_good_state(*held) ||
        !suits(*held, next->wanted))
        return false;
    const auto heir = std::make_shared<wire_hold>(*held, next->wanted);
    held->end_release();
    home.tell_of(*held, event_kind::released, event_cause::none, home.now() - held->granted_at);
    home.renewals().pass_on(*held, heir);
    if (many_hold(held->what.kind))
        (void)here->drop(*held);
    here->enter(heir);
    next->succeed(heir);
    return true;
}

std::shared_ptr<wire_hold> hold_to_share(const gate& here, const acquisition& call) {
    const request& wanted = call.wanted;
    if (!may_share(wanted) || here.readers().empty() || here.writer_before(call))
        return nullptr;
    for (const std::shared_ptr<wire_hold>& held : here.readers())
        if (held->renewed() && !held->warned && young(*held) && suits(*held, wanted) &&
            held->deferred() == wanted.of->deferred && held->share())
            return held;
    return nullptr;
}

} // namespace holdfast::sync
