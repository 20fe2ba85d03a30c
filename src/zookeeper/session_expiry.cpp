// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/session_expiry.hpp"

#include <algorithm>

namespace holdfast::zookeeper {

duration drift(duration timeout) {
    return std::min(timeout / 100 + duration{2}, timeout / 2);
}

void session_lease::opened(time_point sent_at, duration timeout) {
    forget();
    timeout_ = timeout;
    counted_ = sent_at;
}

void session_lease::resumed(time_point sent_at, duration timeout) {
    timeout_ = timeout;
    resumed_ = sent_at;
    answered_.clear(); // the earlier server may never tell the leader which requests it received
}

void session_lease::answered(time_point sent_at, time_point now) {
    if (!answered_.empty() && sent_at - answered_.back().sent_at < grain())
        return;
    answered_.push_back({sent_at, now});
    // A write that was sent a whole timeout ago gets no answer any more: its connection was cut. So
    // remove the entries that only its answer could have confirmed.
    while (answered_.size() > 1 && answered_[1].answered_at <= now - timeout_ - timeout_ / 2)
        answered_.pop_front();
}

void session_lease::write_answered(time_point sent_at) {
    if (resumed_ && *resumed_ <= sent_at) {
        count(*resumed_);
        resumed_.reset();
    }
    while (!answered_.empty() && answered_.front().answered_at <= sent_at - timeout_ / 2) {
        count(answered_.front().sent_at);
        answered_.pop_front();
    }
}

void session_lease::count(time_point sent_at) {
    counted_ = std::max(counted_.value_or(sent_at), sent_at);
}

time_point session_lease::alive_until() const {
    return counted_ ? *counted_ + timeout_ - drift(timeout_) : time_point::min();
}

namespace {

/// Shortest session timeout with which the client calculates, in milliseconds. No ensemble should
/// grant less. The heartbeat period is a twelfth of the timeout, and must not be zero.
constexpr duration session_timeout_least{12};

} // namespace

void known_session::opened(const welcome& said, time_point sent_at) {
    *this = {};
    id = said.id;
    password = said.password;
    timeout = std::max(duration{said.timeout_ms}, session_timeout_least);
    last_sent = sent_at;
    term.opened(sent_at, duration{said.timeout_ms});
}

void known_session::resumed(const welcome& said, time_point sent_at) {
    password = said.password;
    timeout = std::max(duration{said.timeout_ms}, session_timeout_least);
    last_sent = sent_at;
    term.resumed(sent_at, duration{said.timeout_ms});
}

void known_session::saw(std::int64_t zxid) {
    last_zxid = std::max(last_zxid, zxid);
}

greeting known_session::to_greet(duration wanted) const {
    return {.last_zxid = last_zxid,
            .timeout_ms = static_cast<std::int32_t>((exists() ? timeout : wanted).count()),
            .id = id,
            .password = password};
}

} // namespace holdfast::zookeeper
