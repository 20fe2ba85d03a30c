// SPDX-License-Identifier: Apache-2.0
#include "net/failure.hpp"
#include "store/mysql/lock_statements.hpp"
#include "store/mysql/sql.hpp"
#include "sync/lock_handle.hpp"

#include <holdfast/mysql/transaction_guard.hpp>

namespace holdfast::mysql {
namespace {

bool excludes_all(lock_kind kind) {
    return kind == lock_kind::plain || kind == lock_kind::fenced || kind == lock_kind::fair ||
           kind == lock_kind::write;
}

std::string with_schema(std::string_view table) {
    const std::size_t dot = table.find('.');
    if (dot == table.npos)
        return tables{table}.locks;
    return tables{table.substr(0, dot)}.locks + '.' + tables{table.substr(dot + 1)}.locks;
}

} // namespace

// Returns the statement. It changes the row, because a row lock is not enough: a read-only server
// also grants row locks, and each of several primaries has its own row locks. The column `touched`
// gets a new value each time. The version comment contains SQL that only MariaDB runs. Outside a
// transaction, this SQL makes the statement match no row.
std::string guard_text(const std::string& quoted_table, std::string_view name,
                       std::string_view owner) {
    return "UPDATE " + quoted_table +
           " SET touched=CONCAT('nail ',SYSDATE(6),' ',UUID()) "
           "WHERE name=" +
           hex(name) + " AND owner=" + hex(owner) + " AND expires>" + std::string{now_text} +
           "/*M! AND @@in_transaction*/";
}

std::string transaction_guard(const lease& held, std::string_view table) {
    const std::shared_ptr<sync::lock_handle>& hold = held.hold();
    if (!hold)
        throw net::failure{errc::not_owner,
                           "the lease holds nothing, so it cannot guard a transaction"};
    if (!excludes_all(hold->kind()) || !hold->homes_of_parts().empty())
        throw net::failure{
            errc::invalid_argument,
            "only a lease of one lock that excludes all others can guard a transaction"};
    hold->stay_with_its_holder();
    return guard_text(with_schema(table), held.name(), held.owner());
}

} // namespace holdfast::mysql
