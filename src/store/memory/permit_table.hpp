// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/counter_table.hpp"
#include "store/memory/exclusive_table.hpp"
#include "store/memory/request_memory.hpp"
#include "store/memory/server_clock.hpp"

#include <holdfast/counters.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace holdfast::memory {

/// Table of leased permits. For each name it has the number of free permits, and each held permit
/// with its expiry. Expired permits become free before each access. Thread safety: none; the
/// server's mutex protects it.
class permit_table {
public:
    /// The clock must outlive this object.
    explicit permit_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Outcome of a release. `rings` is the number of free permits that waiters are notified of.
    struct left {
        bool was_ours = false;
        std::int64_t rings = 0;
    };

    verdict_on_look look(const ask&);
    /// false: some of the permits are not held any more
    bool renew(const hold&, duration lease_time);
    /// Returns the remaining time for which all of the permits are held. Empty: some are not held,
    /// or they do not expire.
    std::optional<duration> left_of(const hold&) const;
    left release(const hold&); ///< releases the permits of the hold that are still held
    /// Extends all holds of the owner's client to `end`. Shortens no hold.
    void prolong(const owner_id&, microseconds end);
    change_verdict change(const counter_change&, duration memory);
    /// change by a foreign program; it is not remembered
    change_verdict carry_out(const counter_change&);

    /// state of the semaphore; empty: it does not exist
    std::optional<counter_state> inspect(const lock_name&) const;
    /// Returns the remaining lease of each held permit, by permit id.
    std::map<std::string, duration> held(const lock_name&) const;
    std::vector<std::string> names() const; ///< names of the semaphores with held permits
    /// Returns whether the semaphore has entries of held permits. An expired entry counts until it
    /// is removed. Without such entries a leased semaphore looks the same as any other number, as
    /// in Redisson.
    bool has_members(const lock_name&) const;
    /// stores a number as the number of free permits
    void put(const lock_name&, const kept_number&);
    /// Removes a leased semaphore without held permits and returns its number. Returns an empty
    /// result if there is no such semaphore.
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
        microseconds ends_at = microseconds::max(); // expiry of the semaphore; maximum: no expiry
        std::map<std::string, microseconds> held{}; // expiry of each held permit, by its id
        // ids of expired permits that are still to be removed
        std::set<std::string> over{};
    };

    /// returns the semaphore after expired permits became free; null: none
    pool* find(const lock_name&);
    void take_back_expired(pool&) const;
    static std::vector<std::string> ids_of(const hold&);
    change_verdict add(const lock_name&, std::int64_t amount);
    change_verdict change_held(const counter_change&);

    const server_clock& clock_;
    std::map<std::string, pool> pools_;
    request_memory requests_;
};

} // namespace holdfast::memory
