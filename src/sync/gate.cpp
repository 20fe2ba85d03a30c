// SPDX-License-Identifier: Apache-2.0
#include "sync/gate.hpp"

#include <algorithm>

namespace holdfast::sync {

void gate::leave(const alarm& wake) {
    const auto found = std::find(queue_.begin(), queue_.end(), &wake);
    const bool was_first = found == queue_.begin();
    queue_.erase(found);
    if (was_first) // only then; a ring sends whoever negotiates to the store
        ring_first();
}

void gate::hold_over(const wire_hold& held) {
    if (holder_.get() != &held)
        return;
    holder_.reset();
    if (!planted(mutant::gate_skips_next))
        ring_first();
}

void gate::ring_first() {
    if (!holder_ && !queue_.empty())
        queue_.front()->ring();
}

gate& gates::of(const std::string& name) {
    return by_name_.try_emplace(name, name).first->second;
}

gate* gates::find(const std::string& name) {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
}

void gates::hold_over(const wire_hold& held) {
    const auto found = by_name_.find(held.what.name.text);
    if (found == by_name_.end())
        return;
    found->second.hold_over(held);
    if (found->second.free())
        by_name_.erase(found);
}

void gates::forget_if_free(const gate& left) {
    if (left.free())
        by_name_.erase(by_name_.find(left.name()));
}

void gates::let_go() {
    for (auto& [name, each] : by_name_)
        each.let_go();
    std::erase_if(by_name_, [](const auto& entry) { return entry.second.free(); });
}

turn::turn(gates& all, const std::string& name, alarm& wake)
    : all_{all}
    , gate_{all.of(name)}
    , wake_{wake} {
    gate_.line_up(wake_);
}

turn::~turn() {
    gate_.leave(wake_);
    all_.forget_if_free(gate_);
}

} // namespace holdfast::sync
