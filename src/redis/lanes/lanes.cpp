// SPDX-License-Identifier: Apache-2.0
#include "redis/lanes/lanes.hpp"

#include "net/later.hpp"
#include "redis/link/establish.hpp"
#include "runtime/background.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::redis {

lanes::lanes(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , wait_{context_->how.polling}
    , suspicion_{*context_}
    , backoff_{context_->how.backoff_min, context_->how.backoff_max}
    , tidying_{context_->home.time.make_alarm()}
    , collecting_{context_->home.time.make_alarm()}
    , suspecting_{context_->home.time.make_alarm()} {}

/// Borrows the free lane that was used most recently, so that the other lanes can become idle and
/// be closed. The call also reads the replies that are still missing on the lane.
lane* lanes::borrow() {
    entry* best = nullptr;
    for (entry& each : all_)
        if (!each.lent && !each.leaves && (!best || each.used_at > best->used_at))
            best = &each;
    if (!best) {
        wish_for_one_more();
        return nullptr;
    }
    if (!best->line->alive()) { // the other lanes are probably dead too
        std::erase_if(all_, [](const entry& each) { return !each.lent && !each.line->alive(); });
        return nullptr;
    }
    best->lent = true;
    best->lent_at = context_->home.time.now();
    if (suspicion_.is_possible())
        suspect_soon();
    return best->line.get();
}

void lanes::give_back(const lane& used) {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const entry& each) { return each.line.get() == &used; });
    found->lent = false;
    found->used_at = context_->home.time.now();
    if (used.broken() || found->leaves || closed_)
        all_.erase(found);
}

void lanes::wish_for_one_more() {
    if (closed_ || opening_ || all_.size() >= context_->how.lanes_max ||
        context_->home.time.now() < not_before_ || ++wishes_ < wishes_min)
        return;
    wishes_ = 0;
    opening_ = std::make_shared<connection>(context_->home, context_->how);
    runtime::run_in_background(context_->home, open(shared_from_this()));
}

asio::awaitable<void> lanes::open(std::shared_ptr<lanes> self) {
    const std::shared_ptr<connection> line = self->opening_;
    introduction told;
    const std::optional<net::failure> why =
        co_await establish(*self->context_, purpose::more_commands, *line, told);
    self->opening_.reset();
    if (self->closed_)
        co_return;
    const time_point now = self->context_->home.time.now();
    if (why) { // the shared connection reports the error, and serves the calls meanwhile
        self->not_before_ = net::later(now, self->backoff_.next(self->context_->home.random()));
        co_return;
    }
    self->backoff_.reset();
    self->all_.push_back({std::make_unique<lane>(*self->context_, line->take_apart(), self->wait_),
                          now, told.run_id});
    if (self->context_->other_met)
        self->context_->other_met(told);
    if (!std::exchange(self->tidies_, true))
        runtime::run_in_background(self->context_->home, close_idle(self));
}

asio::awaitable<void> lanes::close_idle(std::shared_ptr<lanes> self) {
    const clock& time = self->context_->home.time;
    while (!self->closed_ && !self->all_.empty()) {
        co_await self->tidying_->wait_until(time.now() + idle_max);
        if (self->closed_)
            break;
        const time_point used_before = time.now() - idle_max;
        std::erase_if(self->all_,
                      [&](const entry& each) { return !each.lent && each.used_at <= used_before; });
    }
    self->tidies_ = false;
}

void lanes::collect_soon() {
    if (!std::exchange(collects_, true))
        runtime::run_in_background(context_->home, collect(shared_from_this()));
}

bool lanes::any_owes() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const entry& each) { return each.line->owes(); });
}

asio::awaitable<void> lanes::collect(std::shared_ptr<lanes> self) {
    while (!self->closed_ && self->any_owes()) {
        co_await self->collecting_->wait_until(self->context_->home.time.now() + collect_period);
        for (const entry& each : self->all_)
            if (!each.lent && each.line->owes())
                each.line->collect();
        std::erase_if(self->all_,
                      [](const entry& each) { return !each.lent && each.line->broken(); });
    }
    self->collects_ = false;
}

void lanes::suspect_soon() {
    if (!std::exchange(suspects_, true))
        runtime::run_in_background(context_->home, suspect(shared_from_this()));
}

/// Watches for missing replies in the background, because a thread that waits on a lane cannot.
asio::awaitable<void> lanes::suspect(std::shared_ptr<lanes> self) {
    while (!self->closed_) {
        const auto owed_since = self->owed_since();
        if (!owed_since)
            break;
        co_await self->suspecting_->wait_until(self->suspicion_.due(owed_since));
        if (!self->closed_)
            self->suspicion_.look(self->owed_since(), self->context_->home.time.now());
    }
    self->suspects_ = false;
}

/// Returns the earliest time at which a present wait for a reply began. A lent lane waits from the
/// time when it was lent. Any other lane waits from the time when its oldest request without a
/// reply was sent.
std::optional<time_point> lanes::owed_since() const {
    std::optional<time_point> first;
    const auto note = [&first](time_point since) {
        first = std::min(first.value_or(since), since);
    };
    for (const entry& each : all_) {
        if (each.lent)
            note(each.lent_at);
        else if (const auto since = each.line->owed_since())
            note(*since);
    }
    return first;
}

// Marks the lanes only; sweep_soon() ends them later. The caller may be iterating over the lanes
// now.
void lanes::cut(const net::failure& why) {
    if (closed_)
        return;
    if (opening_)
        opening_->cut(why);
    for (entry& each : all_)
        each.leaves = true;
    sweep_soon();
}

void lanes::move(const net::failure& why) {
    cut(why);
    backoff_.reset();
    not_before_ = time_point::min();
    for (const entry& each : all_)
        each.line->condemn(why);
}

bool lanes::cut_silent(time_point since, const net::failure& why) {
    bool any = false;
    for (entry& each : all_) {
        const auto owed_since = each.lent ? std::optional{each.lent_at} : each.line->owed_since();
        if (closed_ || !owed_since || *owed_since > since || each.line->waits_for_replicas())
            continue;
        each.line->condemn(why);
        each.leaves = any = true;
    }
    if (any)
        sweep_soon();
    return any;
}

void lanes::follow(const server_in_use& now, const net::failure& why) {
    if (closed_)
        return;
    if (opening_ && now.may_be_another)
        opening_->cut(why);
    for (entry& each : all_) {
        if (now.serves(each.run_id))
            continue;
        each.line->condemn(why);
        each.leaves = true;
    }
    sweep_soon();
}

void lanes::distrust(const reply& said) {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const entry& each) { return each.line->gave(said); });
    if (closed_ || found == all_.end())
        return;
    found->line->condemn({errc::outcome_unknown, "connection to " + context_->address() +
                                                     " ended: an earlier answer made no sense"});
    found->leaves = true;
    sweep_soon();
}

void lanes::sweep_soon() {
    asio::post(context_->home.executor, [self = shared_from_this()] {
        std::erase_if(self->all_, [](const entry& each) { return each.leaves && !each.lent; });
    });
}

void lanes::close() {
    // A second call must write nothing. It may come from the destructor, on any thread.
    if (closed_)
        return;
    closed_ = true;
    if (opening_)
        opening_->cut({errc::closed, context_->address() + ": the client is closed"});
    for (const entry& each : all_)
        each.line->hang_up();
    std::erase_if(all_, [](const entry& each) { return !each.lent; });
    tidying_->ring();
    collecting_->ring();
    suspecting_->ring();
}

} // namespace holdfast::redis
