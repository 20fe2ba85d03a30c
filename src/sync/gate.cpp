// SPDX-License-Identifier: Apache-2.0
#include "sync/gate.hpp"

#include "sync/family.hpp"

#include <algorithm>

namespace holdfast::sync {
namespace {

bool reads(const acquisition& call) {
    return call.wanted.of->kind == lock_kind::read;
}

bool upgrades(const acquisition& call) {
    return call.wanted.under && !reads(call);
}

} // namespace

gate::hold_set gate::holds() const {
    hold_set all = readers_;
    all.insert(all.end(), displaced_.begin(), displaced_.end());
    if (holder_)
        all.push_back(holder_);
    return all;
}

bool gate::unused() const {
    return !holder_ && readers_.empty() && displaced_.empty() && nobody_negotiates() &&
           queue_.empty() && upgrade_.empty() && !sent_off_;
}

// Who holds already, and asks for more, passes whoever queues: that one waits for the hold.
bool gate::admits(const acquisition& call) const {
    if (upgrades(call))
        return call.wanted.share.expired() || !call.wanted.under->shared_by_others();
    return reads(call) ? admits_reader(call) : admits_alone(call);
}

bool gate::admits_alone(const acquisition& call) const {
    const bool is_next = queue_.empty() || &queue_.front() == &call;
    if (!is_next)
        return false;
    if (queues_in_store(family_of(call.wanted.of->kind)))
        return asking_ == 0 && !is_on_its_way_out(); // or it would find its own client's hold
    return !holder_ && readers_.empty() && nobody_negotiates();
}

bool gate::is_on_its_way_out() const {
    return holder_ && (holder_->release_follows() ||
                       (holder_->deferred() && holder_->now_in() == wire_hold::phase::releasing));
}

/// Beside other readers; but one that can share what another is about to get waits for that, if it
/// has the patience.
bool gate::admits_reader(const acquisition& call) const {
    if (call.wanted.under)
        return true;
    const bool may_wait = call.wanted.patient && may_share(call.wanted);
    return !(may_wait && sharable_ > 0) && !writer_before(call);
}

bool gate::writer_before(const acquisition& reader) const {
    if (alone_ > 0 || !upgrade_.empty())
        return true;
    if (holder_ && !planted(mutant::reader_joins_beside_writer))
        return true;
    for (const acquisition& each : queue_) {
        if (&each == &reader || planted(mutant::reader_joins_past_writer))
            return false;
        if (!reads(each))
            return true;
    }
    return false;
}

bool gate::has_upgrade_against(const acquisition& call) const {
    return upgrades(call) && ((upgrading_ && !upgrading_->finished()) || !upgrade_.empty());
}

bool gate::is_about_to_be_left() const {
    const auto follows = [](const shared_hold& held) { return held->release_follows(); };
    return nobody_negotiates() && queue_.empty() &&
           ((holder_ && follows(holder_)) ||
            std::any_of(readers_.begin(), readers_.end(), follows));
}

bool gate::is_being_left() const {
    const auto stays = [](const shared_hold& held) {
        return !held->deferred() || held->now_in() != wire_hold::phase::releasing;
    };
    return nobody_negotiates() && queue_.empty() && (holder_ || !readers_.empty()) &&
           !(holder_ && stays(holder_)) && std::none_of(readers_.begin(), readers_.end(), stays);
}

void gate::line_up(acquisition& waits) {
    waits.stand_in(upgrades(waits) ? upgrade_ : queue_);
}

void gate::begin_negotiation(const acquisition& call) {
    ++asking_;
    if (upgrades(call))
        upgrading_ = &call;
    count(call, 1);
}

void gate::end_negotiation(const acquisition& call) {
    asking_ -= call.waits_there() ? 0 : 1;
    if (upgrading_ == &call)
        upgrading_ = nullptr;
    count(call, -1);
}

void gate::count(const acquisition& call, int by) {
    (reads(call) ? reads_ : alone_) += by;
    if (may_share(call.wanted))
        sharable_ += by;
}

void gate::enter(shared_hold held) {
    if (held->what.kind == lock_kind::read)
        readers_.push_back(std::move(held));
    else
        holder_ = std::move(held);
}

bool gate::drop(const wire_hold& held) {
    if (holder_.get() == &held) {
        holder_.reset();
        return true;
    }
    const auto is_it = [&held](const shared_hold& each) { return each.get() == &held; };
    if (std::erase_if(readers_, is_it) == 0)
        return false;
    if (readers_.empty())
        ring();
    return true;
}

void gate::ring() const {
    for (alarm* const each : bells_)
        each->ring();
}

void gate::doubt_holder() {
    if (!holder_ || !holder_->believed())
        return;
    holder_->doubt();
    displaced_.push_back(std::move(holder_));
}

bool gate::forget_displaced(const wire_hold& ended) {
    return std::erase_if(displaced_, [&ended](const auto& each) { return each.get() == &ended; }) >
           0;
}

void gate::open_behind(const wire_hold& leaving) {
    holder_.reset();
    sent_off_ = &leaving;
}

bool gate::acknowledged(const wire_hold& left) {
    if (sent_off_ != &left)
        return false;
    sent_off_ = nullptr;
    ring();
    return true;
}

void gate::let_go() {
    holder_.reset();
    readers_.clear();
    displaced_.clear();
    sent_off_ = nullptr;
    ring();
    while (!queue_.empty())
        (void)queue_.front().step_out();
    while (!upgrade_.empty())
        (void)upgrade_.front().step_out();
}

} // namespace holdfast::sync
