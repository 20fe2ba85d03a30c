// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/counter_table.hpp"

#include <array>
#include <vector>

namespace holdfast::memory {

/// Table of rate limiters, with the setting and the draws of each limiter. A draw counts for one
/// interval of the server's clock. Redisson also stores how many permits are left; this table
/// calculates that number from the draws. Thread safety: none; the server's mutex protects it.
class rate_table {
public:
    /// Client with draws that are counted together. All zeros: the draws of all clients are counted
    /// together.
    using drawer = std::array<std::uint8_t, 16>;

    /// The clock must outlive this object.
    explicit rate_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Draws permits if enough are left. If not, the verdict contains the time until enough may be
    /// left. A repeated request does not draw again while its first draw counts.
    count_verdict look(const counter_ask&);
    /// Removes the draw that this request made.
    change_verdict take_back(const counter_ask&);
    change_verdict change(const counter_change&, duration memory);
    /// change by a foreign program; it is not remembered
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
