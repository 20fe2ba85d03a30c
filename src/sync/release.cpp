// SPDX-License-Identifier: Apache-2.0
#include "sync/release.hpp"

#include "sync/engine.hpp"
#include "sync/extend.hpp"
#include "sync/hand_off.hpp"
#include "sync/outage.hpp"
#include "sync/undo.hpp"
#include "sync/users_own.hpp"

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
    releasing(std::shared_ptr<wire_hold> held, release_handler done)
        : held_{std::move(held)}
        , done_{std::move(done)}
        , started_at_{held_->home->now()}
        , busy_{*held_->home} {}

    void acknowledged(const release_answer& said) {
        held_->end_release();
        held_->tell_company_of_release();
        // Do this before the handler is called: the handler may ask for the lock again at once.
        held_->home->released(*held_, said.others_listen);
        // After a lost reply, "not ours" may be the result of this client's own earlier request.
        // That counts as success.
        const bool well = said.was_ours || uncertain_;
        if (!reported_)
            report_end(well);
        answer(well ? failure{} : lost_before());
    }

    /// Returns when to try again: after the pause. It is not later than the caller's deadline, and
    /// not later than the time when the store has surely forgotten the hold.
    time_point next_try(duration pause) const {
        const time_point next = std::min(later(held_->home->now(), pause), held_->remains_until());
        return done_ ? std::min(next, patience_ends()) : next;
    }

    /// Handles a failure. Returns whether to try again. Completes the caller's release when its
    /// timeout has passed.
    bool failed(const boost::system::system_error& e) {
        engine& home = *held_->home;
        home.hold_over(*held_); // a local waiter may now ask the store
        uncertain_ = uncertain_ || e.code() == errc::outcome_unknown;
        const bool over = home.stopped() || home.now() >= held_->remains_until();
        const bool denied = said_no(e.code());
        if (over)
            held_->end_release();
        if (over || denied)
            report(e);
        if (denied)
            busy_.expect_nothing();
        if (over || denied || home.now() >= patience_ends())
            answer({e.code(), e.what()});
        return !over;
    }

private:
    time_point patience_ends() const {
        return later(started_at_, held_->home->how().release_patience);
    }
    duration held_for() const { return held_->home->now() - held_->granted_at; }
    void report_end(bool well) {
        if (well)
            held_->home->tell_of(*held_, event_kind::released, event_cause::none, held_for());
        else
            held_->home->tell_lost(*held_, event_cause::refused);
    }
    void report(const boost::system::system_error& e) {
        if (!std::exchange(reported_, true))
            held_->home->tell_of(*held_, event_kind::release_failed, event_cause::failed,
                                 held_for(), &e);
    }
    void answer(failure outcome) {
        if (done_)
            tell(*held_->home, std::move(done_), std::move(outcome));
    }

    std::shared_ptr<wire_hold> held_;
    release_handler done_;
    const time_point started_at_;
    engine::task busy_;
    bool uncertain_ = false;
    // True after the failure was reported. Observers that count holds have then subtracted this
    // hold already.
    bool reported_ = false;
};

asio::awaitable<void> run(std::shared_ptr<wire_hold> held, release_handler done) {
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

void release(std::shared_ptr<wire_hold> held, release_handler done) {
    const asio::any_io_executor where = held->home->executor();
    release(std::move(held), std::move(done), where);
}

void release(std::shared_ptr<wire_hold> held, release_handler done,
             const asio::any_io_executor& where) {
    const std::shared_ptr<engine> home = held->home;
    switch (held->unshare()) {
    case wire_hold::left::others:
        if (held->deserted())
            home->abandon(held);
        else
            home->fewer_share(*held);
        return tell(*home, std::move(done),
                    home->now() < held->ends_at() ? failure{} : lost_before());
    case wire_hold::left::was_lost:
        return tell(*home, std::move(done), lost_before());
    case wire_hold::left::was_ended:
        return tell(*home, std::move(done),
                    failure{make_error_code(home->closing() ? errc::closed : errc::not_owner),
                            "it was released before"});
    case wire_hold::left::nobody:
        break;
    }
    if (home->now() >= held->ends_at()) {
        home->hold_lost(held, event_cause::term_ended);
        return tell(*home, std::move(done), lost_before());
    }
    if (hand_on(held))
        return tell(*home, std::move(done), failure{});
    // Stop the renewal before the release is sent, because a released hold must not be renewed.
    home->renewals().forget(*held);
    held->begin_release();
    home->spawn(run(std::move(held), std::move(done)), where);
}

} // namespace holdfast::sync
