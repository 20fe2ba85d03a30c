// SPDX-License-Identifier: Apache-2.0
#include "sync/pass_on.hpp"

#include "sync/engine.hpp"
#include "sync/mutants.hpp"

namespace holdfast::sync {
namespace {

bool within_budget_of_passes(engine& home, const gate_key& key, const gate& here) {
    const hand_off& how = home.how().hand_off;
    const duration most = home.queues().others_listen(key) ? how.within / 2 : how.within;
    return here.passes() < how.times_max && home.now() < later(here.last_contact(), most);
}

} // namespace

std::int64_t pass_on(engine& home, const lock_name& name, std::int64_t permits) {
    const gate_key key{name.text, family::semaphore};
    const std::int64_t all = permits;
    while (permits > 0) {
        gate* const here = home.closing() ? nullptr : home.queues().find(key);
        acquisition* const next = here ? here->first_to_serve() : nullptr;
        if (!next || next->wanted.amount > permits || !within_budget_of_passes(home, key, *here))
            break;
        here->note_pass();
        permits -= next->wanted.amount; // before it is told: it may release them at once
        (void)next->succeed_counted();
    }
    if (gate* const here = permits > 0 ? home.queues().find(key) : nullptr)
        here->note_contact(home.now());
    return planted(mutant::permit_passed_twice) ? all : permits;
}

} // namespace holdfast::sync
