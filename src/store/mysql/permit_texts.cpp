// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/permit_texts.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/counter_texts.hpp"
#include "store/mysql/packed_answer.hpp"

namespace holdfast::mysql {
namespace {

/// Returns a subquery about the held permits of a counter. The outer statement changes the
/// counter's row.
std::string held_there(const tables& named, const std::string& what, const std::string& which) {
    return "(SELECT " + what + " FROM " + named.holds + " AS h WHERE h.name=" + named.counters +
           ".name AND h.kind=2 AND h.expires>" + std::string{now_text} + which +
           " LOCK IN SHARE MODE)";
}

std::string one_arm(const std::string& condition, const std::string& then) {
    return " WHEN " + condition + " THEN " + then;
}

std::string as_it_is(const std::string& reason) {
    return "token+" + refusing(reason);
}

std::string one_of(const hold& held) {
    return "name=" + hex(held.name.text) + " AND kind=2 AND owner IN " + list_of(permit_rows(held));
}

/// Returns the ids as an SQL derived table with one column.
std::string as_rows(const std::vector<std::string>& ids) {
    std::string all = "(";
    for (const std::string& each : ids)
        all.append(all.size() == 1 ? "SELECT " : " UNION ALL SELECT ")
            .append(hex(each))
            .append(" AS id");
    return all += ')';
}

} // namespace

std::vector<std::string> permit_rows(const hold& held) {
    std::vector<std::string> ids;
    ids.reserve(held.permits);
    owner_id each = held.owner;
    for (std::uint32_t i = 0; i < held.permits; ++i, ++each.number)
        ids.push_back(permit_id(each));
    return ids;
}

std::vector<std::string> permit_attempt(const tables& named, const ask& want,
                                        const attempt_terms& terms) {
    const std::string late = is_late(terms.late), n = std::to_string(want.permits);
    const std::string ids = list_of(permit_rows(want)), mark = hex(terms.touched);
    const std::string where = counter_row(want.name, counter_kind::permits);
    const std::string mine = held_there(named, "COUNT(*)", " AND h.owner IN " + ids);
    const std::string others = held_there(named, "COUNT(*)", " AND h.owner NOT IN " + ids);
    const std::string next_end =
        "COALESCE(" + held_there(named, "MIN(h.expires)", "") + ",'9999-12-31')";
    return {"START TRANSACTION",
            "UPDATE " + named.counters + " SET token=CASE" +
                one_arm(late, as_it_is(std::to_string(late_reason))) +
                one_arm(mine + "=" + n, "LAST_INSERT_ID(GREATEST(token,1))") +
                one_arm("value-" + others + ">=" + n, next_token(want.permits)) +
                one_arm("TRUE", as_it_is(left_until(next_end))) + " END,touched=IF(" +
                std::string{was_granted} + "," + mark + ",touched) WHERE " + where +
                " AND value IS NOT NULL",
            "INSERT INTO " + named.holds +
                " (name,kind,owner,expires,token,info) SELECT c.name,2,"
                "p.id," +
                end_of(want.lease_time) + ",c.token," + hex(terms.info) + " FROM " +
                named.counters + " AS c JOIN " + as_rows(permit_rows(want)) +
                " AS p WHERE c.name=" + hex(want.name.text) +
                " AND c.kind=" + kind_number(counter_kind::permits) + " AND c.touched=" + mark +
                " AND NOT " + late + " ON DUPLICATE KEY UPDATE expires=GREATEST(" + named.holds +
                ".expires,VALUES(expires))",
            "COMMIT"};
}

// Locks the counter's row first. The release thus waits for an attempt of the same owner that is
// still running, and sees its result.
std::vector<std::string> permit_release(const tables& named, const hold& held) {
    const std::string gone = "DELETE FROM " + named.holds + " WHERE " + one_of(held);
    return {"START TRANSACTION",
            "SELECT 1 FROM " + named.counters + " WHERE " +
                counter_row(held.name, counter_kind::permits) + " FOR UPDATE",
            gone + " AND expires>" + std::string{now_text}, gone, "COMMIT"};
}

std::string permits_may_be_had(const tables& named, const ask& want) {
    const std::string name = hex(want.name.text);
    return "(SELECT value FROM " + named.counters + " WHERE " +
           counter_row(want.name, counter_kind::permits) + ")-(SELECT COUNT(*) FROM " +
           named.holds + " WHERE name=" + name + " AND kind=2 AND expires>" +
           std::string{now_text} + ")>=" + std::to_string(want.permits);
}

} // namespace holdfast::mysql
