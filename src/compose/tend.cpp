// SPDX-License-Identifier: Apache-2.0
// Upkeep of a hold on several locks. It removes parts that ended without a report. It asks the
// members of a quorum again for votes that are missing or lost.
#include "compose/joint_hold.hpp"
#include "sync/engine.hpp"

#include <algorithm>

namespace holdfast::compose {

bool joint_hold::is_to_tend() const {
    const std::scoped_lock guard{mutex_};
    const auto is_missing = [](const seat& each) { return !each.has.believed(); };
    return quorum_ && phase_ == phase::held && !given_up_ && !abandoned_ &&
           std::any_of(seats_.begin(), seats_.end(), is_missing);
}

/// Returns whether the hold needs upkeep. The executor of another client may stop. Then the end of
/// that client's part is not reported.
bool joint_hold::is_attended() const {
    if (is_to_tend())
        return true;
    const std::scoped_lock guard{mutex_};
    return has_far_ && phase_ == phase::held && !given_up_;
}

void joint_hold::attend() {
    review();
    if (is_to_tend())
        ask_missing();
}

void joint_hold::tend_if_needed() {
    if (is_tended_ || !is_attended())
        return;
    is_tended_ = true;
    home->spawn(tend(weak_from_this(), home));
}

void joint_hold::stop_tending() {
    if (tending_)
        tending_->ring();
}

/// Asks all members without a part for a new part. If the hold is not renewed, it asks only for the
/// remaining time of the hold.
void joint_hold::ask_missing() {
    std::optional<duration> rest;
    if (!renewed_)
        rest = std::max(remaining(), home->bounds().lease_min);
    const question how = quorum_->ballot(rest);
    std::vector<std::size_t> missing;
    {
        const std::scoped_lock guard{mutex_};
        for (std::size_t which = 0; which < seats_.size(); ++which)
            if (!seats_[which].has.believed() && !asked_->is_open(which))
                missing.push_back(which);
    }
    for (const std::size_t which : missing)
        asked_->ask(which, how);
}

asio::awaitable<void> tend(std::weak_ptr<joint_hold> whose, std::shared_ptr<sync::engine> home) {
    const sync::engine::loop ends_before_closing_does{*home};
    const std::unique_ptr<alarm> sleep = home->time().make_alarm();
    for (bool goes_on = true; goes_on;) {
        time_point next{};
        if (const std::shared_ptr<joint_hold> held = whose.lock()) {
            const duration left = std::max(held->remaining(), duration{1});
            const duration pause = std::min(sync::renewal_period(held->lease()), left);
            next = sync::later(home->now(), pause);
            held->tended_by(sleep.get());
        }
        co_await home->nap(*sleep, next);
        const std::shared_ptr<joint_hold> held = whose.lock();
        if (!held)
            co_return;
        held->tended_by(nullptr);
        goes_on = held->is_attended() && !home->stopped();
        if (goes_on)
            held->attend();
        else
            held->not_tended();
    }
}

} // namespace holdfast::compose
