// SPDX-License-Identifier: Apache-2.0
#include "sync/acquisition.hpp"

#include "sync/acquire.hpp"
#include "sync/engine.hpp"
#include "sync/gate.hpp"

#include <utility>

namespace holdfast::sync {

acquisition::acquisition(std::shared_ptr<engine> e, request r)
    : home{std::move(e)}
    , wanted{std::move(r)}
    , started_at{home->now()} {}

acquisition::bed::bed(acquisition& call)
    : call_{call} {
    call.wake_ = call.home->time().make_alarm();
}

bool acquisition::finish() {
    if (finished_)
        return false;
    finished_ = true;
    home->acquisition_over(*this);
    if (wake_)
        wake_->ring(); // whatever it waits for is no longer worth it
    return true;
}

void acquisition::succeed(std::shared_ptr<wire_hold> held) {
    if (!finish())
        return;
    home->tell_of(*held, event_kind::acquired, event_cause::none, home->now() - started_at);
    complete(std::move(held), {});
}

void acquisition::give_up_busy() {
    if (!finish())
        return;
    home->tell_of_wait(*this, event_cause::timed_out, {});
    complete(nullptr, {});
}

void acquisition::fail(failure why, event_cause cause) {
    if (!finish())
        return;
    home->tell_of_wait(*this, cause, why);
    complete(nullptr, why);
}

void acquisition::cancel() {
    fail({asio::error::operation_aborted, "the wait was cancelled"}, event_cause::cancelled);
}

namespace {

/// Waits until this call is the one of its client that may ask the store. False: it is over.
asio::awaitable<bool> wait_for_turn(acquisition& call, const turn& here) {
    while (!here.may_negotiate()) {
        const bool timed_out = call.home->now() >= call.wanted.give_up_at;
        if (timed_out || !call.wanted.patient)
            call.give_up_busy();
        if (call.finished())
            co_return false;
        co_await call.wake().wait_until(call.wanted.give_up_at);
    }
    co_return !call.finished();
}

} // namespace

asio::awaitable<void> run(std::shared_ptr<acquisition> call) {
    const std::shared_ptr<engine> home = call->home;
    const engine::task busy{*home}; // closing waits until what it may have taken is undone
    const acquisition::bed sleeps_here{*call};
    try {
        // Left only after the hold is in the gate, or nothing will come.
        turn here{home->queues(), call->wanted.name.text, call->wake()};
        if (!co_await wait_for_turn(*call, here))
            co_return;
        std::shared_ptr<wire_hold> held = co_await acquire(call);
        if (!held)
            co_return;
        here.take(held);
        home->renewals().watch(held);
        call->succeed(std::move(held));
    } catch (const boost::system::system_error& e) {
        call->fail({e.code(), e.what()});
    }
}

} // namespace holdfast::sync
