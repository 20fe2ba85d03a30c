// SPDX-License-Identifier: Apache-2.0
// Decides which call of this client may ask the store, with the help of the gate (gate::admits()).
// The functions run when a call arrives, is found busy or ends, and when a hold ends.
#include "sync/engine.hpp"
#include "sync/hand_off.hpp"

#include <boost/asio/post.hpp>

namespace holdfast::sync {

void engine::admit(const std::shared_ptr<acquisition>& call, const asio::any_io_executor& where) {
    gate& here = gates_.of(key_of(*call));
    if (here.has_upgrade_against(*call)) {
        call->fail({make_error_code(errc::would_deadlock),
                    "another reader of this client waits for its own upgrade"});
    } else if (const std::shared_ptr<wire_hold> shared = hold_to_share(here, *call)) {
        call->share(shared);
    } else if (here.admits(*call)) {
        here.begin_negotiation(*call);
        spawn(negotiate(call), call->wanted.of->is_joint() ? executor() : where);
    } else if (here.is_about_to_be_left()) {
        admit_later(call);
    } else if (here.is_being_left()) {
        here.line_up(*call); // without a timeout, because the store's time limit ends this wait
    } else if (!call->wanted.patient) {
        call->give_up_busy();
    } else {
        here.line_up(*call);
        patience_.watch(*call);
    }
}

/// Admits a call after the work that is already queued on the executor. That work includes the
/// release of the call's own thread.
void engine::admit_later(const std::shared_ptr<acquisition>& call) {
    asio::post(executor(), [self = shared_from_this(), call] {
        if (!call->finished())
            self->admit(call, self->executor());
    });
}

// Starts the next calls. They do not start inside the function that ended the previous call,
// because thousands of calls may fail at once. The handler of a call that shares a hold may do
// anything, so the gate is looked up again after each such call.
void engine::next_turn(gate_key key, gate& at) {
    for (gate* here = &at; here; here = gates_.find(key)) {
        if (here->unused())
            return gates_.forget(key);
        if (stopped_ || !(let_in(*here, here->upgrade()) || let_in(*here, here->first())))
            return;
    }
}

void engine::out_of_patience(acquisition& call) {
    if (call.wanted.of->counts() != counter_kind::latch)
        return call.give_up_busy();
    patience_.forget(call);
    gate& here = *gates_.find(key_of(call));
    here.begin_negotiation(call);
    spawn(negotiate(call.step_out()));
}

/// Lets the first waiting call ask the store or share a hold, if the gate allows it.
bool engine::let_in(gate& here, acquisition* next) {
    if (!next)
        return false;
    if (std::shared_ptr<wire_hold> shared = hold_to_share(here, *next)) {
        const std::shared_ptr<acquisition> call = next->step_out();
        call->share(std::move(shared));
        return true;
    }
    if (!here.admits(*next))
        return false;
    patience_.forget(*next);
    here.begin_negotiation(*next);
    auto begin = [self = shared_from_this(), call = next->step_out()] {
        self->spawn(negotiate(call));
    };
    asio::post(executor(), std::move(begin));
    return true;
}

void engine::found_busy(acquisition& call) {
    if (!call.begins_to_wait_there())
        return;
    const gate_key key = key_of(call);
    if (call.wanted.of->polls)
        gates_.forget_polled(key);  // another client had its turn
    gate& here = *gates_.find(key); // exists as long as the call
    here.waits_there(call);
    next_turn(key, here);
}

void engine::released(const wire_hold& held, bool others_listen) {
    const gate_key key = key_of(held.what);
    gates_.note_others(key, others_listen);
    if (held.polled_within() > duration::zero())
        gates_.note_polled(key, others_listen, held, now());
    gate* const here = gates_.find(key);
    if (here && here->holder().get() == &held)
        here->owe_courtesy(others_listen && held.handed_on > 0);
    hold_over(held);
}

void engine::hold_over(const wire_hold& held) {
    const gate_key key = key_of(held.what);
    gate* const here = gates_.find(key);
    if (!here)
        return;
    if (here->forget_displaced(held) || here->acknowledged(held)) {
        if (here->unused())
            gates_.forget(key);
        return;
    }
    if (!here->drop(held))
        return;
    next_turn(key, *here);
}

/// Starts readers that waited behind a call that has left the queue. They may get the lock or share
/// a hold now.
void engine::left_queue(const acquisition& call) {
    if (key_of(call).of != family::shared)
        return;
    auto look_again = [self = shared_from_this(), name = call.name()] {
        const gate_key key{name, family::shared};
        gate* const here = self->closing_ ? nullptr : self->gates_.find(key);
        if (here)
            self->next_turn(key, *here);
    };
    asio::post(executor(), std::move(look_again));
}

void engine::fewer_share(const wire_hold& held) {
    const gate_key key = key_of(held.what);
    gate* const here = gates_.find(key);
    // A share ended without a release of the hold, so calls that expected a release must be checked
    // again.
    if (here && (here->upgrade() || queues_in_store(key.of)))
        next_turn(key, *here);
}

void engine::release_sent_off(const wire_hold& held) {
    const gate_key key = key_of(held.what);
    gate* const here = gates_.find(key);
    if (!here || here->holder().get() != &held)
        return;
    here->open_behind(held);
    next_turn(key, *here);
}

} // namespace holdfast::sync
