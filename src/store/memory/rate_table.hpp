// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/memory/counter_table.hpp"

#include <array>
#include <vector>

namespace holdfast::memory {

/// The rate limiters of a server: what each is set to, and the draws of which each counts for one
/// interval of the server's clock. Redisson keeps how many are left, too; here that is what the
/// draws leave.
/// Thread safety: none; the server's mutex is around it.
class rate_table {
public:
    /// Whose draws count together: a client's, or all (zeros).
    using drawer = std::array<std::uint8_t, 16>;

    /// Must outlive it.
    explicit rate_table(const server_clock& clock)
        : clock_{clock}
        , requests_{clock} {}

    /// Draws, if there is enough; busy: until there may be. A draw that counts is not drawn again.
    count_verdict look(const counter_ask&);
    /// What that look drew counts no more.
    change_verdict take_back(const counter_ask&);
    change_verdict change(const counter_change&, duration memory);
    change_verdict carry_out(const counter_change&); ///< a stranger's, which is not remembered

    counter_state state(const lock_name&, const drawer& client) const;
    bool is_set(const lock_name& name) const { return find(name) != nullptr; }
    std::vector<std::string> names() const;
    bool erase(const lock_name&);
    void clear(); ///< the requests, too
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
    using draws = std::vector<draw>; // in order
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
