// SPDX-License-Identifier: Apache-2.0
#include "sync/engine.hpp"
#include "sync/gate.hpp"
#include "sync/lock_descriptor.hpp"

#include <algorithm>

namespace holdfast::sync {
namespace {

/// Returns for how long after a grant of the store a hold may be handed over within this client. If
/// other clients wait for the lock, this time is halved, so that they get the lock earlier.
duration time_budget(const hand_off& how, const held_lock& held) {
    return held.others_listen ? how.within / 2 : how.within;
}

/// Returns whether local hand-overs are still within their time limit. The limit counts from the
/// grant of the store, so it includes the time of earlier local owners.
bool young(const held_lock& held) {
    return held.home->now() - held.taken_at < time_budget(held.home->how().hand_off, held);
}

bool within_budget(const held_lock& held) {
    const hand_off& how = held.home->how().hand_off;
    return held.handed_on < how.times_max && young(held);
}

/// Returns whether the state of the hold allows a local hand-over. The hold must be renewed and
/// valid, and must have a fencing token for the next owner, if the lock has tokens. The hold must
/// have no pending request, and no wish of another program. The hold's owner must not have got a
/// warning.
bool in_good_state(const held_lock& held) {
    return held.renewed() && held.is_valid() && !held.warned && held.in_flight == 0 &&
           held.has_token_for_next_owner() && !held.has_linked_request() &&
           !held.stays_with_its_holder() && held.extensions == 0 && !held.was_asked();
}

/// Returns whether the hold fits the request of the next owner. The kind and the number of permits
/// must be the same. The hold must have at least the required replicas. The request must want a
/// renewed hold. The hold must have at least half of a new grant's time left. It must not have more
/// time left than the requested lease, because other clients wait for this time if the next owner
/// dies. In a store with sessions the time is never too long, because all holds last as long as the
/// session.
bool suits(const held_lock& held, const request& wanted) {
    const duration stored = held.store_forgets_at() - held.home->now();
    const bool by_session = held.home->bounds().by_session;
    const bool enough = held.remaining() >= std::min(wanted.lease, held.given()) / 2;
    const bool too_long = stored > wanted.lease + margin(wanted.lease) && !by_session;
    const bool confirmed = held.what.replicas >= wanted.of->replicas;
    return held.what.kind == wanted.of->kind && held.what.permits == wanted.permits() &&
           wanted.renewed && enough && !too_long && confirmed;
}

/// Returns the call that gets the hold next. For permits, calls that already wait at the store come
/// first, because they arrived before the calls in the local queue.
acquisition* next_at(gate& here, const held_lock& held) {
    return held.what.kind == lock_kind::permit ? here.first_to_serve() : here.first();
}

/// Returns whether this client has read holds on this lock in addition to this write hold. If so,
/// the write hold is not handed over.
bool is_read_beside(const gate& here, const held_lock& held) {
    return held.what.kind != lock_kind::permit && !here.readers().empty();
}

/// Returns whether the renewals of the hold ask for at most the lease that the reader wants. In a
/// store with sessions, all holds last as long as the session.
bool is_renewed_for_at_most(const held_lock& held, duration wanted) {
    return held.lease() <= wanted || held.home->bounds().by_session;
}

} // namespace

bool hand_on(const std::shared_ptr<held_lock>& held) {
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
    const auto next_owner = std::make_shared<held_lock>(*held, next->wanted);
    held->end_release();
    home.tell_of(*held, event_kind::released, event_cause::none, home.now() - held->granted_at);
    home.renewals().hand_over(*held, next_owner);
    if (many_hold(held->what.kind))
        (void)here->drop(*held);
    here->enter(next_owner);
    next->succeed(next_owner);
    return true;
}

std::shared_ptr<held_lock> hold_to_share(const gate& here, const acquisition& call) {
    const request& wanted = call.wanted;
    if (!may_share(wanted) || here.readers().empty() || here.writer_before(call))
        return nullptr;
    for (const std::shared_ptr<held_lock>& held : here.readers())
        if (held->renewed() && !held->warned && !held->was_asked() && young(*held) &&
            suits(*held, wanted) && is_renewed_for_at_most(*held, wanted.lease) &&
            held->deferred() == wanted.of->deferred && held->share())
            return held;
    return nullptr;
}

} // namespace holdfast::sync
