// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

#include <cstdint>
#include <memory>

namespace holdfast::sync {

/// Maximal number of fencing tokens that one grant reserves. Reserved tokens that are not used are
/// skipped.
inline constexpr std::uint32_t tokens_reserved_max = 1000;

/// Creates the waiter (`place`) of this call. The acquisition loop asks this waiter repeatedly. A
/// grant belongs to `owner`. Calls for different kinds of locks and counters differ only in their
/// waiter.
std::unique_ptr<place> line_up(acquisition&, owner_id owner);

} // namespace holdfast::sync
