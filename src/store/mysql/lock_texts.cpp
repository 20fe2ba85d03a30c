// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/lock_texts.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/fair_texts.hpp"
#include "store/mysql/hold_texts.hpp"
#include "store/mysql/other_kinds.hpp"
#include "store/mysql/packed_answer.hpp"

namespace holdfast::mysql {
namespace {

std::string when(std::string_view condition, std::string_view then) {
    return std::string{" WHEN "}.append(condition).append(" THEN ").append(then);
}

/// Returns an expression that keeps the token, and sets the answer to a refusal with this reason.
std::string unchanged(std::string_view reason) {
    return "token+" + refusing(reason);
}

std::string quoted(std::string_view bell) {
    // The text needs no escaping: bell_of returns only "hf:" and hexadecimal digits.
    return std::string{"'"}.append(bell).append("'");
}

/// Returns an expression with the value 0. It tries to take the user lock without waiting. If the
/// connection then holds the user lock, it adds `bell_bit` to the insert id. User locks nest, so
/// the expression does not take a user lock that the connection already holds.
std::string with_bell(std::string_view bell) {
    if (bell.empty())
        return {};
    const std::string name = quoted(bell);
    return "+0*LAST_INSERT_ID(LAST_INSERT_ID()+IF(IF(IS_USED_LOCK(" + name +
           ")<=>CONNECTION_ID(),1,GET_LOCK(" + name + ",0))," + std::to_string(bell_bit) + ",0))";
}

std::string unless_granted(std::string_view column, std::string_view granted) {
    return std::string{","}
        .append(column)
        .append("=IF(")
        .append(was_granted)
        .append(",")
        .append(granted)
        .append(",")
        .append(column)
        .append(")");
}

/// Returns the CASE arms that only an attempt of a writer has. In the CASE they follow "already
/// mine" and precede "free".
std::string refused_to_write(const tables& named, const ask& want) {
    if (want.kind != lock_kind::write || want.under == 0)
        return {};
    return when("NOT " + reads(named, owner_beside(want)),
                unchanged(std::to_string(unfounded_reason)));
}

std::string free_for(const tables& named, const ask& want) {
    std::string free = "expires<=" + std::string{now_text};
    if (want.kind == lock_kind::write)
        free += " AND NOT " + somebody_reads(named, owner_beside(want));
    if (want.kind == lock_kind::fair)
        free += " AND NOT " + others_come_first(named, want.owner);
    return free;
}

/// Returns the CASE arms for a busy lock. The reason is the remaining time of the holder, of the
/// last reader, or of the first waiter in a fair queue.
std::string busy_for(const tables& named, const ask& want) {
    if (want.kind == lock_kind::fair)
        return when("TRUE",
                    unchanged(left_until("IF(expires>" + std::string{now_text} + ",expires," +
                                         first_turn_ends(named, want.owner) + ")")));
    if (want.kind != lock_kind::write)
        return when("TRUE", unchanged(left_until("expires")));
    std::string all;
    if (want.under != 0)
        all = when(another_upgrades(named, owner_beside(want)),
                   unchanged(std::to_string(conflict_reason)));
    const std::string last =
        "GREATEST(expires," + last_reader_ends(named, owner_beside(want)) + ")";
    return all + when("TRUE", unchanged(left_until(last)));
}

} // namespace

std::string lock_attempt_if_free(const tables& named, const ask& want, const attempt_terms& terms) {
    return "UPDATE " + named.locks + " SET token=" + next_token(want.tokens) +
           ",owner=" + hex(to_string(want.owner)) +
           ",kind=" + std::to_string(static_cast<int>(kind_in_row(want.kind))) +
           with_bell(terms.bell) + ",touched='',info=" + hex(terms.info) +
           ",expires=" + end_of(want.lease_time) + " WHERE name=" + hex(want.name.text) +
           " AND kind=0 AND expires<=" + std::string{now_text} + " AND NOT " +
           is_read_by_anybody(named, want.name) + " AND NOT " + is_late(terms.late);
}

// MySQL assigns the columns from left to right. The columns after `token` can therefore depend on
// its new value.
std::string lock_attempt(const tables& named, const ask& want, const attempt_terms& terms) {
    const std::string owner = hex(to_string(want.owner)), now{now_text};
    return "UPDATE " + named.locks + " SET token=CASE" +
           when(is_late(terms.late), unchanged(std::to_string(late_reason))) +
           when("owner=" + owner + " AND expires>" + now, "LAST_INSERT_ID(token)") +
           other_kinds_refused(named, want) + refused_to_write(named, want) +
           when(free_for(named, want), next_token(want.tokens)) + busy_for(named, want) + " END" +
           unless_granted("owner", owner) +
           unless_granted("kind", std::to_string(static_cast<int>(kind_in_row(want.kind))) +
                                      with_bell(terms.bell)) +
           unless_granted("touched", "''") + unless_granted("info", hex(terms.info)) +
           unless_granted("expires", "GREATEST(expires," + end_of(want.lease_time) + ")") +
           " WHERE name=" + hex(want.name.text);
}

kind_column kind_in_row(lock_kind kind) noexcept {
    return kind == lock_kind::write ? kind_column::shared : kind_column::exclusive;
}

std::string lock_row(const tables& named, const lock_name& name) {
    return "INSERT INTO " + named.locks + " (name,kind,expires) SELECT " + hex(name.text) + "," +
           kind_of_new_row(named, name) + "," + std::string{past_text} +
           " FROM DUAL ON DUPLICATE KEY UPDATE touched=" + named.locks + ".touched";
}

// The release keeps the owner in the row. If this client takes the lock again, the row's length
// does not change. This makes a lock with its unlock a third cheaper for the server. The expiry of
// an expired hold is also set to the past, so that a delayed attempt of this owner does not find
// the hold.
std::string lock_release(const tables& named, const hold& held, std::string_view bell) {
    const std::string name = quoted(bell);
    const std::string awaited =
        bell.empty() ? ""
                     : "+IF(RELEASE_LOCK(" + name + "),IF(IS_FREE_LOCK(" + name + ")=0,4,0),0)";
    return "UPDATE " + named.locks + " SET token=token+0*LAST_INSERT_ID(IF(expires>" +
           std::string{now_text} + ",2,1)" + awaited + "),expires=LEAST(expires," +
           std::string{past_text} + ") WHERE name=" + hex(held.name.text) +
           " AND owner=" + hex(to_string(held.owner));
}

std::string bell_dropped(std::string_view bell) {
    return "DO RELEASE_LOCK(" + quoted(bell) + ")";
}

} // namespace holdfast::mysql
