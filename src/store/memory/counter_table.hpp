// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/request_memory.hpp"
#include "store/memory/server_clock.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::memory {

using remote::verdict;

/// Outcome of a request to take from a counter.
struct count_verdict {
    verdict said{};
    std::optional<duration> left{}; ///< busy latch: time until it expires and is then open
    const char* other = nullptr;    ///< words for the other kind that uses the name; null: none
    std::string refused{};          ///< rate limiter: why the request can never be granted
};

/// Outcome of a change of a counter, or of a return of permits.
struct change_verdict {
    bool late = false;
    const char* other = nullptr; ///< words for the other kind that uses the name; null: none
    counter_answer what{};
    /// number of permits that waiters can get now; latch: 1 if it is open now
    std::int64_t rings = 0;
    std::string refused{}; ///< rate limiter: why the change was not made
};

/// Number that a server keeps, with its expiry.
struct kept_number {
    std::int64_t value = 0;
    /// expiry on the server's clock; maximum: no expiry
    microseconds ends_at = microseconds::max();
};

/// Table of semaphores and latches. For each name it stores a number, in the same way as Redisson.
/// It also remembers the requests that were carried out. Thread safety: none; the server's mutex
/// protects it.
class counter_table {
public:
    /// The clock must outlive this object.
    explicit counter_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Takes the permits, or checks that the latch is open.
    count_verdict look(const counter_ask&, duration memory);
    /// Returns the permits that this request may have taken. Afterwards a delayed copy of the
    /// request takes nothing.
    change_verdict take_back(const counter_ask&, duration memory);
    change_verdict change(const counter_change&, duration memory);
    /// change by a foreign program; it is not remembered
    change_verdict carry_out(const counter_change&);

    /// number of the counter; empty: the counter does not exist
    std::optional<std::int64_t> value(const lock_name&) const;
    std::vector<std::string> names() const;
    bool erase(const lock_name&);
    /// Removes a counter and returns its number, which then becomes the number of a leased
    /// semaphore. Returns an empty result if the counter does not exist.
    std::optional<kept_number> take_out(const lock_name&);
    void put(const lock_name&, const kept_number&); ///< stores a number under the name again
    /// Returns the time until the counter expires. Empty: the counter does not exist, or does not
    /// expire.
    std::optional<duration> left(const lock_name&) const;
    void clear(); ///< removes all counters and all remembered requests
    void become(const counter_table& other) {
        counters_ = other.counters_;
        requests_.become(other.requests_);
    }

    std::size_t requests_remembered() const { return requests_.size(); }

private:
    using counter = kept_number;

    count_verdict look_at_latch(const counter_ask&);
    change_verdict add(const counter_change&, std::int64_t amount);
    change_verdict set_new(const counter_change&);
    change_verdict drain(const counter_change&);
    change_verdict count_down(const counter_change&);
    change_verdict remove(const counter_change&);
    counter* find(const lock_name&);

    const server_clock& clock_;
    std::map<std::string, counter> counters_;
    request_memory requests_;
};

} // namespace holdfast::memory
