// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

#include <cstdint>
#include <memory>

namespace holdfast::sync {

/// Maximal number of fencing tokens that one grant reserves. Reserved tokens that no owner gets are
/// skipped.
inline constexpr std::uint32_t tokens_reserved_max = 1000;

/// Makes the waiter (`place`) that the acquisition loop asks for this call. Only here the kinds of
/// calls differ. If the call takes something, the waiter takes it for `owner`.
std::unique_ptr<place> line_up(acquisition&, owner_id owner);

} // namespace holdfast::sync
