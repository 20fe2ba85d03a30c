// SPDX-License-Identifier: Apache-2.0
#include "sync/gates.hpp"

#include <utility>

namespace holdfast::sync {

gate& gates::of(gate_key key) {
    map& known = named(key.of);
    if (spare_.empty())
        return known[key.name];
    spare_.key() = key.name;
    auto entered = known.insert(std::move(spare_));
    spare_ = std::move(entered.node); // the node comes back if the gate existed already
    return entered.position->second;
}

gate* gates::find(gate_key key) {
    map& known = named(key.of);
    const auto found = known.find(key.name);
    return found == known.end() ? nullptr : &found->second;
}

void gates::forget(gate_key unused) {
    spare_ = named(unused.of).extract(unused.name);
    spare_.mapped().owe_courtesy(false);
}

void gates::let_go() {
    for (map& known : gates_) {
        for (auto& [name, each] : known)
            each.let_go();
        std::erase_if(known, [](const auto& entry) { return entry.second.unused(); });
    }
}

std::size_t gates::count() const {
    std::size_t all = 0;
    for (const map& known : gates_)
        all += known.size();
    return all;
}

std::vector<std::shared_ptr<wire_hold>> gates::held_under(const std::string& name) {
    std::vector<std::shared_ptr<wire_hold>> holds;
    for (const family each : families)
        if (const gate* const here = find({name, each}))
            for (std::shared_ptr<wire_hold>& held : here->holds())
                holds.push_back(std::move(held));
    return holds;
}

std::shared_ptr<wire_hold> gates::heir_of(const hold& what) {
    const gate* const here = find(key_of(what));
    for (std::shared_ptr<wire_hold>& held : here ? here->holds() : gate::hold_set{})
        if (held->what.owner == what.owner)
            return std::move(held);
    return nullptr;
}

bool gates::others_listen(gate_key key) const {
    return contended_[static_cast<std::size_t>(key.of)].contains(key.name);
}

void gates::note_others(gate_key key, bool listen) {
    auto& contended = contended_[static_cast<std::size_t>(key.of)];
    if (!listen) {
        contended.erase(key.name);
        return;
    }
    if (contended.size() >= contended_max)
        contended.clear();
    contended.insert(key.name);
}

void gates::note_polled(gate_key key, bool others_wait, const wire_hold& held, time_point now) {
    constexpr int pauses_of_one_client = 2;
    if (!others_wait)
        return forget_polled(key);
    if (polled_.size() >= contended_max)
        polled_.clear();
    polled& here = polled_.try_emplace(key.name, polled{held.taken_at}).first->second;
    if (here.left_until > here.had_since) // the others had their turn: count anew
        here = polled{held.taken_at};
    if (now - here.had_since >= pauses_of_one_client * held.polled_within())
        here.left_until = later(now, held.polled_within());
}

time_point gates::left_to_others_until(gate_key key) const {
    const auto found = polled_.find(key.name);
    return found == polled_.end() ? time_point::min() : found->second.left_until;
}

} // namespace holdfast::sync
