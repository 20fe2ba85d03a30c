// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

#include <cstdint>
#include <memory>

namespace holdfast::sync {

/// Maximal number of fencing tokens that one grant reserves. Reserved tokens that no owner gets are
/// skipped.
inline constexpr std::uint32_t tokens_reserved_max = 1000;

/// Makes the waiter (`place`) that the acquisition loop asks again and again for this call. What
/// the waiter takes, it takes for `owner`. The kinds of calls differ only in this waiter.
std::unique_ptr<place> line_up(acquisition&, owner_id owner);

} // namespace holdfast::sync
