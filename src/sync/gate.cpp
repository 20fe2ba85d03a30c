// SPDX-License-Identifier: Apache-2.0
#include "sync/gate.hpp"

namespace holdfast::sync {

bool gate::admits(const acquisition& call) const {
    const bool is_next = queue_.empty() || &queue_.front() == &call;
    return is_next && !holder_ && !negotiating_;
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
    if (bell_)
        bell_->ring();
    return true;
}

void gate::let_go() {
    holder_.reset();
    sent_off_ = nullptr;
    if (bell_)
        bell_->ring();
    while (!queue_.empty())
        (void)queue_.front().step_out();
}

} // namespace holdfast::sync
