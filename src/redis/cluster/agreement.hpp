// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/cluster/slots_answer.hpp"

#include <cstddef>
#include <vector>

namespace holdfast::redis {

/// Whether of so many nodes that were `asked` more than half name the same primaries, and one for
/// each slot. What the others say elects nobody else then.
bool most_agree(std::vector<slot_ranges> answers, std::size_t asked);

} // namespace holdfast::redis
