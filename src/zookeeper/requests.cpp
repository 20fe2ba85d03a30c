// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/requests.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast::zookeeper {
namespace {

[[noreturn]] void nobody_asked(std::int32_t number) {
    throw net::failure{store_errc::protocol,
                       "an answer to no request, number " + std::to_string(number)};
}

/// Returns whether the request was executed. A write is executed when the ensemble has agreed on
/// it. Errors about throttling or sessions come from a single server, which has not asked the
/// ensemble. All other errors that can occur here are in the list below.
bool is_carried_out(std::int32_t error) {
    return error == answered::well || error == answered::no_node ||
           error == answered::bad_version || error == answered::node_exists ||
           error == answered::not_empty;
}

} // namespace

void requests::ask(shared_request what, time_point now) {
    what->asked_at = now;
    by_age_.push_back(what);
    queued_.push_back(std::move(what));
}

bool requests::anything_queued() const {
    return !queued_.empty(); // the front of the queue always has no result yet
}

/// Returns the next request number. Negative numbers have special meanings, and the greeting has
/// number zero.
std::int32_t requests::next_number() {
    const std::int32_t number = next_number_;
    next_number_ = number == std::numeric_limits<std::int32_t>::max() ? 1 : number + 1;
    return number;
}

shared_request requests::write_next(std::string& out, time_point now) {
    while (!queued_.empty()) {
        shared_request next = std::move(queued_.front());
        queued_.pop_front();
        if (next->standing == request::stage::settled)
            continue; // the request was given up
        drop_settled();
        next->standing = request::stage::written;
        next->sent_at = now;
        next->number = next_number();
        compose(out, next->number, next->what);
        written_.push_back(next);
        return next;
    }
    return nullptr;
}

void requests::write_ping(std::string& out, time_point now) {
    compose_ping(out);
    pings_.push_back(now);
}

requests::heard requests::hear(std::string_view frame) {
    jute_reader from{frame};
    const answer_head head = read_head(from);
    heard said{.zxid = head.zxid, .error = head.error};
    if (head.number == number_of::event) {
        said.event = read_event(from);
        return said;
    }
    if (head.number == number_of::ping) {
        if (pings_.empty())
            nobody_asked(head.number);
        said.done = pings_.front();
        pings_.pop_front();
        return said;
    }
    if (written_.empty() || written_.front()->number != head.number)
        nobody_asked(head.number);
    const shared_request whose = std::move(written_.front());
    written_.pop_front();
    if (is_carried_out(head.error))
        said.done = whose->sent_at;
    said.is_write = whose->what.is_write();
    if (whose->standing == request::stage::settled)
        return said; // the request was given up, so its answer is ignored
    whose->error = head.error;
    whose->body = from.rest();
    settle(*whose);
    said.answered = whose;
    return said;
}

void requests::settle(request& one) {
    one.standing = request::stage::settled;
    drop_settled();
}

void requests::give_up(request& one) {
    if (one.standing != request::stage::settled)
        settle(one);
}

/// Removes requests that already have a result from the front of the queue. A request that has a
/// result but is not at the front is removed later, when it gets to the front.
void requests::drop_settled() {
    for (std::deque<shared_request>* const some : {&by_age_, &queued_})
        while (!some->empty() && some->front()->standing == request::stage::settled)
            some->pop_front();
}

std::vector<shared_request> requests::late(time_point asked_by) {
    std::vector<shared_request> all;
    while (!by_age_.empty() && by_age_.front()->asked_at <= asked_by) {
        all.push_back(by_age_.front());
        settle(*all.back()); // settle removes the request from by_age_
    }
    return all;
}

std::optional<time_point> requests::oldest() const {
    if (by_age_.empty())
        return std::nullopt;
    return by_age_.front()->asked_at;
}

std::vector<shared_request> requests::drop(std::deque<shared_request>& some) {
    std::vector<shared_request> all;
    for (shared_request& one : std::exchange(some, {}))
        if (one->standing != request::stage::settled) {
            settle(*one);
            all.push_back(std::move(one));
        }
    return all;
}

std::vector<shared_request> requests::drop_written() {
    pings_.clear();
    return drop(written_);
}

std::vector<shared_request> requests::drop_queued() {
    return drop(queued_);
}

std::optional<time_point> requests::owed_since() const {
    if (written_.empty() && pings_.empty())
        return std::nullopt;
    const time_point first = written_.empty() ? time_point::max() : written_.front()->sent_at;
    return pings_.empty() ? first : std::min(first, pings_.front());
}

void watches::add(shared_watcher who) {
    std::string path = who->path;
    all_.emplace(std::move(path), std::move(who));
}

void watches::remove(const shared_watcher& who) {
    who->tell = {};
    auto [one, end] = all_.equal_range(who->path);
    for (; one != end; ++one)
        if (one->second == who) {
            all_.erase(one);
            return;
        }
}

bool watches::concerns(const node_event& told, const watcher& who) {
    using kind = node_event::kind;
    return told.is(kind::deleted) || told.is(who.what == of::node ? kind::changed : kind::children);
}

void watches::heard(const node_event& told) {
    std::vector<shared_watcher> concerned;
    auto [one, end] = all_.equal_range(told.path);
    while (one != end) {
        const auto next = std::next(one);
        if (concerns(told, *one->second)) {
            concerned.push_back(std::move(one->second));
            all_.erase(one);
        }
        one = next;
    }
    tell(concerned);
}

void watches::tell_all() {
    std::vector<shared_watcher> everybody;
    for (auto& [path, who] : std::exchange(all_, {}))
        everybody.push_back(std::move(who));
    tell(everybody);
}

/// Calls the watchers. A callback may do anything; for example, it may remove another watcher of
/// the list.
void watches::tell(const std::vector<shared_watcher>& all) {
    for (const shared_watcher& one : all)
        if (const auto wake = std::exchange(one->tell, {}))
            wake();
}

} // namespace holdfast::zookeeper
