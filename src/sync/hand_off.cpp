// SPDX-License-Identifier: Apache-2.0
#include "sync/hand_off.hpp"

#include "sync/engine.hpp"
#include "sync/family.hpp"

#include <algorithm>

namespace holdfast::sync {
namespace {

/// Returns how long a hold may stay within this client. The time is half if other clients wait, so
/// their turn comes twice as often.
duration time_budget(const hand_off& how, const wire_hold& held) {
    return held.others_listen ? how.within / 2 : how.within;
}

/// Returns whether the time since the store granted the hold is within the budget. Earlier local
/// owners count too.
bool young(const wire_hold& held) {
    return held.home->now() - held.taken_at < time_budget(held.home->how().hand_off, held);
}

bool within_budget(const wire_hold& held) {
    const hand_off& how = held.home->how().hand_off;
    return held.handed_on < how.times_max && young(held);
}

/// Returns whether the hold may be passed on. A hold that the store may deny is not passed on, and
/// neither is a hold with a pending request of its present owner.
bool in_good_state(const wire_hold& held) {
    return held.renewed() && held.believed() && !held.warned && held.in_flight == 0 &&
           held.has_token_for_heir() && !held.is_asked_for_company() &&
           !held.stays_with_its_holder() && held.extensions == 0;
}

/// A hold is passed on only if the store keeps it at most this many times as long as the new
/// owner's own lease. If the new owner dies, others wait for that time.
constexpr int inherited_max = 2;

/// Returns whether the hold fits the request of the next owner. Kind, number of permits and
/// replicas must match; otherwise the store must grant it. The remaining term must be at least half
/// of what the store would give, and not far more. A session has the same length for all, so it is
/// never too long.
bool suits(const wire_hold& held, const request& wanted) {
    const duration stored = held.store_forgets_at() - held.home->now();
    const bool by_session = held.home->bounds().by_session;
    const bool enough = held.remaining() >= std::min(wanted.lease, held.given()) / 2;
    const bool far_more = stored / inherited_max > wanted.lease && !by_session;
    const bool confirmed = held.what.replicas >= wanted.of->replicas;
    return held.what.kind == wanted.of->kind && held.what.permits == wanted.permits() &&
           wanted.renewed && enough && !far_more && confirmed;
}

/// Returns the next call. Calls that wait in the store for permits came before those that queue
/// here.
acquisition* next_at(gate& here, const wire_hold& held) {
    return held.what.kind == lock_kind::permit ? here.first_to_serve() : here.first();
}

/// Returns whether other calls of this client have read holds under this write hold. Then it is not
/// passed on.
bool is_read_beside(const gate& here, const wire_hold& held) {
    return held.what.kind != lock_kind::permit && !here.readers().empty();
}

} // namespace

bool hand_on(const std::shared_ptr<wire_hold>& held) {
    if (held->what.kind == lock_kind::read)
        return false; // a read hold is shared, not passed on
    engine& home = *held->home;
    if (queues_in_store(family_of(held->what.kind)))
        return false; // only the store knows the next owner
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
