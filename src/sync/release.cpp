// SPDX-License-Identifier: Apache-2.0
#include "sync/release.hpp"

#include "sync/engine.hpp"
#include "sync/gate.hpp"
#include "sync/renewal.hpp"
#include "sync/retry_policy.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sync {
namespace {

failure lost_before() {
    return {make_error_code(errc::lease_lost), "the lease had ended before it was released"};
}

/// A release in progress, from its first request to the acknowledgement of the store.
class releasing {
public:
    releasing(std::shared_ptr<held_lock> held, release_handler done)
        : held_{std::move(held)}
        , done_{std::move(done)}
        , started_at_{held_->home->now()}
        , busy_{*held_->home} {}

    void acknowledged(const release_answer& said) {
        held_->end_release();
        held_->tell_linked_of_release();
        // Record the release before the handler is called, because the handler may request the lock
        // again at once.
        held_->home->released(*held_, said.others_listen);
        // If the reply to an earlier request was lost, that request may have released the lock.
        // Then the reply "not ours" to a later request means success.
        const bool well = said.was_ours || uncertain_;
        if (!well)
            held_->note_loss(event_cause::refused);
        if (!reported_)
            report_end(well);
        answer(well ? failure{} : lost_before());
    }

    /// Returns when to try again: after the pause, but not later than the caller's deadline, and
    /// not later than the time when the store has certainly forgotten the hold.
    time_point next_try(duration pause) const {
        const time_point next = std::min(later(held_->home->now(), pause), held_->remains_until());
        return done_ ? std::min(next, timeout_ends()) : next;
    }

    /// Handles a failed release request. Returns whether to try again. If the caller's timeout has
    /// passed, completes the caller's call, while the release itself continues.
    bool failed(const boost::system::system_error& e) {
        engine& home = *held_->home;
        home.hold_over(*held_); // from now on a local waiter may ask the store
        uncertain_ = uncertain_ || e.code() == errc::outcome_unknown;
        const bool over = home.stopped() || home.now() >= held_->remains_until();
        const bool denied = is_refusal(e.code());
        if (over)
            held_->end_release();
        if (over || denied)
            report(e);
        if (denied)
            busy_.expect_nothing();
        if (over || denied || home.now() >= timeout_ends())
            answer({e.code(), e.what()});
        return !over;
    }

private:
    time_point timeout_ends() const {
        return later(started_at_, held_->home->how().release_timeout);
    }
    duration held_for() const { return held_->home->now() - held_->granted_at; }
    void report_end(bool well) {
        if (held_->told_lost)
            return;
        if (well)
            held_->home->tell_of(*held_, event_kind::released, event_cause::none, held_for());
        else
            held_->home->tell_lost(*held_, event_cause::refused);
    }
    void report(const boost::system::system_error& e) {
        if (!held_->told_lost && !std::exchange(reported_, true))
            held_->home->tell_of(*held_, event_kind::release_failed, event_cause::failed,
                                 held_for(), &e);
    }
    void answer(failure outcome) {
        if (done_)
            tell(*held_->home, std::move(done_), std::move(outcome));
    }

    std::shared_ptr<held_lock> held_;
    release_handler done_;
    const time_point started_at_;
    engine::task busy_;
    bool uncertain_ = false;
    // True after the failure was reported to the observer. An observer that counts holds has then
    // already subtracted this hold.
    bool reported_ = false;
};

asio::awaitable<void> run(std::shared_ptr<held_lock> held, release_handler done) {
    engine& home = *held->home;
    releasing it{held, std::move(done)};
    pauses pause{home};
    time_point sent_at{};
    for (bool again = true; again;) {
        sent_at = home.now();
        duration rest{};
        try {
            const release_answer said = co_await home.locks().release(held->what);
            it.acknowledged(said);
            again = false;
        } catch (const boost::system::system_error& e) {
            again = it.failed(e);
            rest = pause.next(e.code());
        }
        if (again)
            co_await home.nap(it.next_try(rest));
    }
    release_when_settled(held, sent_at);
}

} // namespace

void tell(const engine& home, release_handler whom, failure outcome) {
    run_users_own(home.executor(), [&] { std::move(whom)(std::move(outcome)); });
}

void release(std::shared_ptr<held_lock> held, release_handler done) {
    const asio::any_io_executor where = held->home->executor();
    release(std::move(held), std::move(done), where);
}

void release(std::shared_ptr<held_lock> held, release_handler done,
             const asio::any_io_executor& where) {
    const std::shared_ptr<engine> home = held->home;
    switch (held->unshare()) {
    case held_lock::left::others:
        if (held->deserted())
            home->abandon(held);
        else
            home->fewer_share(*held);
        return tell(*home, std::move(done),
                    home->now() < held->ends_at() ? failure{} : lost_before());
    case held_lock::left::was_lost:
        return tell(*home, std::move(done), lost_before());
    case held_lock::left::was_ended:
        return tell(*home, std::move(done),
                    failure{make_error_code(home->closing() ? errc::closed : errc::not_owner),
                            "it was released before"});
    case held_lock::left::nobody:
        break;
    }
    if (home->now() >= held->ends_at()) {
        home->hold_lost(held, held->cause_of_expiry());
        return tell(*home, std::move(done), lost_before());
    }
    if (hand_on(held))
        return tell(*home, std::move(done), failure{});
    // Stop the renewal before the release is sent, because a released hold must not be renewed.
    home->renewals().forget(*held);
    held->begin_release();
    home->spawn(run(std::move(held), std::move(done)), where);
}

