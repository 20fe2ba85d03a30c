// SPDX-License-Identifier: Apache-2.0
// The statements about numbers: how many permits a semaphore has, and a latch's count.
#pragma once

#include "store/mysql/counter_effect.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/counters.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// A condition: that row of the table of counters is a counter that has not ended.
std::string living_counter();

/// Column `kind` of the table of counters.
std::string kind_number(counter_kind);

/// "name=… and kind=…".
std::string counter_row(const lock_name&, counter_kind);

/// The first half of a change, in a transaction: `mark` is written into the counter's row, which
/// locks it, and is read what is there, with the outcome of this request if it was carried out
/// before.
std::vector<std::string> change_begun(const tables&, const counter_change&,
                                      const std::string& mark);
inline constexpr std::size_t touched_at = 2, value_at = 3, outcome_at = 4, held_at = 5, time_at = 6,
                             kinds_at = 7;

/// The second half: the outcome is remembered for so long, unless it is late or the transaction of
/// the first half is gone, which its first statement says by having no row; and what it is about is
/// written.
std::vector<std::string> change_ended(const tables&, const counter_change&, const counter_effect&,
                                      const std::string& mark, const std::string& late,
                                      duration memory);

/// A row if the latch is closed.
std::string latch_look(const tables&, const lock_name&);
std::string latch_is_open(const tables&, const lock_name&); ///< a condition

/// Value, and how many permits are held; no row: there is none.
std::string counter_inspected(const tables&, const lock_name&, counter_kind);

/// The same with its name in front, of those behind that name.
std::string counters_listed(const tables&, counter_kind, const std::string& behind,
                            std::size_t at_most);

} // namespace holdfast::mysql
