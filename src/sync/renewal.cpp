// SPDX-License-Identifier: Apache-2.0
#include "sync/renewal.hpp"

#include "sync/engine.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sync {

renewal::renewal(engine& e)
    : engine_{e}
    , alarm_{e.time().make_alarm()} {}

void renewal::watch(const shared_hold& held) {
    held->watched = engine_.locks().watch_over(held->what, *held);
    set_next_contact(*held, engine_.now());
    schedule(held);
}

void renewal::pass_on(wire_hold& held, const shared_hold& heir) {
    forget(held);
    heir->watched = engine_.locks().watch_over(heir->what, *heir);
    heir->contact_at = held.contact_at;
    schedule(heir);
}

void renewal::reschedule(const shared_hold& held) {
    if (!held->entry)
        return;
    set_next_contact(*held, engine_.now());
    schedule(held);
}

void renewal::abandon(const shared_hold& held) {
    held->set_lease(held->lease(), false);
    if (held->entry && !std::exchange(held->abandoned, true))
        ++abandoned_;
    reschedule(held);
}

/// Earlier by up to a tenth, so that holds granted together do not stay in step for ever.
void renewal::set_next_contact(wire_hold& held, time_point last) {
    const duration period = renewal_period(held.lease());
    held.contact_at = later(last, period - engine_.jitter(period / 10));
}

void renewal::forget(wire_hold& held) {
    if (!held.entry)
        return;
    held.watched.reset();
    if (held.abandoned)
        --abandoned_;
    const auto entry = *held.entry;
    held.entry.reset();
    agenda_.erase(entry);
}

void renewal::contact_soon(wire_hold& held) {
    if (!held.entry)
        return;
    held.contact_at = engine_.now();
    schedule((*held.entry)->second);
}

time_point renewal::next_action(const wire_hold& held) const {
    const time_point end = held.ends_at();
    time_point next = held.in_flight ? end : std::min(held.contact_at, end);
    if (held.to_be_warned())
        next = std::min(next, end - danger_period(held.lease()));
    return next;
}

void renewal::schedule(const shared_hold& held) {
    if (stopped_)
        return;
    // The argument may live in the entry that is erased, so the new one is made before.
    const auto entry = agenda_.emplace(next_action(*held), held);
    const std::optional<agenda::iterator> before = std::exchange(entry->second->entry, entry);
    if (before)
        agenda_.erase(*before);
    wake_for(entry->first);
}

/// A loop that sleeps longer than that is rung; one that has ended is started again. A busy client
/// takes and releases thousands of locks while it sleeps once.
void renewal::wake_for(time_point when) {
    if (!running_) {
        running_ = true;
        engine_.spawn(run(engine_.shared_from_this()));
    } else if (when < sleeping_until_) {
        alarm_->ring();
    }
}

asio::awaitable<void> renewal::run(std::shared_ptr<engine> home) {
    renewal& self = home->renewals();
    while (!self.stopped_ && !self.agenda_.empty()) {
        self.sleeping_until_ = self.agenda_.begin()->first;
        co_await self.alarm_->wait_until(self.sleeping_until_);
        self.act_on_due();
    }
    self.running_ = false;
}

namespace {

/// Due, or nearly so while somebody travels there anyway.
bool may_travel(const wire_hold& held, time_point now) {
    return !held.in_flight && held.contact_at <= later(now, held.lease() / 30);
}

} // namespace

void renewal::act_on_due() {
    const time_point now = engine_.now();
    std::map<duration, batch> contacts; // one request asks for one length
    batch due;
    for (const auto& [when, held] : agenda_) {
        if (when > later(now, gather_within))
            break;
        if (when <= now || may_travel(*held, now))
            due.push_back(held);
    }
    for (const shared_hold& held : due)
        act_on(held, now, contacts);
    for (auto& [lease, holds] : contacts)
        engine_.spawn(contact(engine_.shared_from_this(), std::move(holds), lease));
}

void renewal::act_on(const shared_hold& held, time_point now, std::map<duration, batch>& contacts) {
    if (!held->entry)
        return; // what came before it in this turn ended it
    const duration left = held->ends_at() - now;
    if (left <= duration::zero()) {
        engine_.hold_lost(held,
                          held->out_of_time() ? event_cause::max_hold : event_cause::term_ended);
        return;
    }
    const duration lease = held->lease();
    if (held->to_be_warned() && left <= danger_period(lease)) {
        held->warn();
        engine_.tell_of(*held, event_kind::in_danger, event_cause::none, left);
        if (!held->entry)
            return; // released by a callback of the warning
    }
    if (may_travel(*held, now)) {
        held->in_flight = true;
        contacts[held->renewed() && !held->out_of_time() ? lease : duration::zero()].push_back(
            held);
    }
    schedule(held);
}

asio::awaitable<void> renewal::contact(std::shared_ptr<engine> home, batch holds, duration lease) {
    renewal& self = home->renewals();
    std::vector<hold> asked;
    asked.reserve(holds.size());
    for (const shared_hold& held : holds)
        asked.push_back(held->what);
    const time_point sent_at = home->now();
    try {
        const std::vector<answer> answers = co_await home->locks().renew(std::move(asked), lease);
        for (std::size_t i = 0; i < holds.size(); ++i) {
            holds[i]->in_flight = false;
            answer said = answers.at(i);
            if (lease == duration::zero())
                said.term = duration::zero();
            self.answered(holds[i], sent_at, said);
        }
    } catch (const boost::system::system_error& e) {
        // Unreachable is not lost: the terms still run.
        for (const shared_hold& held : holds) {
            held->in_flight = false;
            if (e.code() == errc::outcome_unknown)
                held->perhaps_extended(lease);
            self.failed(held, e);
        }
    }
}

void renewal::answered(const shared_hold& held, time_point sent_at, const answer& said) {
    if (!held->entry)
        return; // released or lost while we asked
    if (!said.granted && !planted(mutant::refusal_ignored)) {
        engine_.hold_lost(held, event_cause::refused);
        return;
    }
    if (said.term > duration::zero())
        held->extend(sent_at, said.term);
    set_next_contact(*held, sent_at);
    schedule(held);
}

void renewal::failed(const shared_hold& held, const boost::system::system_error& e) {
    if (!held->entry || planted(mutant::renewal_gives_up))
        return;
    engine_.tell_of(*held, event_kind::renewal_failed, event_cause::failed, held->remaining(), &e);
    const duration pause = retry_period(held->lease());
    held->contact_at = later(engine_.now(), pause - engine_.jitter(pause / 2));
    schedule(held);
}

std::vector<std::shared_ptr<wire_hold>> renewal::all() const {
    std::vector<shared_hold> holds;
    for (const auto& [when, held] : agenda_)
        holds.push_back(held);
    return holds;
}

void renewal::stop() {
    stopped_ = true;
    for (auto& [when, held] : agenda_) {
        held->watched.reset();
        held->entry.reset();
    }
    agenda_.clear();
    abandoned_ = 0;
    if (running_)
        alarm_->ring();
}

} // namespace holdfast::sync