namespace {

/// Calls the function `step` until it succeeds, or until the time `gone()` is reached. `step`
/// removes something from the store: a hold, or a place in a queue. At the time `gone()`, the store
/// has removed it by itself, so another try is not needed. This time may change during the call.
template <typename Gone, typename Step>
asio::awaitable<void> repeat_until(engine& home, engine::task& busy, Gone gone, Step step) {
    pauses pause{home};
    while (!home.stopped() && home.now() < gone()) {
        duration rest{};
        try {
            co_await step();
            co_return;
        } catch (const boost::system::system_error& e) {
            if (is_refusal(e.code()))
                busy.expect_nothing();
            rest = pause.next(e.code());
        }
        co_await home.nap(std::min(gone(), later(home.now(), rest)));
    }
}

asio::awaitable<void> release_all(engine& home, engine::task& busy, const held_lock& ended) {
    // In a store with sessions, repeat the release for longer. For example, after a suspension of
    // the process this client may assume that its session has ended, although the session lives.
    // The server then keeps the hold, because this client keeps the session alive.
    const limits bounds = home.bounds();
    const time_point tried_until =
        bounds.by_session ? later(home.now(), bounds.time_limit) : time_point::min();
    auto gone = [&ended, tried_until] { return std::max(ended.remains_until(), tried_until); };
    auto release = [&home, &ended] { return home.locks().release(ended.what); };
    co_await repeat_until(home, busy, gone, release);
    ended.tell_linked_of_release();
}

asio::awaitable<void> release_write_again(std::shared_ptr<held_lock> read, hold write) {
    engine& home = *read->home;
    engine::task busy{home};
    auto gone = [&read] { return read->store_forgets_at(); };
    auto release = [&home, &write] { return home.locks().release(write); };
    co_await repeat_until(home, busy, gone, release);
}

/// An attempt to acquire a lock that must be undone. The waiter at the store (`spot`) may ring the
/// alarm `wake`, so `spot` is declared after `wake` and destroyed before it.
struct abandoned {
    abandoned(acquisition& call, owner_id o, std::unique_ptr<place> s)
        : home{call.home}
        , what{call.name(), o, call.wanted.of->kind}
        , wake{call.take_wake()}
        , spot{std::move(s)}
        , kept{call.wanted.lasts_unwanted()}
        , under{call.wanted.under} {}
    std::shared_ptr<engine> home;
    hold what;
    std::unique_ptr<alarm> wake;
    std::unique_ptr<place> spot;
    duration kept; ///< how long the store keeps a hold or a queue entry if nobody removes it
    // Write hold of the same caller. The store keeps this write hold as long as the read hold of
    // the undone attempt exists.
    std::shared_ptr<held_lock> under;
};

// Functions that clean up after an attempt. The waiter leaves the store's queue now, and once more
// at `settled_at`, because until then the store may still execute a request that got no reply.

asio::awaitable<void> clean_up(abandoned it) {
    engine& home = *it.home;
    engine::task busy{home};
    place& spot = *it.spot;
    const bool uncertain = spot.uncertain();
    const time_point settled_at = std::max(spot.settled_at(), home.now());
    const time_point gone_at = forgotten_at(settled_at, it.kept);
    auto gone = [&it, gone_at] {
        return it.under ? std::max(gone_at, it.under->store_forgets_at()) : gone_at;
    };
    auto leave = [&spot] { return spot.leave(); };
    co_await repeat_until(home, busy, gone, leave);
    if (it.under && it.what.kind == lock_kind::write)
        it.under->note_released_write(it.what);
    if (!uncertain)
        co_return;
    co_await home.nap(settled_at);
    co_await repeat_until(home, busy, gone, leave);
}

asio::awaitable<void> release_again(engine& home, engine::task& busy, const held_lock& ended) {
    co_await home.nap(ended.settled_at);
    co_await release_all(home, busy, ended);
}

asio::awaitable<void> clean_up_settled(std::shared_ptr<held_lock> ended) {
    engine& home = *ended->home;
    engine::task busy{home};
    co_await release_again(home, busy, *ended);
}

asio::awaitable<void> clean_up_after(std::shared_ptr<held_lock> ended) {
    engine& home = *ended->home;
    engine::task busy{home};
    const time_point began = home.now();
    co_await release_all(home, busy, *ended);
    if (ended->settled_at > began)
        co_await release_again(home, busy, *ended);
}

} // namespace

void undo(acquisition& call, owner_id owner, std::unique_ptr<place> spot) {
    call.home->spawn(clean_up(abandoned{call, owner, std::move(spot)}));
}

void release_when_settled(std::shared_ptr<held_lock> ended, time_point asked_at) {
    const std::shared_ptr<engine> home = ended->home;
    if (ended->settled_at > asked_at)
        home->spawn(clean_up_settled(std::move(ended)));
}

void release_remains(std::shared_ptr<held_lock> ended) {
    const std::shared_ptr<engine> home = ended->home;
    home->spawn(clean_up_after(std::move(ended)));
}

void release_writes_again(const std::shared_ptr<held_lock>& read) {
    for (hold& write : read->released_writes())
        read->home->spawn(release_write_again(read, std::move(write)));
}

void release_late_remains(const std::shared_ptr<held_lock>& held) {
    if (held->now_in() == held_lock::phase::lost)
        release_remains(held);
}

} // namespace holdfast::sync
