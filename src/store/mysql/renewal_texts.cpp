// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/renewal_texts.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/permit_texts.hpp"

namespace holdfast::mysql {
namespace {

const std::string& table_of(const tables& named, kept_in where) {
    return where == kept_in::locks ? named.locks : named.holds;
}

/// Returns a condition that selects the unexpired rows among `rows`, by primary key.
std::string any_of(kept_in where, const std::vector<held_row>& rows) {
    const std::string kind = where == kept_in::locks     ? ""
                             : where == kept_in::readers ? " AND kind=0"
                                                         : " AND kind=2";
    std::string all = "(";
    for (const held_row& each : rows)
        all.append(all.size() > 1 ? " OR (name=" : "(name=")
            .append(hex(each.name))
            .append(kind)
            .append(" AND owner=")
            .append(hex(each.owner))
            .append(")");
    return all.append(") AND expires>").append(now_text);
}

} // namespace

std::vector<held_row> rows_of(const hold& held) {
    std::vector<held_row> rows;
    if (held.kind != lock_kind::permit)
        return {{held.name.text, to_string(held.owner)}};
    for (std::string& each : permit_rows(held))
        rows.push_back({held.name.text, std::move(each)});
    return rows;
}

std::string rows_locked(const tables& named, kept_in where, const std::vector<held_row>& rows) {
    return "SELECT name,owner FROM " + table_of(named, where) + " WHERE " + any_of(where, rows) +
           " FOR UPDATE SKIP LOCKED";
}

std::string rows_prolonged(const tables& named, kept_in where, const std::vector<held_row>& rows,
                           duration lease_time) {
    if (rows.empty())
        return "DO 0";
    return "UPDATE " + table_of(named, where) + " SET expires=GREATEST(expires," +
           end_of(lease_time) + ") WHERE " + any_of(where, rows);
}

std::string rows_seen(const tables& named, kept_in where, const std::vector<held_row>& rows) {
    return "SELECT name,owner,TIMESTAMPDIFF(MICROSECOND," + std::string{now_text} +
           ",expires) FROM " + table_of(named, where) + " WHERE " + any_of(where, rows);
}

} // namespace holdfast::mysql
