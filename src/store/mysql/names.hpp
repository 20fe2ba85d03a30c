// SPDX-License-Identifier: Apache-2.0
// How tables, values and user locks are written in statements (docs/protocol/mysql.md).
#pragma once

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// The names of the tables, quoted.
struct tables {
    /// All begin with the name of the first.
    explicit tables(std::string_view first);

    std::string locks;    ///< a row for each lock: who has it alone, until when, its last token
    std::string holds;    ///< a row for each reader, waiting writer and permit
    std::string counters; ///< a row for each semaphore and latch
    std::string requests; ///< what changed a counter lately, and with which outcome
    std::string identity; ///< one row: which data these are
};

/// Bytes as a literal that needs no escaping, whatever the character set or sql_mode: `X'6162'`.
std::string hex(std::string_view bytes);

/// The user lock that is the bell of a lock: 43 characters that every server allows. The schema is
/// in it, since user locks are the server's.
std::string bell_of(std::string_view schema, std::string_view table, const lock_name&);

} // namespace holdfast::mysql
