// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/counter_table.hpp"

#include <array>
#include <vector>

namespace holdfast::memory {

/// Table of rate limiters: the setting of each, and its draws. A draw counts for one interval of
/// the server's clock. Redisson also stores how many permits are left; here that is computed from
/// the draws. Thread safety: none; the server's mutex protects it.
class rate_table {
public:
    /// Client whose draws are counted together; all zeros: the draws of all clients.
    using drawer = std::array<std::uint8_t, 16>;

    /// The clock must outlive this object.
    explicit rate_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Draws permits if enough are left. If busy, the answer has the time until there may be
    /// enough. A repeated request does not draw again while its draw counts.
    count_verdict look(const counter_ask&);
    /// Removes the draw of that request.
    change_verdict take_back(const counter_ask&);
    change_verdict change(const counter_change&, duration memory);
    change_verdict carry_out(const counter_change&); ///< of a foreign program; not remembered

    counter_state state(const lock_name&, const drawer& client) const;
    bool is_set(const lock_name& name) const { return find(name) != nullptr; }
    std::vector<std::string> names() const;
    bool erase(const lock_name&);
    void clear(); ///< removes the remembered requests too
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
    using draws = std::vector<draw>; // in the order of time
    struct limiter {
        rate how;
        microseconds ends_at = microseconds::max();
        std::map<drawer, draws> drawn{};
    };

    limiter* find(const lock_name&);
    const limiter* find(const lock_name&) const;
    void use(limiter&);
    void keep_for_waiter(limiter&, std::optional<duration> wait) const;
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
