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

    /// Outcome of a release. `rings` is the number of free permits for which waiters are notified.
    struct left {
        bool was_ours = false;
        std::int64_t rings = 0;
    };

    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: some permit is not held any more
    /// Returns how long all of the permits are still held. Empty: some are not held, or they have
    /// no end.
    std::optional<duration> left_of(const hold&) const;
    left release(const hold&); ///< releases the permits that are still held
    /// Extends all holds of that owner's client to `end`; shortens none.
    void prolong(const owner_id&, microseconds end);
    change_verdict change(const counter_change&, duration memory);
    change_verdict carry_out(const counter_change&); ///< of a foreign program; not remembered

    std::optional<counter_state> inspect(const lock_name&) const; ///< empty: there is none
    /// Returns the rest of each lease, by permit id.
    std::map<std::string, duration> held(const lock_name&) const;
    std::vector<std::string> names() const; ///< names with held permits
    /// Returns whether permits are held, or were held and their expired entries were not removed
    /// yet. Otherwise a leased semaphore looks like any other number, as in Redisson.
    bool has_members(const lock_name&) const;
    void put(const lock_name&, const kept_number&); ///< takes over a number as free permits
    /// Removes a leased semaphore without held permits and returns its number. Returns empty if
    /// there is none.
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
        microseconds ends_at = microseconds::max(); // it does not expire
        std::map<std::string, microseconds> held{}; // expiry of each held permit, by its id
        std::set<std::string> over{};               // expired ids that nobody has removed yet
    };

    pool* find(const lock_name&); ///< with expired permits taken back
    void take_back_expired(pool&) const;
    static std::vector<std::string> ids_of(const hold&);
    change_verdict add(const lock_name&, std::int64_t amount);
    change_verdict change_held(const counter_change&);

    const server_clock& clock_;
    std::map<std::string, pool> pools_;
    request_memory requests_;
};

} // namespace holdfast::memory
