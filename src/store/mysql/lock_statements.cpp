// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/lock_statements.hpp"

#include "store/mysql/counters.hpp"

namespace holdfast::mysql {
namespace {

std::string when(std::string_view condition, std::string_view then) {
    return std::string{" WHEN "}.append(condition).append(" THEN ").append(then);
}

/// Returns an SQL expression for an attempt that is refused for this reason. Its value is the
/// unchanged token. Its side effect sets the answer of the attempt to the refusal.
std::string unchanged(std::string_view reason) {
    return "token+" + refusing(reason);
}

std::string quoted(std::string_view bell) {
    // The name needs no escaping: it consists of "hf:" and hexadecimal digits.
    return std::string{"'"}.append(bell).append("'");
}

/// Returns an SQL expression that tries to take the user lock (GET_LOCK) without waiting; its value
/// is 0. If the connection has the user lock after that, the expression adds `bell_bit` to the
/// insert id. It takes no user lock that the connection already has: a user lock that was taken
/// twice would have to be released twice.
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

/// Returns the branches of an attempt's CASE expression that only a writer needs. They stand
/// between the branches "already mine" and "free".
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

/// Returns the branches of an attempt's CASE expression that refuse a busy lock. The refusal
/// contains the remaining time of the holder, of the last reader, or of the first waiter in a fair
/// queue.
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

// The order of the columns matters. MySQL assigns them from left to right, so the columns after
// `token` can use the new value of `token`.
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

// Leave the owner in the row. If this client takes the lock again, the row then keeps its length.
// This saves the server a third of its work for a lock and an unlock.
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

// The order of the columns matters. MySQL assigns them from left to right, so the columns after
// `token` can use the insert id. The insert id says whether the statement is late.
std::string lock_transfer(const tables& named, const hold& held, const ask& wanted,
                          const attempt_terms& terms) {
    const std::string to = hex(to_string(wanted.owner));
    const auto unless_late = [](const std::string& column, const std::string& value) {
        return "," + column + "=IF(LAST_INSERT_ID()=1," + value + "," + column + ")";
    };
    const std::string end = end_of(wanted.lease_time);
    // Assign `expires` before `owner`, because the expression for `expires` uses the old owner.
    return "UPDATE " + named.locks + " SET token=token+0*LAST_INSERT_ID(IF(" + is_late(terms.late) +
           ",2,1))" +
           unless_late("expires",
                       "IF(owner=" + to + ",GREATEST(expires," + end + ")," + end + ")") +
           unless_late("owner", to) + unless_late("touched", "''") +
           unless_late("info", hex(terms.info)) + " WHERE name=" + hex(held.name.text) +
           " AND (owner=" + hex(to_string(held.owner)) + " OR owner=" + to + ") AND expires>" +
           std::string{now_text};
}

std::string bell_dropped(std::string_view bell) {
    return "DO RELEASE_LOCK(" + quoted(bell) + ")";
}

namespace {

const std::string sql_now{now_text};

/// Returns an SQL FROM clause that selects the unexpired hold rows of this kind. They belong to the
/// lock whose row the surrounding statement changes.
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

/// Returns a statement that shortens the marks of waiting writers after the last reader has left. A
/// mark then lasts only for the time in its column `token`. So a dead writer does not keep new
/// readers away for long. The statement reads a derived table, because MySQL does not allow an
/// UPDATE to read its own table.
std::string marks_cut(const tables& named, const lock_name& name) {
    const std::string here = "name=" + hex(name.text);
    return "UPDATE " + named.holds + " SET expires=LEAST(expires," + sql_now +
           "+INTERVAL token MICROSECOND) WHERE " + here + " AND kind=1 AND expires>" + sql_now +
           " AND (SELECT COUNT(*) FROM (SELECT 1 FROM " + named.holds + " WHERE " + here +
           " AND kind=0 AND expires>" + sql_now + " LIMIT 1) AS d)=0";
}

/// Returns the branches of an attempt's CASE expression that refuse a reader. They stand between
/// the branches "already mine" and "granted".
std::string refused_to_read(const tables& named, const ask& want) {
    const std::string beside = owner_beside(want);
    // If the reader's own client holds the write lock, ignore the marks of waiting writers.
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

// Lock the lock's row first. If an attempt of the same owner is running, the release then waits for
// this attempt, and sees its result.
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

namespace {

const std::string at_look{now_text};

/// Returns an SQL FROM clause that selects the unexpired queue rows before the row of `owner`. If
/// the owner has no row, the clause selects all unexpired queue rows. `name` is the lock's name as
/// an SQL expression.
std::string before(const tables& named, const std::string& name, const owner_id& owner) {
    const std::string queue = " FROM " + named.holds + " AS ";
    const std::string me = hex(to_string(owner));
    return queue + "q WHERE q.name=" + name + " AND q.kind=3 AND q.expires>" + at_look +
           " AND q.owner<>" + me + " AND q.token<COALESCE((SELECT m.token" + queue +
           "m WHERE m.name=" + name + " AND m.kind=3 AND m.owner=" + me + " AND m.expires>" +
           at_look + "),18446744073709551615)";
}

std::string place_of(const hold& held) {
    return "name=" + hex(held.name.text) + " AND kind=3 AND owner=" + hex(to_string(held.owner));
}

} // namespace

std::string others_come_first(const tables& named, const owner_id& owner) {
    return "EXISTS(SELECT 1" + before(named, named.locks + ".name", owner) + " LOCK IN SHARE MODE)";
}

std::string first_turn_ends(const tables& named, const owner_id& owner) {
    return "COALESCE((SELECT MIN(q.expires)" + before(named, named.locks + ".name", owner) +
           " LOCK IN SHARE MODE)," + at_look + ")";
}

std::vector<std::string> fair_attempt(const tables& named, const ask& want,
                                      const attempt_terms& terms) {
    const std::string name = hex(want.name.text), granted{was_granted};
    const std::string reason = "LAST_INSERT_ID()&1048575";
    const std::string busy =
        "NOT " + granted + " AND " + reason + " BETWEEN 1 AND " + std::to_string(longest_left);
    // Number of a new queue row. It is above all existing numbers, even if the clock was set back.
    // An expired row that is used again also gets such a new number.
    const std::string turn = "(SELECT GREATEST(COALESCE(MAX(o.token),0)+1,CAST(" +
                             std::string{runs_text} + " AS UNSIGNED)) FROM " + named.holds +
                             " AS o WHERE o.name=" + name + " AND o.kind=3)";
    std::vector<std::string> all{
        "START TRANSACTION", lock_attempt(named, want, terms),
        "DELETE FROM " + named.holds + " WHERE " + place_of(want) + " AND ROW_COUNT()=1 AND " +
            granted,
        "INSERT INTO " + named.holds + " (name,kind,owner,expires,token,info) SELECT " + name +
            ",3," + hex(to_string(want.owner)) + "," + end_of(want.outlasts) + "," + turn + "," +
            hex(terms.info) + " FROM DUAL WHERE " + busy + " ON DUPLICATE KEY UPDATE token=IF(" +
            named.holds + ".expires>" + at_look + "," + named.holds +
            ".token,VALUES(token)),expires=GREATEST(" + named.holds + ".expires,VALUES(expires))",
        "COMMIT"};
    if (!want.waits)
        all[fair_insert_at] = "DO 0";
    return all;
}

std::string turn_removed(const tables& named, const hold& held) {
    return "DELETE FROM " + named.holds + " WHERE " + place_of(held);
}

std::string turn_has_come(const tables& named, const ask& want) {
    const std::string name = hex(want.name.text);
    return "NOT EXISTS(SELECT 1 FROM " + named.locks + " WHERE name=" + name + " AND expires>" +
           at_look + ") AND NOT EXISTS(SELECT 1" + before(named, name, want.owner) + ")";
}

namespace {

/// Returns a subquery about the held permits of a counter. This is the counter whose row the
/// surrounding statement changes.
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

/// Returns an SQL derived table with the ids in its only column.
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

// Lock the counter's row first. If an attempt of the same owner is running, the release then waits
// for this attempt, and sees its result.
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

namespace {

const std::string at_attempt{now_text};

std::string living_counters(const tables& named, const std::string& name) {
    return " FROM " + named.counters + " AS c WHERE c.name=" + name +
           " AND c.value IS NOT NULL AND (c.expires IS NULL OR c.expires>" + at_attempt + ")";
}

std::string living_readers(const tables& named, const std::string& name) {
    return " FROM " + named.holds + " AS r WHERE r.name=" + name + " AND r.kind=0 AND r.expires>" +
           at_attempt;
}

std::string arm_for(const std::string& condition, const std::string& reason) {
    return " WHEN " + condition + " THEN token+" + refusing(reason);
}

std::string counter_reason() {
    return "IF(c.kind=1," + std::to_string(permits_reason) + "," + std::to_string(latch_reason) +
           ")";
}

} // namespace

std::string other_kinds_refused(const tables& named, const ask& want) {
    const bool can_be_shared = reason_for(want.kind) == shared_reason;
    const std::string name = named.locks + ".name", lives = "expires>" + at_attempt;
    const std::string counters = living_counters(named, name);
    std::string arms;
    if (can_be_shared)
        arms = arm_for(lives + " AND kind<>1", std::to_string(mutex_reason));
    else
        arms = arm_for(lives + " AND kind=1", std::to_string(shared_reason)) +
               arm_for("NOT " + lives + " AND EXISTS(SELECT 1" + living_readers(named, name) +
                           " LOCK IN SHARE MODE)",
                       std::to_string(shared_reason));
    return arms + arm_for("NOT " + lives + " AND kind=2 AND EXISTS(SELECT 1" + counters +
                              " LOCK IN SHARE MODE)",
                          "(SELECT MIN(" + counter_reason() + ")" + counters + ")");
}

std::string is_read_by_anybody(const tables& named, const lock_name& name) {
    return "EXISTS(SELECT 1" + living_readers(named, hex(name.text)) + ")";
}

std::string kind_of_new_row(const tables& named, const lock_name& name) {
    const std::string its = hex(name.text);
    return "IF(EXISTS(SELECT 1" + living_counters(named, its) + ") OR EXISTS(SELECT 1" +
           living_readers(named, its) + "),2,0)";
}

std::string counter_announced(const tables& named, const lock_name& name) {
    return "INSERT INTO " + named.locks + " (name,kind,expires) VALUES(" + hex(name.text) + ",2," +
           std::string{past_text} + ") ON DUPLICATE KEY UPDATE kind=IF(expires>" + at_attempt +
           ",kind,2)";
}

std::string kinds_there(const tables& named, const lock_name& name) {
    const std::string its = hex(name.text);
    return "SELECT IF(kind=1," + std::to_string(shared_reason) + "," +
           std::to_string(mutex_reason) + ") FROM " + named.locks + " WHERE name=" + its +
           " AND expires>" + at_attempt + " UNION ALL SELECT DISTINCT " +
           std::to_string(shared_reason) + living_readers(named, its) + " UNION ALL SELECT " +
           counter_reason() + living_counters(named, its);
}

const char* other_kind_in(const result& told, std::uint64_t own_reason) {
    for (const auto& row : told.rows)
        if (const auto reason = static_cast<std::uint64_t>(number_at(row, 0)); reason != own_reason)
            return other_kind_for(reason);
    return nullptr;
}

std::uint64_t reason_for(lock_kind kind) noexcept {
    if (kind == lock_kind::permit)
        return permits_reason;
    return kind == lock_kind::read || kind == lock_kind::write ? shared_reason : mutex_reason;
}

std::uint64_t reason_for(counter_kind kind) noexcept {
    return kind == counter_kind::permits ? permits_reason : latch_reason;
}

} // namespace holdfast::mysql
