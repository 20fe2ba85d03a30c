// SPDX-License-Identifier: Apache-2.0
// Rules of `client::list()` that all stores share.
#pragma once

#include <holdfast/counters.hpp>

#include <string_view>

namespace holdfast::remote {

/// Returns whether the name matches the glob pattern, by the rules of Redis. Does not use
/// fnmatch(), whose rules differ and depend on the locale of the program.
bool matches(std::string_view pattern, std::string_view name) noexcept;

/// Returns whether a list of counters of this kind contains a counter with this state. A list of
/// leased semaphores contains only semaphores with held permits.
bool is_listed(counter_kind, const counter_state&) noexcept;

} // namespace holdfast::remote
