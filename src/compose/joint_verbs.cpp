// SPDX-License-Identifier: Apache-2.0
// Operations on a hold on several locks: release, extend, renew, abandon.
#include "compose/joint_hold.hpp"
#include "compose/tally.hpp"
#include "sync/engine.hpp"
#include "sync/release.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::compose {
namespace {

sync::failure lost_before() {
    return {make_error_code(errc::lease_lost), "the lease had ended before it was released"};
}

/// Runs `work` for each part on the part's own executor. Does not wait for the result.
template <typename Work>
void on_each(const std::vector<std::shared_ptr<sync::tenure>>& parts, Work work) {
    for (const std::shared_ptr<sync::tenure>& each : parts)
        (void)each->home->reach().post([each, work] { work(*each); });
}

} // namespace

/// Moves all parts out. The caller must release or abandon them.
std::vector<part> joint_hold::take_parts(phase next) {
    const std::scoped_lock guard{mutex_};
    std::vector<part> all;
    phase_ = next;
    for (seat& each : seats_) {
        each.loss.reset();
        each.danger.reset();
        if (each.has)
            all.push_back(std::move(each.has));
    }
    return all;
}

void joint_hold::lose() {
    const std::vector<part> released_behind = take_parts(phase::lost);
    stop_tending();
    (void)danger_.request_stop();
    (void)lost_.request_stop();
    home->tell_of(*this, event_kind::lost, event_cause::none, home->now() - granted_at_);
    home->keep_no_more(*this);
}

/// Reports the loss. On a borrowed thread, the report is posted to the executor, because such a
/// thread must not run the user's callbacks.
void joint_hold::lose_soon() {
    if (home->borrowed())
        news{weak_from_this(), home}();
    else
        lose();
}

void joint_hold::give_up() {
    {
        const std::scoped_lock guard{mutex_};
        given_up_ = true;
    }
    stop_tending();
    (void)danger_.request_stop();
    (void)lost_.request_stop();
    home->tell_of(*this, event_kind::lost, event_cause::closed, home->now() - granted_at_);
    desert_parts();
}

void joint_hold::release(sync::release_handler done, const asio::any_io_executor&) {
    bool is_last = false, is_over = false;
    phase was{};
    {
        const std::scoped_lock guard{mutex_};
        was = phase_;
        is_over = !given_up_ && remaining_of_parts() == duration::zero();
        is_last = was == phase::held && --shares_ == 0;
    }
    if (was == phase::ended)
        return sync::tell(*home, std::move(done),
                          {make_error_code(errc::not_owner), "it was released before"});
    if (was == phase::held && is_over)
        lose_soon();
    if (was == phase::lost || is_over)
        return sync::tell(*home, std::move(done), lost_before());
    if (!is_last)
        return sync::tell(*home, std::move(done), {});
    std::vector<std::shared_ptr<tenure>> leaving;
    for (part& each : take_parts(phase::ended)) {
        if (parts_deserted_)
            each.hold()->thread_came_back();
        leaving.push_back(each.hold()->whole());
        (void)each.take(); // drop the share before the whole hold is released
    }
    stop_tending();
    home->keep_no_more(*this); // at exit() a thread may still release an abandoned hold
    auto told = [self = shared_from_this(), done = std::move(done)](sync::failure why) mutable {
        if (self->quorum_ && why.code && why.code != errc::lease_lost)
            // Some nodes may have released their lock.
            why.code = make_error_code(errc::outcome_unknown);
        self->tell_end(why);
        sync::tell(*self->home, std::move(done), std::move(why));
    };
    tally::ask(home, leaving, of_->needs, home->how().release_patience, tally::let_go(),
               sync::release_handler{std::move(told)});
}

void joint_hold::tell_end(const sync::failure& why) {
    event_kind how = event_kind::release_failed;
    if (!why.code)
        how = event_kind::released;
    else if (why.code == errc::lease_lost)
        how = event_kind::lost;
    home->tell_of(*this, how, event_cause::none, home->now() - granted_at_);
}

void joint_hold::release_unwaited(const asio::any_io_executor& where,
                                  const std::function<bool()>&) {
    release(sync::release_handler{[](const sync::failure&) {}}, where);
}

void joint_hold::extend(duration length, sync::release_handler done) {
    if (!believed())
        return sync::tell(*home, std::move(done),
                          {make_error_code(errc::lease_lost), "the lease had ended"});
    if (!renewed_)
        lease_ = length;
    tally::ask(home, parts(), of_->needs, home->bounds().time_limit, tally::extend(length),
               std::move(done));
}

/// Fails. A quorum loses votes and gets new votes, and each new vote would need the new number of
/// replicas.
void joint_hold::confirm(unsigned replicas, sync::release_handler done) {
    sync::tell(*home, std::move(done),
               {make_error_code(errc::already_held),
                "it is held with " + std::to_string(of_->replicas) +
                    " required replicas, and not with " + std::to_string(replicas)});
}

void joint_hold::renew_from_now_on(duration) {
    renewed_ = true;
    const std::scoped_lock guard{mutex_};
    for (std::size_t which = 0; which < seats_.size(); ++which)
        if (seats_[which].has)
            on_each({seats_[which].has.hold()->whole()},
                    [length = of_->members[which]->lease](tenure& one) {
                        one.renew_from_now_on(length);
                    });
}

void joint_hold::thread_ended() noexcept {
    const std::scoped_lock guard{mutex_};
    ++ended_threads_;
}

void joint_hold::thread_came_back() noexcept {
    const std::scoped_lock guard{mutex_};
    if (ended_threads_ > 0)
        --ended_threads_; // abandon() has not run yet, and will have no effect
    else if (!abandoned_)
        ++shares_;
}

void joint_hold::desert_parts() {
    const tenures all = parts();
    parts_deserted_ = true;
    for (const std::shared_ptr<tenure>& each : all)
        each->thread_ended();
    on_each(all, [](tenure& one) { one.abandon(); });
}

void joint_hold::abandon() {
    {
        const std::scoped_lock guard{mutex_};
        if (ended_threads_ == 0)
            return;
        --ended_threads_;
        if (phase_ != phase::held || shares_ > 1) {
            shares_ -= shares_ > 1 ? 1 : 0;
            return;
        }
        abandoned_ = true; // parts that are granted from now on are released
    }
    stop_tending();
    home->keep(shared_from_this());
    home->tell_of(*this, event_kind::abandoned, event_cause::none, home->now() - granted_at_);
    desert_parts();
}

} // namespace holdfast::compose
