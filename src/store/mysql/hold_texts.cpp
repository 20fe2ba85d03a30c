// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/hold_texts.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/other_kinds.hpp"
#include "store/mysql/packed_answer.hpp"

namespace holdfast::mysql {
namespace {

const std::string sql_now{now_text};

/// Returns the FROM clause for the unexpired hold rows of that kind. The rows belong to the lock
/// whose row the statement changes.
std::string living(const tables& named, hold_row kind) {
    return " FROM " + named.holds + " AS h WHERE h.name=" + named.locks +
           ".name AND h.kind=" + std::to_string(static_cast<int>(kind)) + " AND h.expires>" +
           sql_now;
}

std::string but(const std::string& owner) {
    return owner.empty() ? "" : " AND h.owner<>" + hex(owner);
}

std::string exists(const std::string& from) {
    return "EXISTS(SELECT 1" + from + " LOCK IN SHARE MODE)";
}

std::string row_of(const lock_name& name, hold_row kind, const std::string& owner) {
    return "name=" + hex(name.text) + " AND kind=" + std::to_string(static_cast<int>(kind)) +
           " AND owner=" + hex(owner);
}

std::string arm(const std::string& condition, const std::string& then) {
    return " WHEN " + condition + " THEN " + then;
}

std::string kept(const std::string& reason) {
    return "token+" + refusing(reason);
}

/// Returns a statement that shortens the marks of waiting writers after the last reader has left.
/// New readers then wait only for the writers' head start. This bounds the delay if a writer is
/// dead. The mark's `token` contains the head start. The derived table is needed because MySQL does
/// not allow an UPDATE to read its own table.
std::string marks_cut(const tables& named, const lock_name& name) {
    const std::string here = "name=" + hex(name.text);
    return "UPDATE " + named.holds + " SET expires=LEAST(expires," + sql_now +
           "+INTERVAL token MICROSECOND) WHERE " + here + " AND kind=1 AND expires>" + sql_now +
           " AND (SELECT COUNT(*) FROM (SELECT 1 FROM " + named.holds + " WHERE " + here +
           " AND kind=0 AND expires>" + sql_now + " LIMIT 1) AS d)=0";
}

/// Returns the CASE arms that refuse a reader. In the CASE they follow the arm "already mine" and
/// precede "granted".
std::string refused_to_read(const tables& named, const ask& want) {
    const std::string beside = owner_beside(want);
    // a reader whose own client holds the write lock; waiting writers do not block it
    if (!beside.empty())
        return arm("NOT(owner=" + hex(beside) + " AND expires>" + sql_now + ")",
                   kept(std::to_string(unfounded_reason)));
    const std::string marked = living(named, hold_row::mark);
    return arm("expires>" + sql_now, kept(left_until("expires"))) +
           arm(exists(marked),
               kept(left_until("(SELECT MAX(h.expires)" + marked + " LOCK IN SHARE MODE)")));
}

} // namespace

std::string owner_beside(const ask& want) {
    return want.under == 0 ? std::string{} : to_string(owner_id{want.owner.client, want.under});
}

std::string reads(const tables& named, const std::string& owner) {
    return exists(living(named, hold_row::reader) + " AND h.owner=" + hex(owner));
}

std::string somebody_reads(const tables& named, const std::string& but_this_owner) {
    return exists(living(named, hold_row::reader) + but(but_this_owner));
}

std::string last_reader_ends(const tables& named, const std::string& but_this_owner) {
    return "COALESCE((SELECT MAX(h.expires)" + living(named, hold_row::reader) +
           but(but_this_owner) + " LOCK IN SHARE MODE),'2000-01-01')";
}

std::string another_upgrades(const tables& named, const std::string& but_this_owner) {
    return "EXISTS(SELECT 1 FROM " + named.holds + " AS r WHERE r.name=" + named.locks +
           ".name AND r.kind=0 AND r.expires>" + sql_now + " AND r.owner IN (SELECT h.beside" +
           living(named, hold_row::mark) + " AND h.beside<>'' AND h.beside<>" +
           hex(but_this_owner) + "))";
}

std::vector<std::string> read_attempt(const tables& named, const ask& want,
                                      const attempt_terms& terms) {
    const std::string owner = to_string(want.owner), name = hex(want.name.text);
    const std::string touched = hex(terms.touched), late = is_late(terms.late);
    const std::string mine = living(named, hold_row::reader) + " AND h.owner=" + hex(owner);
    return {
        "START TRANSACTION",
        "UPDATE " + named.locks + " SET token=CASE" + arm(late, kept(std::to_string(late_reason))) +
            arm(exists(mine), "LAST_INSERT_ID(GREATEST(token,1))") +
            other_kinds_refused(named, want) + refused_to_read(named, want) +
            arm("TRUE", next_token(1)) + " END,touched=IF(" + std::string{was_granted} + "," +
            touched + ",touched),kind=IF(" + std::string{was_granted} +
            ",1,kind) WHERE name=" + name,
        "INSERT INTO " + named.holds + " (name,kind,owner,expires,token,info) SELECT name,0," +
            hex(owner) + "," + end_of(want.lease_time) + ",token," + hex(terms.info) + " FROM " +
            named.locks + " AS l WHERE l.name=" + name + " AND l.touched=" + touched + " AND NOT " +
            late + " FOR UPDATE ON DUPLICATE KEY UPDATE expires=GREATEST(" + named.holds +
            ".expires,VALUES(expires))",
        marks_cut(named, want.name), "COMMIT"};
}

// Locks the lock's row first. The release thus waits for an attempt of the same owner that is still
// running, and sees its result.
std::vector<std::string> read_release(const tables& named, const hold& held) {
    const std::string name = hex(held.name.text);
    const std::string mine = row_of(held.name, hold_row::reader, to_string(held.owner));
    return {"START TRANSACTION",
            "SELECT 1 FROM " + named.locks + " WHERE name=" + name + " FOR UPDATE",
            "DELETE FROM " + named.holds + " WHERE " + mine + " AND expires>" + sql_now,
            "DELETE FROM " + named.holds + " WHERE " + mine,
            marks_cut(named, held.name),
            "COMMIT"};
}

std::vector<std::string> marks_after_attempt(const tables& named, const ask& want) {
    const std::string owner = to_string(want.owner);
    const std::string reason = "LAST_INSERT_ID()&1048575";
    const std::string gone = "DELETE FROM " + named.holds + " WHERE " +
                             row_of(want.name, hold_row::mark, owner) + " AND " +
                             std::string{was_granted};
    if (!want.waits)
        return {gone};
    return {"INSERT INTO " + named.holds + " (name,kind,owner,expires,token,beside) SELECT " +
                hex(want.name.text) + ",1," + hex(owner) + "," + end_of(want.outlasts) + "," +
                std::to_string(std::chrono::microseconds{want.head_start}.count()) + "," +
                hex(owner_beside(want)) + " FROM DUAL WHERE ROW_COUNT()=1 AND NOT " +
                std::string{was_granted} + " AND " + reason + " BETWEEN 1 AND " +
                std::to_string(longest_left) + " ON DUPLICATE KEY UPDATE expires=VALUES(expires)",
            gone};
}

std::string mark_removed(const tables& named, const hold& held) {
    return "DELETE FROM " + named.holds + " WHERE " +
           row_of(held.name, hold_row::mark, to_string(held.owner));
}

} // namespace holdfast::mysql
