// SPDX-License-Identifier: Apache-2.0
#include "front/counter.hpp"

#include "front/guard.hpp"
#include "front/offered.hpp"
#include "refusal.hpp"
#include "validation.hpp"

#include <holdfast/basic_counter.hpp>

namespace holdfast::front {
namespace {

/// What a count may be changed by.
std::int64_t checked(const sync::counter_subject& of, std::int64_t amount) {
    const bool is_latch = of.what == counter_kind::latch;
    return checked_amount(amount, is_latch ? 1 : 0, basic_counter::max(),
                          is_latch ? "the count" : "the number of permits");
}

bool has_amount(counter_verb verb) {
    return verb != counter_verb::drain && verb != counter_verb::erase &&
           verb != counter_verb::give_back && verb != counter_verb::set_lease;
}

} // namespace

counter_store& counters_of(sync::engine& home, counter_kind kind) {
    if (!home.executor())
        throw worded_error{closed()}; // its store is gone too
    counter_store* const store = home.counters();
    if (!store || !store->offers(kind))
        refuse(words_on_missing(kind));
    return *store;
}

std::shared_ptr<const sync::counter_subject> make_counter(const std::shared_ptr<sync::engine>& home,
                                                          const lock_name& name,
                                                          const detail::counter_setup& wanted) {
    const counter_kind kind = wanted.kind;
    counter_store& store = counters_of(*home, kind);
    const options& how = home->how();
    const std::string mapped =
        how.name_mapper ? how.name_mapper(name.text) : how.prefix + name.text;
    checked_amount(wanted.most, 0, basic_counter::max(), "the bound of a semaphore");
    detail::counter_setup checked = wanted;
    checked.replicas =
        checked_replicas(wanted.replicas.value_or(how.required_replicas), home->bounds());
    return std::make_shared<sync::counter_subject>(home, checked_name(mapped, store, kind),
                                                   store.memory(), checked);
}

std::int64_t checked_take(const sync::counter_subject& of, std::int64_t amount) {
    return of.what == counter_kind::latch ? amount : checked(of, amount);
}

std::optional<counter_change> checked_change(const sync::counter_subject& of, counter_verb verb,
                                             std::int64_t amount, std::optional<duration> kept) {
    if (has_amount(verb) && checked(of, amount) == 0 && verb != counter_verb::set_new &&
        verb != counter_verb::set)
        return std::nullopt;
    counter_change all = sync::change_of(of, verb, amount);
    if (kept)
        all.kept = checked_keeping(*kept, of.home->bounds());
    return all;
}

sync::request request_for(const std::shared_ptr<const sync::counter_subject>& of,
                          std::int64_t amount, duration patience) {
    sync::request all = sync::request_for(of, patience, {});
    all.amount = amount;
    return all;
}

} // namespace holdfast::front
