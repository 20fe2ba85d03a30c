// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/state_texts.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/counter_texts.hpp"
#include "store/mysql/hold_texts.hpp"
#include "store/mysql/lock_texts.hpp"
#include "store/mysql/site.hpp"
#include "store/mysql/who.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace holdfast::mysql {
namespace {

const std::string at_asking{now_text};

std::string microseconds_left() {
    return "TIMESTAMPDIFF(MICROSECOND," + at_asking + ",expires)";
}

duration left_in(std::int64_t remaining) {
    return std::max(std::chrono::ceil<duration>(std::chrono::microseconds{remaining}),
                    duration::zero());
}

lock_owner owner_in(const std::string& text, const std::string& info) {
    lock_owner one{.text = text, .is_holdfast = is_ours(text)};
    one.client = card_in(info);
    return one;
}

/// Adds a row of the table of locks. Columns: name, owner, kind, remaining time, token, info.
void add_lock(lock_state& told, const std::vector<std::optional<std::string>>& row) {
    const std::int64_t left = number_at(row, 3);
    told.last_token = static_cast<std::uint64_t>(number_at(row, 4));
    told.is_held = left > 0;
    if (!told.is_held)
        return;
    told.token = told.last_token;
    told.remaining = left_in(left);
    lock_owner& holder = told.owners.emplace_back(owner_in(text_at(row, 1), text_at(row, 5)));
    holder.writes = number_at(row, 2) == static_cast<int>(kind_column::shared);
    if (holder.writes)
        told.kind = key_kind::read_write_lock;
}

/// Adds a row of the table of holds. Columns: name, kind, owner, remaining time, info.
void add_hold(lock_state& told, const std::vector<std::optional<std::string>>& row) {
    const auto kind = static_cast<hold_row>(number_at(row, 1));
    if (kind != hold_row::turn)
        told.kind = key_kind::read_write_lock;
    const duration left = left_in(number_at(row, 3));
    lock_owner one = owner_in(text_at(row, 2), text_at(row, 4));
    if (kind != hold_row::reader) {
        told.waiters.push_back({.text = one.text, .is_holdfast = one.is_holdfast});
        told.waiters.back().client = one.client;
        told.waiters.back().remaining = left;
        return;
    }
    one.remaining = left;
    told.owners.push_back(std::move(one));
    told.remaining = std::max(told.remaining.value_or(left), left);
    told.is_held = true;
}

/// Reports that another kind uses the name, if no lock uses it.
void add_counter(lock_state& told) {
    if (!told.owners.empty() || !told.waiters.empty())
        return;
    told.kind = key_kind::other;
    told.is_held = true;
}

} // namespace

std::vector<std::string> states_asked(const tables& named, const std::vector<std::string>& names) {
    const std::string which = " WHERE name IN " + list_of(names);
    return {
        "SELECT name,owner,kind," + microseconds_left() + ",token,info FROM " + named.locks + which,
        "SELECT name,kind,owner," + microseconds_left() + ",info FROM " + named.holds + which +
            " AND kind IN (0,1,3) AND expires>" + at_asking + " ORDER BY name,kind,token,owner",
        "SELECT DISTINCT name,kind FROM " + named.counters + which + " AND " + living_counter()};
}

std::vector<lock_state> states_in(const std::vector<std::string>& names, const result& locks,
                                  const result& holds, const result& counters) {
    std::map<std::string, lock_state> all;
    for (const auto& row : locks.rows)
        add_lock(all[text_at(row, 0)], row);
    for (const auto& row : holds.rows) {
        const auto [found, is_new] = all.try_emplace(text_at(row, 0));
        if (is_new)
            found->second.is_held = false;
        add_hold(found->second, row);
    }
    for (const auto& row : counters.rows)
        add_counter(all[text_at(row, 0)]);
    std::vector<lock_state> told;
    for (const std::string& name : names) {
        const auto found = all.find(name);
        if (found == all.end() || (!found->second.is_held && found->second.waiters.empty()))
            continue;
        lock_state& one = told.emplace_back(std::move(found->second));
        one.name = name;
        one.type = "row";
        one.waiting = one.waiters.size();
        all.erase(found);
    }
    return told;
}

std::optional<holding> holding_of(const lock_state& told) {
    if (!told.is_held)
        return std::nullopt;
    holding found;
    found.kind = told.kind;
    if (told.kind == key_kind::other)
        found.other = "a leased semaphore or a latch";
    found.remaining = told.remaining;
    // Only readers have a lease of their own (`remaining`).
    const auto has_it_alone = [](const lock_owner& each) { return !each.remaining.has_value(); };
    found.alone = std::ranges::any_of(told.owners, has_it_alone);
    for (const lock_owner& each : told.owners)
        found.owners.push_back(each.text);
    found.shared = told.owners.size() > (found.alone ? 1U : 0U);
    return found;
}

std::string held_names(const tables& named, const std::string& behind, std::size_t at_most) {
    const std::string some =
        " AND expires>" + at_asking + " ORDER BY name LIMIT " + std::to_string(at_most) + ")";
    const std::string where = " WHERE name>" + hex(behind);
    return "(SELECT name FROM " + named.locks + where + some +
           " UNION (SELECT DISTINCT name FROM " + named.holds + where + " AND kind=0" + some +
           " ORDER BY name LIMIT " + std::to_string(at_most);
}

std::string lock_is_free(const tables& named, const lock_name& name) {
    const std::string here = " WHERE name=" + hex(name.text) + " AND expires>" + at_asking;
    return "NOT EXISTS(SELECT 1 FROM " + named.locks + here + ") AND NOT EXISTS(SELECT 1 FROM " +
           named.holds + here + " AND kind=0)";
}

} // namespace holdfast::mysql
