// SPDX-License-Identifier: Apache-2.0
// SQL statements about counters: the total of a semaphore's permits, and a latch's count.
#pragma once

#include "store/mysql/counter_effect.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// Returns the condition that a row of the table of counters is a counter that has not expired.
std::string living_counter();

/// Returns the value of column `kind` of the table of counters.
std::string kind_number(counter_kind);

/// Returns the condition for one counter's row: "name=… AND kind=…".
std::string counter_row(const lock_name&, counter_kind);

/// Returns the statements of the first half of a change; a transaction is already open. They write
/// `mark` into the counter's row, which locks the row. Then they read the counter. They also read
/// the stored outcome if the server has carried out this request before.
std::vector<std::string> change_begun(const tables&, const counter_change&,
                                      const std::string& mark);
inline constexpr std::size_t touched_at = 2, value_at = 3, outcome_at = 4, held_at = 5, time_at = 6,
                             kinds_at = 7;

/// Returns the statements of the second half of a change. The first statement stores the outcome,
/// which is kept for `memory`. It inserts no row if the server runs it too late, or if the
/// transaction of the first half has ended. The other statements write the change only if that row
/// exists.
std::vector<std::string> change_ended(const tables&, const counter_change&, const counter_effect&,
                                      const std::string& mark, const std::string& late,
                                      duration memory);

/// Returns a SELECT that yields a row if the latch is closed.
std::string latch_look(const tables&, const lock_name&);
/// Returns the condition that the latch is open.
std::string latch_is_open(const tables&, const lock_name&);

/// Returns a SELECT of the counter's value and its number of held permits. The SELECT yields no row
/// if the counter does not exist.
std::string counter_inspected(const tables&, const lock_name&, counter_kind);

/// Returns a SELECT of counter names in ascending order, starting after the name `behind`.
std::string counters_listed(const tables&, counter_kind, const std::string& behind,
                            std::size_t at_most);

} // namespace holdfast::mysql
