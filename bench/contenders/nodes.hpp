// SPDX-License-Identifier: Apache-2.0
// The servers of a quorum: the one whose books are read after each turn, and others beside it.
#pragma once

#include "bench/contenders/arena.hpp"

#include <vector>

namespace holdfast::bench {

/// So many, all living.
std::vector<const server*> nodes(const arena&, int count);

/// Waits until no key is left on those beside the first, whose books say it. Throws if some stay.
void expect_no_keys(const std::vector<const server*>&, transport);

} // namespace holdfast::bench
