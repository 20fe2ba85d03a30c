// SPDX-License-Identifier: Apache-2.0
// What the simulated programs are doing and believe: the part of the truth that checkers read.
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

/// A lease in somebody's hands.
struct claim {
    claim(subject w, lease l, duration longest, std::string beside, unsigned replicas);
    claim(const claim&) = delete;

    const subject who;
    lease held;
    const std::string owner;                ///< `<uuid>:<number>`
    const void* const hold;                 ///< the same for leases that share one
    const std::vector<std::string> permits; ///< that it has, if it is of those
    const bool reads;                       ///< it may be shared with other readers
    const std::string beside{};             ///< the owner of the hold on which it stands, if on any
    const unsigned wants;                   ///< so many replicas must have confirmed it
    duration longest;                       ///< of the lengths asked for it
    bool told_lost = false;                 ///< a callback on lost() ran
    std::optional<std::stop_callback<std::function<void()>>> on_lost;
    std::optional<time_point> first_seen;   ///< by the checkers, at its beginning
    std::optional<time_point> absent_since; ///< the server shows another owner, or none
};

enum class deed {
    lock,
    try_lock,
    try_lock_for,
    acquire,     ///< of permits, with any patience
    wait,        ///< for a latch
    upgrade,     ///< to write on top of a read hold
    read_beside, ///< to read under a write hold
    share,
    extend,
    unlock,
    is_locked,
    remaining_lease,
    force_unlock,
    release_permits,
    add_permits, ///< below zero: so many fewer
    drain,
    set_permits,
    count_down,
    set_count,
    erase,
    value, ///< of a counter
    set_all_permits,
    give_back_permit, ///< one of somebody's lease
    set_permit_lease,
    set_rate,
    give_rate, ///< what somebody drew
    close,
};

constexpr bool acquires(deed d) {
    return d <= deed::read_beside;
}
/// Whether it waits for what is counted.
constexpr bool counts(deed d) {
    return d == deed::acquire || d == deed::wait;
}
constexpr bool changes_counter(deed d) {
    return d >= deed::release_permits && d < deed::close && d != deed::value;
}
const char* spelled(deed);

/// An asynchronous operation under way, or just completed.
struct operation {
    deed what;
    subject who;
    duration patience = duration::max();
    time_point started_at{};
    int generation = 0;            ///< of the client it was called on
    bool reads = false;            ///< as many others may
    std::uint64_t token_floor = 0; ///< the greatest that was given of its name before it began
    std::optional<time_point> cancelled_at{};
    std::int64_t amount = 0; ///< of a counter
};

enum class outcome {
    done, ///< granted, if it was to acquire
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
    using operations = std::map<std::uint64_t, operation>; // in order of their beginning
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

    /// Whether anybody has a lease, believed or not, of that owner.
    bool claimed(const std::string& owner) const;
    /// Whether anybody believes in one.
    bool believed_of(const std::string& owner) const;

private:
    operations under_way_;
    claims claims_;
    std::uint64_t last_ = 0;
};

} // namespace holdfast::sim
