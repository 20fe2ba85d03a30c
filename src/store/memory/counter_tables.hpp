// SPDX-License-Identifier: Apache-2.0
// Tables of the counters on a server: semaphores and latches, leased permits, and rate limiters.
// The tables remember the answers to requests, so that a repeated request gets the same answer and
// changes nothing.
#pragma once

#include "store/memory/lock_tables.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/counters.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::memory {

/// Stored answers to requests about counters. Each answer is kept for the time that its client
/// asked for. If there are more than `requests_max` answers, the oldest ones are dropped. Thread
/// safety: none; the server's mutex protects it.
class request_memory {
public:
    static constexpr std::size_t requests_max = 65'536;

    /// Creates an empty object. The clock must outlive it.
    explicit request_memory(const server_clock& clock)
        : clock_{clock} {}

    /// Returns the stored answer to this request. Returns null if the request was not executed, or
    /// if its answer was dropped.
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
    // Name of the counter, and owner of the request.
    using key = std::pair<std::string, std::string>;
    struct entry {
        counter_answer said;
        microseconds ends_at;
        std::size_t written; // position among all stored answers, by age
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
    // Keys in the order in which answers were stored.
    std::deque<std::pair<std::size_t, key>> order_;
    std::size_t last_ = 0;
};

using remote::verdict;

/// Outcome of a request to take permits from a counter, or to check a latch.
struct count_verdict {
    verdict said{};
    std::optional<duration> left{}; ///< closed latch: time until it expires, and so opens
    /// If another kind of lock or counter uses the name: this kind, as text for messages. Otherwise
    /// null.
    const char* other = nullptr;
    std::string refused{}; ///< rate limiter: why the request can never be granted
};

/// Outcome of a change of a counter, or of a return of permits.
struct change_verdict {
    bool late = false;
    /// If another kind of lock or counter uses the name: this kind, as text for messages. Otherwise
    /// null.
    const char* other = nullptr;
    counter_answer what{};
    /// Number of free permits, of which the waiters are notified. For a latch: 1 if the latch is
    /// open now.
    std::int64_t rings = 0;
    std::string refused{}; ///< rate limiter: why the change was not made
};

/// Value of a counter on the server, with its expiry.
struct kept_number {
    std::int64_t value = 0;
    /// Time at which the counter expires, by the server's clock. The maximum means that the counter
    /// never expires.
    microseconds ends_at = microseconds::max();
};

/// Table of semaphores and latches. The table stores a number for each name, as Redisson does, and
/// remembers which requests were executed. Thread safety: none; the server's mutex protects it.
class counter_table {
public:
    /// Creates an empty object. The clock must outlive it.
    explicit counter_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Takes permits, or checks whether the latch is open.
    count_verdict look(const counter_ask&, duration memory);
    /// Gives back the permits that this request may have taken. If a late copy of the request
    /// arrives after that, the copy takes nothing.
    change_verdict take_back(const counter_ask&, duration memory);
    change_verdict change(const counter_change&, duration memory);
    /// Makes a change as another program would. So the table does not remember this request.
    change_verdict carry_out(const counter_change&);

    /// Returns the number that is stored for the counter. The result is empty if the counter does
    /// not exist.
    std::optional<std::int64_t> value(const lock_name&) const;
    std::vector<std::string> names() const;
    bool erase(const lock_name&);
    /// Removes a counter and returns its number, so that the caller can make it a leased semaphore.
    /// Returns nothing if the counter does not exist.
    std::optional<kept_number> take_out(const lock_name&);
    void put(const lock_name&, const kept_number&); ///< stores the counter again
    /// Returns the time until the counter expires. The result is empty if the counter does not
    /// exist or does not expire.
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

/// Table of leased permits. For each name it has the number of free permits, and the expiry of each
/// held permit. Expired permits become free before each access. Thread safety: none; the server's
/// mutex protects it.
class permit_table {
public:
    /// Creates an empty object. The clock must outlive it.
    explicit permit_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Outcome of a release. If `rings` is not 0, it is the number of free permits, and the waiters
    /// must be notified.
    struct left {
        bool was_ours = false;
        std::int64_t rings = 0;
    };

    verdict_on_look look(const ask&);
    /// Renews the permits. Returns false if some of them are no longer held.
    bool renew(const hold&, duration lease_time);
    /// Returns the time for which all of these permits are still held. The result is empty if some
    /// permits are not held, or if the permits do not expire.
    std::optional<duration> left_of(const hold&) const;
    left release(const hold&); ///< releases the permits of the hold that are still held
    /// Extends all holds of the owner's client, so that they end at the time `end` or later.
    void prolong(const owner_id&, microseconds end);
    change_verdict change(const counter_change&, duration memory);
    /// Makes a change as another program would. So the table does not remember this request.
    change_verdict carry_out(const counter_change&);

