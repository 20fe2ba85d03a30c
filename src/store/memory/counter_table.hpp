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

/// What came of a look at a counter.
struct count_verdict {
    verdict said{};
    std::optional<duration> left{}; ///< busy: it goes by itself then, and is open
    const char* other = nullptr;    ///< in words, the other kind that has the name
    std::string refused{};          ///< why it never will be, of a rate limiter
};

/// What came of a change, or of what was given back.
struct change_verdict {
    bool late = false;
    const char* other = nullptr; ///< in words, the other kind that has the name
    counter_answer what{};
    std::int64_t rings = 0; ///< so many permits can be had now; of a latch: 1, it is open now
    std::string refused{};  ///< why it was not done, of a rate limiter
};

/// A number that a server keeps.
struct kept_number {
    std::int64_t value = 0;
    microseconds ends_at = microseconds::max(); ///< it has no end
};

/// The semaphores and latches of a server: a number under a name, as Redisson keeps them, and the
/// requests that were carried out.
/// Thread safety: none; the server's mutex is around it.
class counter_table {
public:
    /// Must outlive it.
    explicit counter_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Takes the amount, or sees that the latch is open.
    count_verdict look(const counter_ask&, duration memory);
    /// What that look may have taken is given back, and it takes nothing any more.
    change_verdict take_back(const counter_ask&, duration memory);
    change_verdict change(const counter_change&, duration memory);
    change_verdict carry_out(const counter_change&); ///< a stranger's, which is not remembered

    std::optional<std::int64_t> value(const lock_name&) const; ///< nothing: there is none
    std::vector<std::string> names() const;
    bool erase(const lock_name&);
    /// Removes a counter and returns it: it is the number of a leased semaphore from now on, whose
    /// permits are held. Nothing: there is none.
    std::optional<kept_number> take_out(const lock_name&);
    void put(const lock_name&, const kept_number&); ///< the reverse
    /// When it goes by itself. Nothing: there is none, or it stays.
    std::optional<duration> left(const lock_name&) const;
    void clear(); ///< the requests, too
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
