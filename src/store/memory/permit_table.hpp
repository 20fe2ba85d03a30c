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

/// The permits of a server that are leased: under a name so many that are free, and those that are
/// held, each with its end. What is over goes back before anybody looks.
/// Thread safety: none; the server's mutex is around it.
class permit_table {
public:
    /// Must outlive it.
    explicit permit_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// So many permits can be had now; of a look at what is held, by the asker, too.
    struct left {
        bool was_ours = false;
        std::int64_t rings = 0;
    };

    verdict_on_look look(const ask&);
    bool renew(const hold&, duration lease_time); ///< false: not all are held any more
    /// How long all of them are still held. Empty: not all are, or they have no end.
    std::optional<duration> left_of(const hold&) const;
    left release(const hold&); ///< those that are still there
    /// Whatever that owner's client holds does not end sooner.
    void prolong(const owner_id&, microseconds end);
    change_verdict change(const counter_change&, duration memory);
    change_verdict carry_out(const counter_change&); ///< a stranger's, which is not remembered

    std::optional<counter_state> inspect(const lock_name&) const; ///< nothing: there is none
    std::map<std::string, duration> held(const lock_name&) const; ///< by id: for so long
    std::vector<std::string> names() const;                       ///< of which some are held
    /// Whether permits are held, or were and nobody has taken out those whose lease is over.
    /// Without them a leased semaphore is a number like others, as Redisson keeps it.
    bool has_members(const lock_name&) const;
    void put(const lock_name&, const kept_number&); ///< a number that is its free permits now
    /// Removes one that has no members, and returns its number. Nothing: there is none.
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
        microseconds ends_at = microseconds::max(); // it has no end
        std::map<std::string, microseconds> held{}; // the end of each permit, by its id
        std::set<std::string> over{};               // ids that nobody has taken out yet
    };

    pool* find(const lock_name&); ///< as it is now
    void take_back_expired(pool&) const;
    static std::vector<std::string> ids_of(const hold&);
    change_verdict add(const lock_name&, std::int64_t amount);
    change_verdict change_held(const counter_change&);

    const server_clock& clock_;
    std::map<std::string, pool> pools_;
    request_memory requests_;
};

} // namespace holdfast::memory
