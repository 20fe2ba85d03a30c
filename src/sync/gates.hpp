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

/// Key of a gate: a name and a family. It refers to the name and does not copy it.
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

/// Table of all gates of a client. A gate exists while a call holds or waits there.
class gates {
public:
    gate& of(gate_key);
    gate* find(gate_key);
    void forget(gate_key unused);
    void let_go(); ///< drops all holds and queued calls; calls that ask the store end by themselves
    std::size_t count() const;

    /// Returns the holds of this client under that name, in all families.
    std::vector<std::shared_ptr<wire_hold>> held_under(const std::string& name);

    /// Returns the local successor of that hold, because it may have been passed on. Null: this
    /// client has no hold with the same owner number.
    std::shared_ptr<wire_hold> heir_of(const hold&);

    /// Returns whether other clients listened when the lock was last released.
    bool others_listen(gate_key) const;
    void note_others(gate_key, bool listen);

    /// Notes the release of a lock whose waiters poll. If others wait, and this client has taken
    /// the lock again and again for several of their pauses, it leaves the lock to them for one
    /// pause.
    void note_polled(gate_key, bool others_wait, const wire_hold&, time_point now);
    void forget_polled(gate_key key) { polled_.erase(key.name); }
    /// Returns until when this client leaves the lock to others. A time in the past means that it
    /// need not.
    time_point left_to_others_until(gate_key) const;

private:
    /// Bound of these tables. A gate is deleted when it is unused, but the entries here are not.
    static constexpr std::size_t contended_max = 10'000;

    /// A spin lock that other clients wait for.
    struct polled {
        time_point had_since;
        time_point left_until = time_point::min();
    };

    using map = std::unordered_map<std::string, gate>;
    template <typename T>
    using by_family = std::array<T, std::size(families)>;

    map& named(family which) { return gates_[static_cast<std::size_t>(which)]; }

    by_family<map> gates_; // key: the name
    // Node of the last deleted gate, for reuse. Most gates come and go with every hold.
    map::node_type spare_;
    by_family<std::unordered_set<std::string>> contended_;
    std::unordered_map<std::string, polled> polled_;
};

} // namespace holdfast::sync
