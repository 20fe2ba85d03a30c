// SPDX-License-Identifier: Apache-2.0
#include "sync/gate.hpp"

#include "sync/family.hpp"

namespace holdfast::sync {

bool gate::admits(const acquisition& call) const {
    const bool is_next = queue_.empty() || &queue_.front() == &call;
    if (!is_next || asking_ > 0)
        return false;
    if (queues_in_store(family_of(call.wanted.of->kind)))
        return !is_on_its_way_out(); // or it would find the lock busy with its own client's hold
    return !holder_ && waiting_there_ == 0;
}

bool gate::is_on_its_way_out() const {
    return holder_ && (holder_->release_follows() ||
                       (holder_->deferred() && holder_->now_in() == wire_hold::phase::releasing));
}

bool gate::is_about_to_be_left() const {
    return holder_ && holder_->release_follows() && queue_.empty();
}

bool gate::is_being_left() const {
    return holder_ && holder_->deferred() && holder_->now_in() == wire_hold::phase::releasing &&
           queue_.empty();
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

void gate::ring() const {
    for (alarm* const bell : bells_)
        bell->ring();
}

void gate::let_go() {
    holder_.reset();
    sent_off_ = nullptr;
    ring();
    while (!queue_.empty())
        (void)queue_.front().step_out();
}

} // namespace holdfast::sync
