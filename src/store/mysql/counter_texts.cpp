// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/counter_texts.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/other_kinds.hpp"

namespace holdfast::mysql {
namespace {

const std::string at_begin{now_text};

bool may_make_it(counter_verb verb) {
    return verb == counter_verb::add || verb == counter_verb::take_back ||
           verb == counter_verb::set || verb == counter_verb::set_new;
}

std::string request_row(const counter_change& what) {
    return counter_row(what.name, what.kind) + " AND request=" + hex(to_string(what.request));
}

std::string of_this_permit(const counter_change& what) {
    return "name=" + hex(what.name.text) + " AND kind=2 AND owner=" + hex(what.permit);
}

/// Returns the expiry of a counter that expires by itself, or NULL for other counters.
std::string end_of_counter(duration kept) {
    return kept > duration::zero() ? end_of(kept) : "NULL";
}

} // namespace

std::string living_counter() {
    return "value IS NOT NULL AND (expires IS NULL OR expires>" + at_begin + ")";
}

std::string kind_number(counter_kind kind) {
    return kind == counter_kind::permits ? "1" : "2";
}

std::string counter_row(const lock_name& name, counter_kind kind) {
    return "name=" + hex(name.text) + " AND kind=" + kind_number(kind);
}

std::vector<std::string> change_begun(const tables& named, const counter_change& what,
                                      const std::string& mark) {
    const std::string row = counter_row(what.name, what.kind);
    const std::string made = "INSERT INTO " + named.counters + " (name,kind) VALUES(" +
                             hex(what.name.text) + "," + kind_number(what.kind) +
                             ") ON DUPLICATE KEY UPDATE value=value";
    const bool makes = may_make_it(what.verb);
    return {makes ? counter_announced(named, what.name) : "DO 0",
            makes ? made : "DO 0",
            "UPDATE " + named.counters + " SET touched=" + hex(mark) + " WHERE " + row,
            "SELECT value FROM " + named.counters + " WHERE " + row + " AND " + living_counter(),
            "SELECT done,beyond,value FROM " + named.requests + " WHERE " + request_row(what) +
                " AND expires>" + at_begin,
            "SELECT COUNT(*),COALESCE(SUM(owner=" + hex(what.permit) + "),0) FROM " + named.holds +
                " WHERE name=" + hex(what.name.text) + " AND kind=2 AND expires>" + at_begin,
            "SELECT " + std::string{runs_text},
            kinds_there(named, what.name)};
}

std::vector<std::string> change_ended(const tables& named, const counter_change& what,
                                      const counter_effect& effect, const std::string& mark,
                                      const std::string& late, duration memory) {
    const std::string row = counter_row(what.name, what.kind);
    const std::string in_time = " AND touched=" + hex(mark);
    const std::string remembered =
        " AND EXISTS(SELECT 1 FROM " + named.requests + " WHERE " + request_row(what) + ")";
    std::vector<std::string> all{
        "INSERT INTO " + named.requests +
        " (name,kind,request,done,beyond,value,expires) SELECT name,kind," +
        hex(to_string(what.request)) + "," + (effect.said.done ? "1" : "0") + "," +
        (effect.said.beyond ? "1" : "0") + "," + std::to_string(effect.said.value) + "," +
        end_of(memory) + " FROM " + named.counters + " WHERE " + row + in_time + " AND NOT " +
        is_late(late)};
    if (effect.ends_permit)
        all.push_back("DELETE FROM " + named.holds + " WHERE " + of_this_permit(what) + remembered);
    if (effect.sets_lease)
        all.push_back("UPDATE " + named.holds + " SET expires=" + end_of(what.kept) + " WHERE " +
                      of_this_permit(what) + remembered);
    if (effect.changes && effect.value)
        all.push_back("UPDATE " + named.counters + " SET value=" + std::to_string(*effect.value) +
                      (what.verb == counter_verb::set_new ? ",expires=" + end_of_counter(what.kept)
                                                          : std::string{}) +
                      " WHERE " + row + in_time + remembered);
    if (effect.changes && !effect.value) {
        if (what.kind == counter_kind::permits)
            all.push_back("DELETE FROM " + named.holds + " WHERE name=" + hex(what.name.text) +
                          " AND kind=2" + remembered);
        all.push_back("DELETE FROM " + named.counters + " WHERE " + row + in_time + remembered);
    }
    all.push_back("DELETE FROM " + named.requests + " WHERE " + row + " AND expires<=" + at_begin +
                  " LIMIT 100");
    return all;
}

std::string latch_look(const tables& named, const lock_name& name) {
    return "SELECT 1 FROM " + named.counters + " WHERE " + counter_row(name, counter_kind::latch) +
           " AND value>0 AND " + living_counter();
}

std::string latch_is_open(const tables& named, const lock_name& name) {
    return "NOT EXISTS(" + latch_look(named, name) + ")";
}

std::string counter_inspected(const tables& named, const lock_name& name, counter_kind kind) {
    const std::string held = kind == counter_kind::permits
                                 ? "(SELECT COUNT(*) FROM " + named.holds +
                                       " AS h WHERE h.name=" + hex(name.text) +
                                       " AND h.kind=2 AND h.expires>" + at_begin + ")"
                                 : "0";
    return "SELECT value," + held + " FROM " + named.counters + " WHERE " +
           counter_row(name, kind) + " AND " + living_counter();
}

std::string counters_listed(const tables& named, counter_kind kind, const std::string& behind,
                            std::size_t at_most) {
    return "SELECT name FROM " + named.counters + " WHERE kind=" + kind_number(kind) +
           " AND name>" + hex(behind) + " AND " + living_counter() + " ORDER BY name LIMIT " +
           std::to_string(at_most);
}

} // namespace holdfast::mysql
