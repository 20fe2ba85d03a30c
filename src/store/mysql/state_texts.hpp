// SPDX-License-Identifier: Apache-2.0
// SQL for operators: who holds a lock, and which locks are held.
#pragma once

#include "mysql/database.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// Returns three SELECTs for these names: the rows of the locks, the readers and waiters, and the
/// counters.
std::vector<std::string> states_asked(const tables&, const std::vector<std::string>& names);

/// Returns the states from the three answers, in the order of the names. Omits locks that are free
/// and have no waiters.
std::vector<lock_state> states_in(const std::vector<std::string>& names, const result& locks,
                                  const result& holds, const result& counters);

/// Returns the state of one lock as a `holding`. Returns an empty result if the lock is free.
std::optional<holding> holding_of(const lock_state&);

/// Returns a SELECT of the names of held locks in ascending order, starting after the name
/// `behind`.
std::string held_names(const tables&, const std::string& behind, std::size_t at_most);

/// Returns the condition that the lock has neither an exclusive holder nor readers.
std::string lock_is_free(const tables&, const lock_name&);

} // namespace holdfast::mysql
