// SPDX-License-Identifier: Apache-2.0
// Memory of answered requests, so that a repeated request gets the same answer and does nothing.
#pragma once

#include "store/memory/server_clock.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace holdfast::memory {

/// Memory of the answers to requests about counters. An answer is kept for the time that its client
/// asked for. At most `requests_max` answers are kept: the latest of all clients. Thread safety:
/// none; the server's mutex protects it.
class request_memory {
public:
    static constexpr std::size_t requests_max = 65'536;

    /// The clock must outlive this object.
    explicit request_memory(const server_clock& clock)
        : clock_{clock} {}

    /// Returns the answer to this request. Null: the request was not carried out, or its answer was
    /// forgotten.
    const counter_answer* find(const lock_name& name, const owner_id& request) {
        forget_the_old();
        const auto found = answers_.find(key_of(name, request));
        return found == answers_.end() ? nullptr : &found->second.said;
    }

    /// Stores the answer. Replaces an earlier answer to the same request.
    void remember(const lock_name& name, const owner_id& request, const counter_answer& said,
                  duration how_long) {
        key which = key_of(name, request);
        order_.emplace_back(++last_, which);
        answers_.insert_or_assign(std::move(which), entry{said, clock_.end_of(how_long), last_});
        forget_the_old();
    }

    std::size_t size() const { return answers_.size(); }
    void clear() {
        answers_.clear();
        order_.clear();
    }
    void become(const request_memory& other) {
        answers_ = other.answers_;
        order_ = other.order_;
        last_ = other.last_;
    }

private:
    // name of the counter, and owner id of the request
    using key = std::pair<std::string, std::string>;
    struct entry {
        counter_answer said;
        microseconds ends_at;
        std::size_t written; // position in the order in which answers were stored
    };

    static key key_of(const lock_name& name, const owner_id& request) {
        return {name.text, to_string(request)};
    }

    void forget_the_old() {
        while (!order_.empty()) {
            const auto oldest = answers_.find(order_.front().second);
            const bool is_current =
                oldest != answers_.end() && oldest->second.written == order_.front().first;
            if (is_current && answers_.size() <= requests_max &&
                !clock_.is_over(oldest->second.ends_at))
                return;
            if (is_current)
                answers_.erase(oldest);
            order_.pop_front();
        }
    }

    const server_clock& clock_;
    std::map<key, entry> answers_;
    // keys in the order in which answers were stored
    std::deque<std::pair<std::size_t, key>> order_;
    std::size_t last_ = 0;
};

} // namespace holdfast::memory
