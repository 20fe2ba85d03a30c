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
    std::optional<duration> left{}; ///< busy: time until the counter expires and is open
    const char* other = nullptr;    ///< words for another kind that has the name
    std::string refused{};          ///< rate limiter: why it can never be granted
};

/// Outcome of a change, or of giving back.
struct change_verdict {
    bool late = false;
    const char* other = nullptr; ///< words for another kind that has the name
    counter_answer what{};
    std::int64_t rings = 0; ///< permits that waiters can have now; latch: 1 if it is open now
    std::string refused{};  ///< rate limiter: why it was not done
};

/// Number that a server keeps, with its expiry.
struct kept_number {
    std::int64_t value = 0;
    microseconds ends_at = microseconds::max(); ///< it does not expire
};

/// Table of semaphores and latches: numbers under names, as Redisson keeps them. It also has the
/// requests that were carried out. Thread safety: none; the server's mutex protects it.
class counter_table {
public:
    /// The clock must outlive this object.
    explicit counter_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Takes the amount, or sees that the latch is open.
    count_verdict look(const counter_ask&, duration memory);
    /// Gives back what that request may have taken. A late copy of the request then takes nothing.
    change_verdict take_back(const counter_ask&, duration memory);
    change_verdict change(const counter_change&, duration memory);
    change_verdict carry_out(const counter_change&); ///< of a foreign program; not remembered

    std::optional<std::int64_t> value(const lock_name&) const; ///< empty: there is no such counter
    std::vector<std::string> names() const;
    bool erase(const lock_name&);
    /// Removes a counter and returns its number, which becomes the number of a leased semaphore.
    /// Returns empty if there is no such counter.
    std::optional<kept_number> take_out(const lock_name&);
    void put(const lock_name&, const kept_number&); ///< puts back a number
    /// Returns the time until the counter expires. Empty: there is none, or it does not expire.
    std::optional<duration> left(const lock_name&) const;
    void clear(); ///< removes the remembered requests too
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
