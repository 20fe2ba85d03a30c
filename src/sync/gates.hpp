// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/family.hpp"
#include "sync/gate.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace holdfast::sync {

/// Key of a gate: a name and a family. The key refers to the name without a copy.
struct gate_key {
    const std::string& name;
    family of;
};

inline gate_key key_of(const hold& what) {
    return {what.name.text, family_of(what.kind)};
}
inline gate_key key_of(const acquisition& call) {
    return {call.wanted.of->entry(), call.wanted.of->kin()};
}

/// Table of all gates of a client. A gate exists while a call or a hold of this client needs it.
class gates {
public:
    gate& of(gate_key);
    gate* find(gate_key);
    void forget(gate_key unused);
    /// Drops all holds and queued calls; calls that ask the store now end on their own.
    void let_go();
    std::size_t count() const;

    /// Returns this client's holds under that name, in all families.
    std::vector<std::shared_ptr<wire_hold>> held_under(const std::string& name);

    /// Returns this client's present hold with the same owner number. It may be a successor,
    /// because the hold may have been passed on. Returns null if there is none.
    std::shared_ptr<wire_hold> heir_of(const hold&);

    /// Returns whether other clients listened when the lock was last released.
    bool others_listen(gate_key) const;
    void note_others(gate_key, bool listen);

    /// Notes the release of a lock whose waiters poll. If other clients wait, and this client has
    /// taken the lock repeatedly for several poll pauses, it leaves the lock to the others for one
    /// pause.
    void note_polled(gate_key, bool others_wait, const wire_hold&, time_point now);
    void forget_polled(gate_key key) { polled_.erase(key.name); }
    /// Returns the time until which this client leaves the lock to other clients. If it need not
    /// leave the lock, the time is in the past.
    time_point left_to_others_until(gate_key) const;

private:
    /// Maximal number of entries in these tables. Unused gates are deleted, but entries of these
    /// tables are not.
    static constexpr std::size_t contended_max = 10'000;

    /// State of a spin lock that other clients wait for.
    struct polled {
        time_point had_since;
        time_point left_until = time_point::min();
    };

    using map = std::unordered_map<std::string, gate>;
    template <typename T>
    using by_family = std::array<T, std::size(families)>;

    map& named(family which) { return gates_[static_cast<std::size_t>(which)]; }

    by_family<map> gates_; // key: the name
    // Node of the last deleted gate, kept for reuse. Most gates are created and deleted with each
    // hold.
    map::node_type spare_;
    by_family<std::unordered_set<std::string>> contended_;
    std::unordered_map<std::string, polled> polled_;
};

} // namespace holdfast::sync
