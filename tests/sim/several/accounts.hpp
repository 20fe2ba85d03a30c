// SPDX-License-Identifier: Apache-2.0
// Operations and beliefs of the programs in a world of several servers.
#pragma once

#include "sim/ledger.hpp"

#include <holdfast/lease.hpp>
#include <holdfast/time.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace holdfast::sim::several {

/// One lock on one server (`spot`).
struct spot {
    int server = 0;
    int name = 0;
    auto operator<=>(const spot&) const = default;
};

/// Ways to combine locks into one acquisition.
enum class way { single, all, any, majority };

/// Asynchronous operation that is running or has just ended.
struct deal {
    deed what{};
    way how = way::single;
    int program = -1;
    int actor = -1;
    std::vector<spot> of{};
    duration timeout = duration::max();
    duration lease{}; ///< requested lease time
    time_point started_at{};
    std::vector<int> generations{}; ///< generations of its clients, by server
    std::optional<time_point> cancelled_at{};
};

/// Part of a claim that belongs to one server.
struct share_of_claim {
    spot where{};
    std::string owner{};
    std::shared_ptr<sync::lock_handle> hold{};
};

/// A caller's lease (`claim`).
struct claim {
    claim(const deal&, lease, duration longest_asked);
    claim(const claim&) = delete;

    const way how;
    const int program, actor;
    const std::vector<spot> of;         ///< locks in the order of the members
    const std::vector<int> generations; ///< generations of the clients, from the deal
    lease held;
    const void* const hold; ///< identifies the hold; equal for leases that share a hold
    duration longest;       ///< longest lease time that was requested
    bool told_lost = false;
    std::optional<std::stop_callback<std::function<void()>>> on_lost{};
    /// time since which a needed server shows another owner
    std::optional<time_point> absent_since{};

    bool is_joint() const { return how == way::all || how == way::majority; }
    std::size_t needs() const { return how == way::majority ? of.size() / 2 + 1 : of.size(); }
    std::vector<share_of_claim> shares() const; ///< returns the current parts of the claim
};

class accounts {
public:
    using deals = std::map<std::uint64_t, deal>; // operations in the order of their start

    std::uint64_t begin(deal d) {
        under_way_.emplace(++last_, std::move(d));
        return last_;
    }
    deal& at(std::uint64_t id) { return under_way_.at(id); }
    deal end(std::uint64_t id) { return under_way_.extract(id).mapped(); }
    const deals& under_way() const { return under_way_; }

    void add(claim& c) { claims_.push_back(&c); }
    void remove(const claim& c) { std::erase(claims_, &c); }
    const std::vector<claim*>& claims() const { return claims_; }

private:
    deals under_way_;
    std::vector<claim*> claims_;
    std::uint64_t last_ = 0;
};

} // namespace holdfast::sim::several
