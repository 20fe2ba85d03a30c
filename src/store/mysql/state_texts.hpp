// SPDX-License-Identifier: Apache-2.0
// What operators ask: who holds a lock, which are held.
#pragma once

#include "mysql/database.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/inspection.hpp>
#include <holdfast/store.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// Two SELECTs: the rows of these locks, and who reads them or waits to write.
std::vector<std::string> states_asked(const tables&, const std::vector<std::string>& names);

/// What they answer, in the order of the names, without those that are free and awaited by nobody.
std::vector<lock_state> states_in(const std::vector<std::string>& names, const result& locks,
                                  const result& holds, const result& counters);

/// The same of one lock, held by somebody; else nothing.
std::optional<holding> holding_of(const lock_state&);

/// Names of held locks behind that one, in their order.
std::string held_names(const tables&, const std::string& behind, std::size_t at_most);

/// A condition: nobody has it, alone or shared.
std::string lock_is_free(const tables&, const lock_name&);

} // namespace holdfast::mysql
