// SPDX-License-Identifier: Apache-2.0
// The loop of both blocking contenders, so that only what is called in it differs.
#pragma once

#include "bench/contender.hpp"

#include <functional>

namespace holdfast::bench {

/// Starts that many threads together; each calls `pair` with its number until `length` is over.
tally in_threads(int threads, nanoseconds length, const std::function<void(int)>& pair);

} // namespace holdfast::bench
