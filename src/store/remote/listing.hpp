// SPDX-License-Identifier: Apache-2.0
// Rules for `client::list()`. All stores apply the same rules.
#pragma once

#include <holdfast/counters.hpp>

#include <string_view>

namespace holdfast::remote {

/// Returns whether the name matches the glob pattern, by the rules of Redis. The function `fnmatch`
/// is not used, because its rules differ and depend on the locale of the program.
bool matches(std::string_view pattern, std::string_view name) noexcept;

/// Returns whether a list of counters of that kind contains a counter with this state. The list of
/// leased semaphores contains only semaphores of which a permit is held.
bool is_listed(counter_kind, const counter_state&) noexcept;

} // namespace holdfast::remote
