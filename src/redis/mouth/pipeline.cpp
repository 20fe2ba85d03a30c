// SPDX-License-Identifier: Apache-2.0
#include "redis/mouth/pipeline.hpp"

#include <algorithm>

namespace holdfast::redis {

void pipeline::ask(request& asked, time_point deadline) {
    // All have the same time from when they ask, so the lists stay ordered by themselves.
    asked.deadline = deadline;
    asked.standing = request::stage::queued;
    queued_.push_back(asked);
    waiting_.push_back(asked);
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
    if (whose.asker)
        whose.asker->standing = request::stage::apart;
    return whose;
}

void pipeline::ask_again(request& asked) {
    const auto later = [&](const request& other) { return other.deadline > asked.deadline; };
    asked.standing = request::stage::queued;
    queued_.insert(std::find_if(queued_.begin(), queued_.end(), later), asked);
}

void pipeline::forget(request& asked) {
    if (asked.standing == request::stage::queued)
        queued_.erase(queued_.iterator_to(asked));
    if (asked.standing == request::stage::in_flight)
        written_[asked.slot - first_slot_].asker = nullptr;
    asked.standing = request::stage::apart;
    waiting_.erase(waiting_.iterator_to(asked));
}

std::vector<request*> pipeline::drop_written() {
    std::vector<request*> unanswered;
    for (const written& one : written_)
        if (one.asker)
            unanswered.push_back(one.asker);
    for (request* one : unanswered)
        forget(*one);
    written_.clear();
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
