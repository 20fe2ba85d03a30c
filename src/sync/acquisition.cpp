// SPDX-License-Identifier: Apache-2.0
#include "sync/acquisition.hpp"

#include "sync/acquisition_loop.hpp"
#include "sync/engine.hpp"

#include <algorithm>
#include <atomic>

namespace holdfast::sync {

std::uint64_t next_call_number(const engine& home) {
    static std::atomic<std::uint64_t> last{0};
    return home.how().observer ? last.fetch_add(1, std::memory_order_relaxed) + 1 : 0;
}

acquisition::acquisition(request r)
    : wanted{std::move(r)}
    , home{wanted.of->home}
    , started_at{home->now()}
    , number{next_call_number(*home)} {}

acquisition::alarm_holder::alarm_holder(acquisition& call)
    : call_{call} {
    call.wake_ = call.home->time().make_alarm();
}

void acquisition::stand_in(queue& where) {
    where.push_back(*this);
    keep_ = shared_from_this();
}

std::shared_ptr<acquisition> acquisition::step_out() {
    if (queued_.is_linked())
        queued_.unlink();
    return std::move(keep_);
}

/// Marks the call as finished. Returns a pointer that keeps the call alive, because the queue may
/// have had the only other pointer to the call. Returns null if the call was finished already.
std::shared_ptr<acquisition> acquisition::finish() {
    if (std::exchange(finished_, true))
        return nullptr;
    std::shared_ptr<acquisition> self = shared_from_this();
    const bool stood_in_queue = queued_.is_linked();
    (void)step_out();
    home->acquisition_over(*this);
    if (stood_in_queue)
        home->left_queue(*this);
    if (wake_)
        wake_->ring(); // ends the sleep of the call's coroutine
    return self;
}

void acquisition::tell(outcome got) {
    run_users_own(home->executor(), [&] { complete(std::move(got)); });
}

namespace {

/// Returns the pointer to the hold that the caller gets. Several calls may share a read hold, so
/// each call gets its own share. An upgrade later checks which of these shares have ended.
std::shared_ptr<lock_handle> handed_out(const std::shared_ptr<held_lock>& held) {
    return held->what.kind == lock_kind::read ? held->one_share() : held;
}

} // namespace

void acquisition::succeed(std::shared_ptr<held_lock> held) {
    const auto self = finish();
    if (!self)
        return;
    held->call_number = number;
    home->tell_of(*held, event_kind::acquired, event_cause::none, home->now() - started_at);
    tell({handed_out(held)});
}

void acquisition::share(std::shared_ptr<held_lock> held) {
    const auto self = finish();
    if (!self)
        return;
    home->tell_joined(*this, *held);
    tell({handed_out(held)});
}

void acquisition::succeed_jointly(std::shared_ptr<lock_handle> held) {
    if (const auto self = finish())
        tell({std::move(held)});
}

bool acquisition::succeed_counted() {
    const auto self = finish();
    if (!self)
        return false;
    home->tell_of_count(*this);
    tell({.counted = true});
    return true;
}

void acquisition::give_up_busy() {
    const auto self = finish();
    if (!self)
        return;
    home->tell_of_wait(*this, event_cause::timed_out, {});
    tell({});
}

void acquisition::fail(failure why, event_cause cause) {
    const auto self = finish();
    if (!self)
        return;
    home->tell_of_wait(*this, cause, why);
    tell({nullptr, std::move(why)});
}

void acquisition::cancel() {
    fail({asio::error::operation_aborted, "the wait was cancelled"}, event_cause::cancelled);
}

namespace {

/// Guard of the right to ask the store about a lock name; only one call of this client has this
/// right at a time. Its destructor passes the right to the next call for the same name.
class turn {
public:
    explicit turn(acquisition& call, gate& here)
        : call_{call}
        , here_{here} {
        here_.enter_negotiation(call);
    }
    turn(const turn&) = delete;
    ~turn() {
        here_.end_negotiation(call_);
        call_.home->next_turn(key_of(call_), here_);
    }

private:
    const acquisition& call_;
    gate& here_;
};

/// How long this client waits after a release before it acquires the lock again. Without this
/// pause, other clients would never get the lock, because the notification of the release reaches
/// them too late.
constexpr duration head_start{2};

asio::awaitable<void> let_others_try(acquisition& call, gate& here) {
    here.owe_courtesy(false);
    const time_point until = later(call.home->now(), head_start);
    co_await call.wake().wait_until(std::min(until, call.wanted.give_up_at));
}

/// Waits, so that other clients can acquire the spin lock. These clients poll, and would never find
/// the lock free if this client acquired it again at once after each release.
asio::awaitable<void> leave_to_others(acquisition& call) {
    engine& home = *call.home;
    const time_point until = home.queues().left_to_others_until(key_of(call));
    while (!call.finished() && home.now() < std::min(until, call.wanted.give_up_at))
        co_await call.wake().wait_until(std::min(until, call.wanted.give_up_at));
}

/// Delays a new reader, so that a waiting writer of Redisson can get the lock. Such a writer does
/// not announce itself, and gets the lock only while there is no reader.
///
/// Does nothing if no other client was subscribed to the lock's channel at the last release.
/// Otherwise waits until this client's last reader has released the lock, but at most
/// `hand_off.within` from the start of the call. Then pauses for a short time, so that the requests
/// of other clients arrive first.
asio::awaitable<void> leave_a_gap(acquisition& call, gate& here) {
    engine& home = *call.home;
    if (call.wanted.under || !call.wanted.patient || !home.queues().others_listen(key_of(call)))
        co_return;
    const time_point until = later(call.started_at, home.how().hand_off.within);
    const time_point end = std::min(until, call.wanted.give_up_at);
    const bool must_wait = !here.readers().empty();
    {
        const gate::registered_alarm rung{here, call.wake()};
        while (!here.readers().empty() && !call.finished() && home.now() < end)
            co_await call.wake().wait_until(end);
    }
    if (must_wait && here.readers().empty() && !call.finished())
        co_await let_others_try(call, here);
}

/// Throws `lease_lost` if the caller's first hold was released in the meantime. The call requests a
/// second hold in addition to the first. Another client may have held the lock since the first hold
/// ended.
void must_have_its_share(const request& wanted) {
    if (wanted.under && (wanted.share.expired() || !wanted.under->is_valid()))
        throw boost::system::system_error{make_error_code(errc::lease_lost),
                                          "the caller's other hold on this lock was released"};
}

/// Links a read hold and a write hold that this client has on the same lock. The store keeps both
/// holds until the later of their leases ends. So the store may keep the write hold as long as the
/// read hold.
void note_linked_hold(const acquisition& call, const std::shared_ptr<held_lock>& held) {
    if (!call.wanted.under)
        return;
    if (held->what.kind == lock_kind::read)
        call.wanted.under->stands_with(held);
    else
        held->stands_with(call.wanted.under);
}

asio::awaitable<void> take_jointly(std::shared_ptr<acquisition> call) {
    std::shared_ptr<lock_handle> held = co_await call->wanted.of->take(call);
    if (held)
        call->succeed_jointly(std::move(held));
    else
        call->give_up_busy();
}

/// Completes the calls that wait for a latch, after a request has found the latch open. Only calls
/// that began before that request was sent are completed.
void let_through(gate& here, time_point looked_at) {
    std::vector<std::shared_ptr<acquisition>> all;
    while (acquisition* const next = here.first()) {
        if (next->started_at >= looked_at)
            break; // this call began after the request that found the latch open
        all.push_back(next->step_out());
    }
    for (const std::shared_ptr<acquisition>& each : all)
        (void)each->succeed_counted();
}

/// How long a call waits for permits that other callers of this client release, before it asks the
/// store. The pause avoids a request that would have to be undone if such permits arrive first.
constexpr duration pass_timeout{2};

asio::awaitable<void> await_pass(acquisition& call, gate& here) {
    if (here.passes() == 0 || !call.wanted.patient)
        co_return;
    call.home->found_busy(call);
    const time_point until = later(call.home->now(), pass_timeout);
    co_await call.wake().wait_until(std::min(until, call.wanted.give_up_at));
}

asio::awaitable<void> take_counted(std::shared_ptr<acquisition> call, gate& here) {
    co_await await_pass(*call, here);
    const std::optional<grant> got = co_await acquire(call);
    if (!got)
        co_return;
    if (call->wanted.of->counts() == counter_kind::latch)
        let_through(here, got->sent_at);
    here.note_store_use(call->home->now());
    (void)call->succeed_counted();
}

} // namespace

asio::awaitable<void> negotiate(std::shared_ptr<acquisition> call) {
    const std::shared_ptr<engine> home = call->home;
    const engine::task busy{*home}; // close() waits until an unwanted grant is undone
    const acquisition::alarm_holder sleeps_here{*call};
    gate& here = *home->queues().find(key_of(*call));
    // The destructor of this guard lets the next queued call start. The destructor runs only after
    // the new hold was added to the local wait queue, so that the next call sees the hold.
    const turn ours{*call, here};
    try {
        if (call->wanted.of->is_joint()) {
            co_await take_jointly(call);
            co_return;
        }
        if (call->wanted.of->counts()) {
            co_await take_counted(call, here);
            co_return;
        }
        // Check here whether the call must let other clients try first. Usually it need not, and
        // then no coroutine is created for the wait.
        if (here.owes_courtesy())
            co_await let_others_try(*call, here);
        if (call->wanted.of->polls)
            co_await leave_to_others(*call);
        if (call->wanted.of->kind == lock_kind::read)
            co_await leave_a_gap(*call, here);
        if (call->finished())
            co_return;
        must_have_its_share(call->wanted);
        const std::size_t revalidations = home->renewals().revalidations();
        const std::optional<grant> got = co_await acquire(call);
        if (!got)
            co_return;
        auto held = std::make_shared<held_lock>(call->wanted, *got);
        held->others_listen = home->queues().others_listen(key_of(held->what));
        if (!got->is_brief) // a brief grant came without a request
            held->round_trip = held->granted_at - got->sent_at;
        if (family_of(held->what.kind) != family::shared)
            here.revalidate_holder();
        note_linked_hold(*call, held);
        here.enter(held);
        home->renewals().watch(held);
        if (home->renewals().revalidations() != revalidations)
            home->renewals().request_soon(*held);
        call->succeed(std::move(held));
    } catch (const boost::system::system_error& e) {
        if (call->wanted.under && e.code() == errc::lease_lost)
            call->wanted.under->revalidate();
        call->fail({e.code(), e.what()});
    }
}

} // namespace holdfast::sync
