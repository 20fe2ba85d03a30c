// SPDX-License-Identifier: Apache-2.0
// The context that all requests of one store share (`request_context`), functions that read
// answers, and transactions that consist of two writes.
#pragma once

#include "mysql/database.hpp"
#include "store/mysql/sql.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::mysql {

using remote::attempt;
using remote::verdict;

/// Objects and settings that all requests of one store share. This object must outlive the
/// requests.
struct request_context {
    database& server;
    const store_context& context;
    tables named;
    std::string schema;
    std::string table; ///< name of the first table, as in the options
    std::string info;  ///< description of this client for administrators
    std::uint64_t attempts_made = 0;
    bool may_hold = false; ///< true: the user has every privilege on the table of holds

    /// Returns a value that no other attempt uses. An attempt writes this value into a row, so that
    /// its later statements find the row.
    std::string next_mark(const owner_id& owner) {
        return to_string(owner) + '#' + std::to_string(++attempts_made);
    }
    std::string bell(const lock_name& name) const { return bell_of(schema, table, name); }
};

/// Changes the statements of a request for MariaDB, so that only the first write waits for a table
/// lock (FLUSH TABLES WITH READ LOCK, LOCK TABLES). If each write waited, the answer would come
/// after the time limit. On MySQL, a statement always waits for at least one second.
std::vector<std::string> with_one_wait(std::vector<std::string> all);

/// Statements that a function returns when they are needed. Store this object in a named variable
/// before a co_await, because g++ 12 generates wrong code for temporary objects there.
template <typename Make>
class composing final : public statements {
public:
    explicit composing(Make make)
        : make_{std::move(make)} {}
    std::vector<std::string> compose(const runtime::remote_clock& clock,
                                     const server_facts& facts) override {
        std::vector<std::string> all = make_(clock, facts);
        return facts.is_mariadb ? with_one_wait(std::move(all)) : all;
    }

private:
    Make make_;
};

/// Returns the answer to one statement. Throws `store_errc::protocol` if there is no such answer.
const result& answer_at(const answers&, std::size_t which);

/// Returns the number in a column of a row. Throws `store_errc::protocol` if the value is NULL,
/// missing or not a number.
std::int64_t number_at(const std::vector<std::optional<std::string>>& row, std::size_t column);
const std::string& text_at(const std::vector<std::optional<std::string>>& row, std::size_t column);

/// Returns the result of an attempt, from the insert id of its UPDATE, with the times of the
/// answer. If another transaction has locked the row, the result is "busy", and the remaining lease
/// is unknown. Throws `store_errc::wrong_type` if another kind of lock uses the name.
attempt attempt_in(const answers&, std::size_t update_at, lock_kind wanted);

/// Returns a granted attempt with the server's time from one of the answers. Also improves the
/// estimate of the server's clock.
attempt clock_in(const answers&, std::size_t which);

/// Returns whether the attempt found no row for the name.
bool found_no_row(const answers&, std::size_t update_at);

/// Transaction that consists of two writes. The first write locks and reads rows. Then the client
/// computes new values, and the second write stores them. Between the two writes, the server waits
/// at most three seconds for the client. So a frozen client does not block other clients for long.
class read_then_write {
public:
    /// Creates the transaction. `options` apply to both of its writes.
    explicit read_then_write(request_context& at, call_options options = {});

    /// Begins the transaction with the statements `reading`, and returns their answers. These
    /// statements may change only data that other requests do not use.
    asio::awaitable<answers> begin(std::vector<std::string> reading);

    /// Ends the transaction on the same connection. Calls `writing` to get the last statements,
    /// just before it sends them. There may be no such statements.
    using maker = std::function<std::vector<std::string>(const runtime::remote_clock&)>;
    asio::awaitable<answers> end(maker writing);

private:
    request_context& at_;
    const call_options options_;
    std::shared_ptr<pinned_connection> on_;
    std::string usual_idle_time_{}; // statement that restores the session's idle timeout
};

/// Throws `store_errc::no_permission` if the user lacks a privilege on the table of holds. Call
/// this function before an attempt that changes several tables: if the server refused only one of
/// the attempt's statements, it would commit the others. After the first success, further calls
/// send nothing.
asio::awaitable<void> refuse_missing_rights(request_context&);

/// Throws `store_errc::try_again` if the statement `update_at` of an attempt has waited for a lock
/// of a table or of all commits, and not of a row. (FLUSH TABLES WITH READ LOCK and LOCK TABLES
/// lock tables, BACKUP STAGE BLOCK_COMMIT locks all commits.) During such a lock, no attempt is
/// granted, and the holder of the holdfast lock is unknown.
asio::awaitable<void> refuse_locked_tables(request_context&, const answers&, std::size_t update_at);

} // namespace holdfast::mysql