    /// Returns the state of the semaphore. The result is empty if the semaphore does not exist.
    std::optional<counter_state> inspect(const lock_name&) const;
    /// Returns the remaining lease of each held permit, by permit id.
    std::map<std::string, duration> held(const lock_name&) const;
    std::vector<std::string> names() const; ///< names of the semaphores with held permits
    /// Returns whether the semaphore has entries of held permits. An expired entry counts until it
    /// is removed. Without entries, a leased semaphore is a number like any other counter, as in
    /// Redisson.
    bool has_members(const lock_name&) const;
    /// Stores the number of free permits of this semaphore.
    void put(const lock_name&, const kept_number&);
    /// Removes a leased semaphore if no permits are held, and returns its number of permits.
    /// Returns nothing if there is no such semaphore.
    std::optional<kept_number> take_out(const lock_name&);
    bool erase(const lock_name&);
    void clear();
    void become(const permit_table& other) {
        pools_ = other.pools_;
        requests_.become(other.requests_);
    }

private:
    struct pool {
        std::int64_t free = 0;
        microseconds ends_at = microseconds::max(); // expiry of the semaphore; maximum: never
        std::map<std::string, microseconds> held{}; // expiry of each held permit, by id
        // Ids of expired permits that must still be removed.
        std::set<std::string> over{};
    };

    /// Frees expired permits, and returns the semaphore. Returns null if the semaphore does not
    /// exist.
    pool* find(const lock_name&);
    void take_back_expired(pool&) const;
    static std::vector<std::string> ids_of(const hold&);
    change_verdict add(const lock_name&, std::int64_t amount);
    change_verdict change_held(const counter_change&);

    const server_clock& clock_;
    std::map<std::string, pool> pools_;
    request_memory requests_;
};

/// Table of rate limiters: the settings and the draws of each limiter. A draw is a granted request.
/// It uses its permits for one interval of the server's clock. Redisson also stores how many
/// permits are left. This table computes that number from the draws. Thread safety: none; the
/// server's mutex protects it.
class rate_table {
public:
    /// Client whose draws are added up. If all bytes are zero, the draws of all clients are added
    /// up.
    using drawer = std::array<std::uint8_t, 16>;

    /// Creates an empty object. The clock must outlive it.
    explicit rate_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Draws permits if enough permits are left. Otherwise the verdict has the time until enough
    /// permits may be left. A repeated request draws no more permits while its first draw has not
    /// expired.
    count_verdict look(const counter_ask&);
    /// Removes the draw of this request.
    change_verdict take_back(const counter_ask&);
    change_verdict change(const counter_change&, duration memory);
    /// Makes a change as another program would. So the table does not remember this request.
    change_verdict carry_out(const counter_change&);

    counter_state state(const lock_name&, const drawer& client) const;
    bool is_set(const lock_name& name) const { return find(name) != nullptr; }
    std::vector<std::string> names() const;
    bool erase(const lock_name&);
    void clear(); ///< removes all limiters and all remembered requests
    void become(const rate_table& other) {
        limiters_ = other.limiters_;
        requests_.become(other.requests_);
    }

private:
    struct draw {
        owner_id by;
        microseconds at;
        std::int64_t permits;
    };
    using draws = std::vector<draw>; // draws, oldest first
    struct limiter {
        rate how;
        microseconds ends_at = microseconds::max();
        std::map<drawer, draws> drawn{};
    };

    limiter* find(const lock_name&);
    const limiter* find(const lock_name&) const;
    void use(limiter&);
    void remove_expired_draws(limiter&) const;
    void keep_for_waiter(limiter&, std::optional<duration> wait) const;
    std::optional<duration> wait_under_rate(const limiter&) const;
    static drawer drawer_of(const limiter&, const drawer& client);
    static microseconds counts_until(const limiter&, const draw&);
    std::int64_t free_in(const limiter&, const drawer& client) const;
    count_verdict busy(const limiter&, const draws&, std::int64_t missing) const;
    change_verdict set(const counter_change&);
    change_verdict release(limiter&, const counter_change&);

    const server_clock& clock_;
    std::map<std::string, limiter> limiters_;
    request_memory requests_;
};

} // namespace holdfast::memory
