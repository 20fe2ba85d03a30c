// SPDX-License-Identifier: Apache-2.0
#include "redis/mouth/pipeline.hpp"

#include "net/later.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::redis {

void pipeline::ask(request& asked, time_point now, duration patience) {
    const time_point usual = net::later(now, patience);
    asked.asked_at = now;
    const time_point own = asked.wishes.answer_by;
    asked.deadline = std::min(usual, own);
    asked.hurried = own < usual;
    asked.ordinal = ++asked_;
    asked.standing = request::stage::queued;
    queued_.push_back(asked);
    if (!asked.hurried) {
        waiting_.push_back(asked); // stays sorted, because all requests in it have the same timeout
        return;
    }
    auto place = hurried_.end(); // few requests, nearly always in order
    while (place != hurried_.begin() && std::prev(place)->deadline > asked.deadline)
        --place;
    hurried_.insert(place, asked);
}

request* pipeline::oldest() {
    if (hurried_.empty())
        return waiting_.empty() ? nullptr : &waiting_.front();
    const bool usual = !waiting_.empty() && waiting_.front().deadline < hurried_.front().deadline;
    return usual ? &waiting_.front() : &hurried_.front();
}

request* pipeline::next_to_write(time_point now) {
    if (queued_.empty())
        return nullptr;
    request& next = queued_.front();
    queued_.pop_front();
    next.standing = request::stage::in_flight;
    next.slot = first_slot_ + written_.size();
    written_.push_back({&next, now});
    return &next;
}

std::optional<pipeline::written> pipeline::answered() {
    if (written_.empty())
        return std::nullopt;
    const written whose = written_.front();
    written_.pop_front();
    ++first_slot_;
    if (whose.given_up)
        --given_up_;
    if (whose.what == question::wait)
        --waits_;
    if (whose.asker)
        whose.asker->standing = request::stage::apart;
    return whose;
}

void pipeline::ask_again(request& asked) {
    const auto later = [&](const request& other) { return other.ordinal > asked.ordinal; };
    asked.standing = request::stage::queued;
    queued_.insert(std::find_if(queued_.begin(), queued_.end(), later), asked);
}

void pipeline::await_confirmation(request& asked) {
    asked.standing = request::stage::unconfirmed;
    unconfirmed_.push_back(asked);
}

std::vector<request*> pipeline::confirmed() {
    std::vector<request*> all;
    for (request& one : unconfirmed_)
        all.push_back(&one);
    return all;
}

void pipeline::forget(request& asked) {
    if (asked.standing == request::stage::queued)
        queued_.erase(queued_.iterator_to(asked));
    if (asked.standing == request::stage::unconfirmed)
        unconfirmed_.erase(unconfirmed_.iterator_to(asked));
    if (asked.standing == request::stage::in_flight)
        written_[asked.slot - first_slot_].asker = nullptr;
    asked.standing = request::stage::apart;
    auto& mine = asked.hurried ? hurried_ : waiting_;
    mine.erase(mine.iterator_to(asked));
}

void pipeline::give_up(request& asked) {
    if (asked.standing == request::stage::in_flight) {
        written_[asked.slot - first_slot_].given_up = true;
        ++given_up_;
    }
    forget(asked);
}

std::vector<request*> pipeline::drop_written() {
    // Drop the unconfirmed requests too. Otherwise the WAIT of the next connection would confirm
    // them.
    std::vector<request*> unanswered = confirmed();
    for (const written& one : written_)
        if (one.asker)
            unanswered.push_back(one.asker);
    for (request* one : unanswered)
        forget(*one);
    written_.clear();
    given_up_ = waits_ = 0;
    return unanswered;
}

std::vector<request*> pipeline::drop_queued() {
    std::vector<request*> unsent;
    for (request& one : queued_)
        unsent.push_back(&one);
    for (request* one : unsent)
        forget(*one);
    return unsent;
}

std::optional<time_point> pipeline::owed_since() const {
    if (written_.empty())
        return std::nullopt;
    return written_.front().sent_at;
}

} // namespace holdfast::redis
