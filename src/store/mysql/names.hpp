// SPDX-License-Identifier: Apache-2.0
// How tables, values and user locks are written in statements (docs/protocol/mysql.md).
#pragma once

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// The quoted names of the tables.
struct tables {
    /// All names begin with `first`, which is the name of the table of locks.
    explicit tables(std::string_view first);

    std::string locks; ///< a row for each lock: its exclusive holder, the expiry, its last token
    std::string holds; ///< a row for each reader, waiting writer, permit and waiter of a fair lock
    std::string counters; ///< a row for each semaphore and latch
    std::string requests; ///< recent changes of counters, with their outcomes
    std::string identity; ///< one row: the identity of these data
};

/// Returns the bytes as a hexadecimal literal such as `X'6162'`. It needs no escaping in any
/// character set or sql_mode.
std::string hex(std::string_view bytes);

/// Returns the name of the user lock that notifies a lock's waiters. It has 43 characters, which
/// every server allows. The schema is part of it, because user locks belong to the whole server.
std::string bell_of(std::string_view schema, std::string_view table, const lock_name&);

} // namespace holdfast::mysql
