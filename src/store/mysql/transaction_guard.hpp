// SPDX-License-Identifier: Apache-2.0
// The statement with which a user's own transaction makes sure that it commits only while the lock
// is held (`transaction_guard`, <holdfast/mysql/transaction_guard.hpp>).
#pragma once

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Returns the statement that `transaction_guard` sends for this owner's hold. The function does
/// not check whether the lease is valid.
std::string guard_text(const std::string& quoted_table, std::string_view name,
                       std::string_view owner);

} // namespace holdfast::mysql
