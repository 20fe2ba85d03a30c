// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

#include <cstdint>
#include <memory>

namespace holdfast::sync {

/// Fencing tokens that one grant reserves at most: those that nobody was given are skipped.
inline constexpr std::uint32_t tokens_reserved_max = 1000;

/// Where the loop looks for that call: the one thing in which what is wanted differs for it. A
/// place that takes something takes it for `owner`.
std::unique_ptr<place> line_up(acquisition&, owner_id owner);

} // namespace holdfast::sync
