// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/fair_texts.hpp"

#include "store/mysql/clauses.hpp"
#include "store/mysql/packed_answer.hpp"

namespace holdfast::mysql {
namespace {

const std::string at_look{now_text};

/// Returns the FROM clause for the unexpired queue rows before the row of `owner`. If the owner has
/// no row, the clause selects all unexpired rows. `name` is the lock's name in SQL.
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
    // A new queue row gets a number above all existing numbers, even if the clock was set back. An
    // expired row that is used again also gets a new highest number.
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

} // namespace holdfast::mysql
