// SPDX-License-Identifier: Apache-2.0
// How tables, values and user locks are written in statements (docs/protocol/mysql.md).
#pragma once

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Names of the tables, with quotes.
struct tables {
    /// All table names begin with `first`. `first` itself is the name of the table of locks.
    explicit tables(std::string_view first);

    std::string locks; ///< one row for each lock: exclusive holder, expiry, last token
    /// one row for each reader, waiting writer, permit, and waiter of a fair lock
    std::string holds;
    std::string counters; ///< one row for each semaphore and latch
    std::string requests; ///< recent changes of counters, with their outcomes
    std::string identity; ///< one row: the identity of the data in this schema
};

/// Returns the bytes as a hexadecimal literal such as `X'6162'`. The literal needs no escaping in
/// any character set or sql_mode.
std::string hex(std::string_view bytes);

/// Returns the name of the user lock that notifies the lock's waiters. The name has 43 characters,
/// which every server allows. It depends on the schema, because all schemas of a server share its
/// user locks.
std::string bell_of(std::string_view schema, std::string_view table, const lock_name&);

} // namespace holdfast::mysql
