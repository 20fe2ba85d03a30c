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

/// Returns three SELECTs: the rows of these locks, their readers and waiters, and the counters with
/// these names.
std::vector<std::string> states_asked(const tables&, const std::vector<std::string>& names);

/// Returns the states from the three answers, in the order of the names. Locks that are free and
/// have no waiters are left out.
std::vector<lock_state> states_in(const std::vector<std::string>& names, const result& locks,
                                  const result& holds, const result& counters);

/// Returns the state of one lock as a `holding`. Empty: the lock is free.
std::optional<holding> holding_of(const lock_state&);

/// Returns a SELECT of the names of held locks that follow the name `behind`, in order.
std::string held_names(const tables&, const std::string& behind, std::size_t at_most);

/// Returns the condition that the lock has no holder, neither exclusive nor shared.
std::string lock_is_free(const tables&, const lock_name&);

} // namespace holdfast::mysql
