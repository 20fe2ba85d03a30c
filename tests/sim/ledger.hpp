// SPDX-License-Identifier: Apache-2.0
// Operations and beliefs of the simulated programs, which the checkers read.
#pragma once

#include "sim/trace.hpp"

#include <holdfast/lease.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace holdfast::sim {

/// Lease that a caller has.
struct claim {
    claim(subject w, lease l, duration longest, std::string beside, unsigned replicas);
    claim(const claim&) = delete;

    const subject who;
    lease held;
    const std::string owner;                ///< `<uuid>:<number>`
    const void* const hold;                 ///< the same for leases that share a hold
    const std::vector<std::string> permits; ///< ids of its permits, if it is a lease of permits
    const bool reads;                       ///< it may be shared with other readers
    const std::string beside{};             ///< owner of the hold on which it is based, if any
    const unsigned wants;                   ///< replicas that must have confirmed it
    duration longest;                       ///< longest length that was requested
    bool told_lost = false;                 ///< a callback on lost() ran
    std::optional<std::stop_callback<std::function<void()>>> on_lost;
    std::optional<time_point> first_seen;   ///< when the checkers first saw it
    std::optional<time_point> absent_since; ///< since when the server shows another owner, or none
};

enum class deed {
    lock,
    try_lock,
    try_lock_for,
    acquire,     ///< takes permits, with any timeout
    wait,        ///< waits for a latch
    upgrade,     ///< writes on top of a read hold
    read_beside, ///< reads under a write hold
    share,
    extend,
    unlock,
    is_locked,
    remaining_lease,
    force_unlock,
    release_permits,
    add_permits, ///< may be negative, which removes permits
    drain,
    set_permits,
    count_down,
    set_count,
    erase,
    value, ///< of a counter
    set_all_permits,
    give_back_permit, ///< one permit of a lease
    set_permit_lease,
    set_rate,
    give_rate, ///< gives back a draw
    close,
};

constexpr bool acquires(deed d) {
    return d <= deed::read_beside;
}
/// Returns whether the operation waits for a counter.
constexpr bool counts(deed d) {
    return d == deed::acquire || d == deed::wait;
}
constexpr bool changes_counter(deed d) {
    return d >= deed::release_permits && d < deed::close && d != deed::value;
}
const char* spelled(deed);

/// Asynchronous operation in progress, or just completed.
struct operation {
    deed what;
    subject who;
    duration patience = duration::max();
    time_point started_at{};
    int generation = 0;            ///< of the client on which it was called
    bool reads = false;            ///< may be shared with other readers
    std::uint64_t token_floor = 0; ///< greatest token of its name that was granted before it began
    std::optional<time_point> cancelled_at{};
    std::int64_t amount = 0; ///< of a counter
};

enum class outcome {
    done, ///< granted, if it was an acquisition
    nothing,
    cancelled,
    unreachable,
    outcome_unknown,
    lease_lost,
    not_owner,
    closed,
    clock_unstable,
    overloaded,
    refused,
    would_deadlock,
    other,
};

outcome meaning_of(const error_code&);
const char* spelled(outcome);

class ledger {
public:
    using operations = std::map<std::uint64_t, operation>; // in the order of their start
    using claims = std::vector<claim*>;

    std::uint64_t begin(operation o) {
        under_way_.emplace(++last_, o);
        return last_;
    }
    operation& at(std::uint64_t id) { return under_way_.at(id); }
    operation end(std::uint64_t id) { return under_way_.extract(id).mapped(); }
    const operations& under_way() const { return under_way_; }

    void add(claim& c) { claims_.push_back(&c); }
    void remove(const claim& c) { std::erase(claims_, &c); }
    const claims& believed() const { return claims_; }

    /// Returns whether a caller has a lease of that owner, believed or not.
    bool claimed(const std::string& owner) const;
    /// Returns whether a caller believes in a lease of that owner.
    bool believed_of(const std::string& owner) const;

private:
    operations under_way_;
    claims claims_;
    std::uint64_t last_ = 0;
};

} // namespace holdfast::sim
