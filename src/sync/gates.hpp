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

/// Which gate is meant. Refers to the name.
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

/// All gates of a client, each there while somebody holds or waits.
class gates {
public:
    gate& of(gate_key);
    gate* find(gate_key);
    void forget(gate_key unused);
    void let_go(); ///< of what they hold and of who queues; who negotiates leaves by itself
    std::size_t count() const;

    /// What this client holds under that name, in whatever family.
    std::vector<std::shared_ptr<wire_hold>> held_under(const std::string& name);

    /// Who has that hold by now, for it may have been handed on. Null: nobody has, or another one
    /// was taken.
    std::shared_ptr<wire_hold> heir_of(const hold&);

    /// Whether other clients listened when that lock was last released.
    bool others_listen(gate_key) const;
    void note_others(gate_key, bool listen);

    /// Notes that a lock whose waiters poll was released. If others wait, and this client has taken
    /// it again and again for several of their pauses, it leaves the lock to them for one pause.
    void note_polled(gate_key, bool others_wait, const wire_hold&, time_point now);
    void forget_polled(gate_key key) { polled_.erase(key.name); }
    /// Until when this client leaves that lock to others. In the past: it need not.
    time_point left_to_others_until(gate_key) const;

private:
    /// A gate forgets when nobody needs it any more, this does not; but for ever it cannot grow.
    static constexpr std::size_t contended_max = 10'000;

    /// A spin lock for which others wait.
    struct polled {
        time_point had_since;
        time_point left_until = time_point::min();
    };

    using map = std::unordered_map<std::string, gate>;
    template <typename T>
    using by_family = std::array<T, std::size(families)>;

    map& named(family which) { return gates_[static_cast<std::size_t>(which)]; }

    by_family<map> gates_; // by name
    map::node_type spare_; // of a gate that was left: most come and go with every hold
    by_family<std::unordered_set<std::string>> contended_;
    std::unordered_map<std::string, polled> polled_;
};

} // namespace holdfast::sync
