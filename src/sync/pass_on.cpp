// SPDX-License-Identifier: Apache-2.0
#include "sync/pass_on.hpp"

#include "sync/change.hpp"
#include "sync/counter_subject.hpp"
#include "sync/engine.hpp"

#include <algorithm>

namespace holdfast::sync {
namespace {

bool within_budget_of_passes(engine& home, const gate_key& key, const gate& here,
                             std::size_t more) {
    const hand_off& how = home.how().hand_off;
    const duration most = home.queues().others_listen(key) ? how.within / 2 : how.within;
    return here.passes() + more <= how.times_max && home.now() < later(here.last_contact(), most);
}

bool some_want_more_replicas(const std::vector<std::shared_ptr<acquisition>>& some,
                             std::uint8_t than) {
    return std::ranges::any_of(
        some, [than](const auto& each) { return each->wanted.of->replicas > than; });
}

} // namespace

bool pass_on(engine& home, const counter_change& released) {
    const gate_key key{released.name.text, family::semaphore};
    gate* const here = home.closing() ? nullptr : home.queues().find(key);
    if (!here)
        return false;
    const auto some = here->served_by(released.amount);
    if (some.empty() || some_want_more_replicas(some, released.replicas) ||
        !within_budget_of_passes(home, key, *here, some.size())) {
        here->note_contact(home.now());
        return false;
    }
    here->note_passes(some.size());
    for (const std::shared_ptr<acquisition>& each : some)
        // `succeed_counted()` returns false if the handler of another completed call has cancelled
        // this call.
        if (!each->succeed_counted())
            give_back(static_cast<const counter_subject&>(*each->wanted.of), each->wanted.amount);
    return true;
}

} // namespace holdfast::sync
