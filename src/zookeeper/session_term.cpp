// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/session_term.hpp"

#include <algorithm>

namespace holdfast::zookeeper {

duration drift(duration timeout) {
    return std::min(timeout / 100 + duration{2}, timeout / 2);
}

void session_term::opened(time_point sent_at, duration timeout) {
    forget();
    timeout_ = timeout;
    counted_ = sent_at;
}

void session_term::resumed(time_point sent_at, duration timeout) {
    timeout_ = timeout;
    resumed_ = sent_at;
    sent_.clear(); // what another server heard, it may never report
}

void session_term::sent(time_point when) {
    if (!sent_.empty() && when - sent_.back() < grain())
        return;
    sent_.push_back(when);
    // A write that was sent a whole timeout ago is answered no more: its connection is cut.
    while (sent_.size() > 1 && sent_[1] <= when - timeout_ - timeout_ / 2)
        sent_.pop_front();
}

void session_term::write_answered(time_point sent_at) {
    if (resumed_ && *resumed_ <= sent_at) {
        count(*resumed_);
        resumed_.reset();
    }
    while (!sent_.empty() && sent_.front() <= sent_at - timeout_ / 2) {
        count(sent_.front());
        sent_.pop_front();
    }
}

void session_term::count(time_point sent_at) {
    counted_ = std::max(counted_.value_or(sent_at), sent_at);
}

time_point session_term::alive_until() const {
    return counted_ ? *counted_ + timeout_ - drift(timeout_) : time_point::min();
}

} // namespace holdfast::zookeeper
