// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/counter_effect.hpp"

#include <algorithm>

namespace holdfast::mysql {
namespace {

/// Returns the effect of setting the total number of permits to `all`. The answer is the number of
/// free permits.
counter_effect all_are(std::int64_t all, const counter_now& now) {
    const std::int64_t is_free = all - now.held;
    counter_effect made;
    made.said.beyond = is_free > counted_max || is_free < -counted_max || all > counted_max;
    made.said.done = !made.said.beyond;
    made.said.value = made.said.beyond ? now.value.value_or(0) - now.held : is_free;
    made.changes = made.said.done;
    made.value = all;
    return made;
}

counter_effect unchanged_as(const counter_now& now) {
    counter_effect made;
    made.said.value = now.value.value_or(0) - now.held;
    return made;
}

counter_effect counted_down(std::int64_t by, const counter_now& now) {
    if (!now.value)
        return {};
    counter_effect made{.changes = true};
    made.said.value = std::max<std::int64_t>(*now.value - by, 0);
    made.said.done = *now.value > 0 && made.said.value == 0;
    if (made.said.value > 0)
        made.value = made.said.value;
    return made;
}

counter_effect made_new(std::int64_t amount, const counter_now& now) {
    if (now.value)
        return unchanged_as(now);
    counter_effect made = all_are(amount, now);
    return made;
}

counter_effect about_a_permit(const counter_change& what, const counter_now& now) {
    counter_effect made = unchanged_as(now);
    if (!now.value || !now.that_permit_is_held)
        return made;
    made.said.done = true;
    made.sets_lease = what.verb == counter_verb::set_lease;
    made.ends_permit = !made.sets_lease;
    if (made.ends_permit)
        ++made.said.value;
    return made;
}

} // namespace

counter_effect effect_of(const counter_change& what, const counter_now& now) {
    switch (what.verb) {
    case counter_verb::add:
        return all_are(now.value.value_or(0) + what.amount, now);
    case counter_verb::take_back:
        return all_are(now.value.value_or(0) - what.amount, now);
    case counter_verb::set:
        return all_are(what.amount, now);
    case counter_verb::set_new:
        return made_new(what.amount, now);
    case counter_verb::count_down:
        return counted_down(what.amount, now);
    case counter_verb::erase:
        return {.said = {.done = now.value.has_value()}, .changes = now.value.has_value()};
    case counter_verb::give_back:
    case counter_verb::set_lease:
        return about_a_permit(what, now);
    case counter_verb::add_if_there:
    case counter_verb::drain:
        break; // only for semaphores without leases, which this store does not have
    }
    return {};
}

} // namespace holdfast::mysql
