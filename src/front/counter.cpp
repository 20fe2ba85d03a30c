// SPDX-License-Identifier: Apache-2.0
#include "front/counter.hpp"

#include "front/guard.hpp"
#include "front/offered.hpp"
#include "refusal.hpp"
#include "validation.hpp"

#include <holdfast/basic_counter.hpp>

#include <string>
#include <utility>

namespace holdfast::front {
namespace {

/// Returns the amount of a change. Throws if it is out of range.
std::int64_t checked(const sync::counter_subject& of, std::int64_t amount) {
    const bool is_latch = of.what == counter_kind::latch;
    return checked_amount(amount, is_latch ? 1 : 0, basic_counter::max(),
                          is_latch ? "the count" : "the number of permits");
}

bool has_amount(counter_verb verb) {
    return verb != counter_verb::drain && verb != counter_verb::erase &&
           verb != counter_verb::give_back && verb != counter_verb::set_lease;
}

/// Calls `ask(counters)`. Keeps the store from being destroyed during the call. Throws if the store
/// no longer exists, or if it has no counters of that kind.
template <typename Ask>
void ask_counters(const sync::engine& home, counter_kind kind, Ask ask) {
    const bool is_there = home.ask_store([&](store& all) {
        counter_store* const some = all.counters();
        if (!some || !some->offers(kind))
            refuse(words_on_missing(kind));
        ask(*some);
    });
    if (!is_there)
        throw worded_error{closed()};
}

} // namespace

void must_offer(const sync::engine& home, counter_kind kind) {
    ask_counters(home, kind, [](counter_store&) {});
}

std::shared_ptr<const sync::counter_subject> make_counter(const std::shared_ptr<sync::engine>& home,
                                                          const lock_name& name,
                                                          const detail::counter_setup& wanted) {
    const counter_kind kind = wanted.kind;
    const options& how = home->how();
    const std::string mapped =
        how.name_mapper ? how.name_mapper(name.text) : how.prefix + name.text;
    std::string of_store;
    duration memory{};
    ask_counters(*home, kind, [&](counter_store& all) {
        of_store = checked_name(mapped, all, kind);
        memory = all.memory();
    });
    checked_amount(wanted.most, 0, basic_counter::max(), "the bound of a semaphore");
    detail::counter_setup checked = wanted;
    checked.replicas =
        checked_replicas(wanted.replicas.value_or(how.required_replicas), home->bounds());
    return std::make_shared<sync::counter_subject>(home, std::move(of_store), memory, checked);
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
