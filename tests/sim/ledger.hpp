// SPDX-License-Identifier: Apache-2.0
// List of all running operations and of all leases of the simulated programs, for the checkers.
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
#include <string_view>
#include <unordered_map>
#include <vector>

namespace holdfast::sim {

/// Hash of a text of any string type.
struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};

/// Map with texts as keys, for example owners. Its order is arbitrary, so no checker may depend on
/// it.
template <typename Value>
using by_text = std::unordered_map<std::string, Value, text_hash, std::equal_to<>>;

/// Returns the client's identity in an owner `<identity>:<number>`.
inline std::string_view client_in(std::string_view owner) {
    return owner.substr(0, owner.rfind(':'));
}

/// Lease that a caller has, with the information that the checkers need.
struct claim {
    claim(subject w, lease l, duration longest, std::string beside, unsigned replicas);
    claim(const claim&) = delete;

    const subject who;
    lease held;
    const std::string owner; ///< owner in the form `<uuid>:<number>`
    /// identity of the hold; equal for leases of the same hold
    const void* const hold;
    const std::vector<std::string> permits; ///< ids of the permits, if it is a lease of permits
    const bool reads;                       ///< true: for a reader, who shares the lock
    /// owner of another hold that this lease needs; empty: none
    const std::string beside{};
    /// number of replicas that must have confirmed it
    const unsigned wants;
    duration longest;                            ///< longest lease time that was requested
    time_point renewed_from = time_point::min(); ///< when a fixed lease became a renewed one
    bool told_lost = false;                      ///< whether the callback on lost() was called
    /// whether the caller believed in the lease when last no task was ready
    bool is_believed = true;
    std::optional<std::stop_callback<std::function<void()>>> on_lost;
    std::optional<time_point> first_seen; ///< time at which the checkers saw the lease first
    /// time since which the server does not show this owner
    std::optional<time_point> absent_since;
};

enum class deed {
    lock,
    try_lock,
    try_lock_for,
    acquire,     ///< takes permits, with or without a timeout
    wait,        ///< waits for a latch
    upgrade,     ///< takes the write lock in addition to a read hold
    read_beside, ///< takes the read lock in addition to a write hold
    share,
    extend,
    unlock,
    is_locked,
    remaining_lease,
    force_unlock,
    release_permits,
    add_permits, ///< adds permits; a negative number removes permits
    drain,
    set_permits,
    count_down,
    set_count,
    erase,
    value, ///< reads the value of a counter
    set_all_permits,
    give_back_permit, ///< gives back one permit of a lease
    set_permit_lease,
    set_rate,
    give_rate, ///< gives back a draw of a rate limiter
    close,
};

constexpr bool acquires(deed d) {
    return d <= deed::read_beside;
}
/// Returns whether the operation can wait for a counter.
constexpr bool counts(deed d) {
    return d == deed::acquire || d == deed::wait;
}
constexpr bool changes_counter(deed d) {
    return d >= deed::release_permits && d < deed::close && d != deed::value;
}
const char* spelled(deed);

/// Asynchronous operation that is running or has just ended.
struct operation {
    deed what;
    subject who;
    duration timeout = duration::max();
    duration lease{}; ///< shortest lease that an acquisition may ask for; zero for other operations
    time_point started_at{};
    int generation = 0; ///< generation of the client
    bool reads = false; ///< true: for a reader, who shares the lock
    /// greatest token of this lock before the operation began
    std::uint64_t token_floor = 0;
    std::optional<time_point> cancelled_at{};
    std::int64_t amount = 0; ///< amount of permits or counts
};

enum class outcome {
    done, ///< success; for an acquisition: granted
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
    using operations = std::map<std::uint64_t, operation>; // operations in the order of their start
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

    /// Returns whether a caller has a lease of this owner, even a lost one.
    bool claimed(const std::string& owner) const;
    /// Returns whether a caller has a lease of this owner that it believes to be valid.
    bool believed_of(const std::string& owner) const;

private:
    operations under_way_;
    claims claims_;
    std::uint64_t last_ = 0;
};

} // namespace holdfast::sim
