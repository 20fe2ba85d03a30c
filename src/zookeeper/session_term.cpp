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
    answered_.clear(); // the earlier server may never tell the leader which requests it received
}

void session_term::answered(time_point sent_at, time_point now) {
    if (!answered_.empty() && sent_at - answered_.back().sent_at < grain())
        return;
    answered_.push_back({sent_at, now});
    // A write gets no answer any more if it was sent a whole timeout ago, because its connection is
    // cut.
    while (answered_.size() > 1 && answered_[1].answered_at <= now - timeout_ - timeout_ / 2)
        answered_.pop_front();
}

void session_term::write_answered(time_point sent_at) {
    if (resumed_ && *resumed_ <= sent_at) {
        count(*resumed_);
        resumed_.reset();
    }
    while (!answered_.empty() && answered_.front().answered_at <= sent_at - timeout_ / 2) {
        count(answered_.front().sent_at);
        answered_.pop_front();
    }
}

void session_term::count(time_point sent_at) {
    counted_ = std::max(counted_.value_or(sent_at), sent_at);
}

time_point session_term::alive_until() const {
    return counted_ ? *counted_ + timeout_ - drift(timeout_) : time_point::min();
}

} // namespace holdfast::zookeeper
